"""Use a store from a process of its own: `python store_process.py URL FIRST COUNT [LIMIT]`.

Adds results to run-1 in commits of 5 and says after each how many are committed; with LIMIT no file may grow beyond
so many bytes.
"""

from __future__ import annotations

import asyncio
import resource
import sys

from places import a_result

from liftbay.errors import StoreError
from liftbay.stores.open import open_store


async def main(url: str, first: int, count: int) -> None:
    """Add results."""
    store = await open_store(url)
    try:
        for start in range(first, first + count, 5):
            await store.add_results("run-1", [a_result(n) for n in range(start, start + 5)])
            print(start + 5 - first, flush=True)
    except StoreError as error:
        print(error, flush=True)
    finally:
        await store.close()


if __name__ == "__main__":
    if len(sys.argv) > 4:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]), int(sys.argv[4])))
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
