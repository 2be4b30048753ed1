"""Rows a second and CPU a row of the store, and how fast a page and a case come out of a run of 30,000.

`python bench/store.py [ROWS]` measures SQLite and PostgreSQL (one of its own, if there is one to start; it makes every
commit durable, as SQLite does). CPU is that of this process, without the PostgreSQL server's. The last line is JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "contract"))

import asyncpg
from places import a_result, a_run
from postgres_server import serving

from liftbay.domain.result import CaseResult
from liftbay.ports import RunStore
from liftbay.stores.open import open_store
from liftbay.stores.writer import ResultWriter

LATENCY_TRIES = 200


def results(count: int, first: int = 0) -> Iterator[CaseResult]:
    """Results of 1 KB, one at a time."""
    return map(a_result, range(first, first + count))


def peak() -> float:
    """The most memory that this process had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def write(store: RunStore, run: str, count: int) -> dict[str, float]:
    """Write through the writer; making the results is not counted."""
    await store.add_run(a_run(run))
    writer = ResultWriter(store, run, list)
    wall = cpu = 0.0
    for first in range(0, count, 1000):
        made = list(results(min(1000, count - first), first))
        before, before_cpu = time.perf_counter(), time.process_time()
        for result in made:
            await writer.add(result)
        wall, cpu = wall + time.perf_counter() - before, cpu + time.process_time() - before_cpu
    before, before_cpu = time.perf_counter(), time.process_time()
    await writer.close()
    wall, cpu = wall + time.perf_counter() - before, cpu + time.process_time() - before_cpu
    return {"rowsPerSecond": round(count / wall), "cpuMicrosecondsPerRow": round(cpu / count * 1e6, 1)}


async def latency(ask: Callable[[int], Awaitable[Any]]) -> dict[str, float]:
    """Median and worst of many tries, in milliseconds."""
    times = []
    for number in range(LATENCY_TRIES):
        before = time.perf_counter()
        assert await ask(number)
        times.append((time.perf_counter() - before) * 1000)
    return {"p50": round(statistics.median(times), 2), "max": round(max(times), 2)}


async def measure(url: str, count: int) -> dict[str, Any]:
    """All figures of one engine."""
    store = await open_store(url)
    found: dict[str, Any] = await write(store, "first", count)
    after_first = peak()
    again = [await write(store, f"run-{n}", count) for n in range(3)]
    found = max([found, *again], key=lambda figures: figures["rowsPerSecond"])
    found["peakMiBAfterOneRun"], found["peakMiBAfterFour"] = round(after_first), round(peak())
    step = count // LATENCY_TRIES
    found["pageMs"] = await latency(lambda n: store.page("run-1", limit=50, offset=n * step))
    found["caseMs"] = await latency(lambda n: store.result("run-1", "TOOL_CALL", f"case-{n * step:06}", 1))
    before = time.perf_counter()
    assert sum([1 async for _ in store.results("run-1")]) == count
    found["streamedPerSecond"] = round(count / (time.perf_counter() - before))
    before = time.perf_counter()
    assert len(await store.done("run-1")) == count
    found["doneMs"] = round((time.perf_counter() - before) * 1000, 1)
    await store.close()
    return found


async def version(url: str) -> str:
    """What the server says that it is."""
    connection = await asyncpg.connect(url)
    try:
        return str(await connection.fetchval("SHOW server_version"))
    finally:
        await connection.close()


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000
    machine = {
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "asyncpg": asyncpg.__version__,
    }
    figures: dict[str, Any] = {"rows": count}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "liftbay.db"
        figures["sqlite"] = asyncio.run(measure(f"sqlite:///{path}", count))
        figures["sqlite"]["bytesPerRow"] = round(path.stat().st_size / count / 4)
    with serving() as server:
        if server is not None:
            machine["postgres"] = asyncio.run(version(server.url()))
            figures["postgres"] = asyncio.run(measure(server.url(), count))
    for engine in ("sqlite", "postgres"):
        for name, value in figures.get(engine, {}).items():
            print(f"{engine:9} {name:22} {value}")
    print(json.dumps({"bench": "store", **machine, **figures}))


if __name__ == "__main__":
    main()
