"""The least that a client can do: aiohttp sends the same requests as liftbay and reads the answers, nothing else.

It keeps no file, has no time limit, does not look at the answers and asks nothing twice. What `generate.py`
compares with.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import aiohttp
import msgspec
import uvloop

import liftbay

KEY = "dummy"
HEADERS = {
    "Authorization": f"Bearer {KEY}",
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": f"liftbay/{liftbay.__version__}",
}


class Record(msgspec.Struct):
    """What is needed of a line of the input; `question` stays text."""

    question: msgspec.Raw


def bodies(inputs: Path, tools: Path, model: str, limit: int) -> Iterator[bytes]:
    """The body of each request."""
    rest = {"model": model, "tools": msgspec.json.decode(tools.read_bytes()), "tool_choice": "auto"}
    end = b"," + msgspec.json.encode(rest).removeprefix(b"{")
    decoder = msgspec.json.Decoder(Record)
    with inputs.open("rb") as lines:
        for line in islice(lines, limit):
            yield b"".join((b'{"messages":', decoder.decode(line).question, end))


async def ask(url: str, pending: Iterator[bytes], concurrency: int) -> None:
    """Send every body, `concurrency` at once."""
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=concurrency),
        timeout=aiohttp.ClientTimeout(total=None),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=HEADERS,
    ) as session:

        async def work() -> None:
            for body in pending:
                async with session.post(url, data=body) as response:
                    await response.read()

        async with asyncio.TaskGroup() as workers:
            for _ in range(concurrency):
                workers.create_task(work())


def main() -> None:
    """Ask for the first records of the input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--limit", type=int, required=True)
    parser.add_argument("--concurrency", type=int, required=True)
    options = parser.parse_args()
    pending = bodies(options.input, options.tools, options.model, options.limit)
    uvloop.run(ask(f"{options.base_url}/chat/completions", pending, options.concurrency))


if __name__ == "__main__":
    main()
