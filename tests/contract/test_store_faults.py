"""Stores that are locked, full, gone, damaged or not ours; processes that are killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from places import Place, a_result, a_run, synchronous
from postgres_server import PASSWORD, Server, serving

from liftbay.errors import InputError, LiftbayError, StoreError
from liftbay.stores.open import open_store
from liftbay.stores.sqlite import SqliteStore

PROCESS = Path(__file__).with_name("store_process.py")


def start(place: Place, first: int, count: int, *limit: int) -> subprocess.Popen[str]:
    """Start a process that adds results."""
    paths = [str(PROCESS.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, PROCESS, str(place.url), str(first), str(count), *map(str, limit)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )


@synchronous
async def test_two_processes_write_one_run(durable: Place) -> None:
    async with durable.open() as store:
        await store.add_run(a_run())
    processes = [start(durable, first, 300) for first in (0, 150)]
    for process in processes:
        output, _ = process.communicate(timeout=60)
        assert output.splitlines()[-1] == "300"
    async with durable.open() as store:
        page = await store.page("run-1", limit=1000)
        assert page.total == len(page.rows) == len({row.case_id for row in page.rows}) == 450


@synchronous
async def test_new_processes_open_a_new_store_at_once(durable: Place) -> None:
    processes = [start(durable, 0, 5) for _ in range(4)]
    assert {process.communicate(timeout=60)[0] for process in processes} == {"the store has no such run\n"}


@pytest.mark.parametrize("commits", [1, 7, 23])
@synchronous
async def test_kill_loses_only_what_was_not_committed(durable: Place, commits: int) -> None:
    async with durable.open() as store:
        await store.add_run(a_run())
    process = start(durable, 0, 100_000)
    assert process.stdout is not None
    for _ in range(commits):
        said = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.wait()
    said = max([said, *map(int, process.stdout.read().split())])
    process.stdout.close()
    async with durable.open() as store:
        done = await store.done("run-1")
        assert len(done) in {said, said + 5}
        assert [result async for result in store.results("run-1")] == list(map(a_result, range(len(done))))
        assert (await store.page("run-1")).total == len(done)
        await store.add_results("run-1", map(a_result, range(len(done) + 10)))
        assert (await store.page("run-1")).total == len(done) + 10


@synchronous
async def test_a_locked_file(tmp_path: Path) -> None:
    path = tmp_path / "liftbay.db"
    store = SqliteStore(path, busy_timeout=0.1)
    await store.open()
    await store.add_run(a_run())
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1

    beating = asyncio.create_task(beat())
    with pytest.raises(StoreError, match="locked by another process") as caught:
        await store.add_results("run-1", [a_result(1)])
    beating.cancel()
    assert beats >= 5, "the event loop was held up"
    assert caught.value.place == str(path)
    assert await store.run("run-1") == a_run(), "reading goes on"
    other.execute("ROLLBACK")
    await store.add_results("run-1", [a_result(1)])
    assert len(await store.done("run-1")) == 1
    other.close()
    await store.close()


@synchronous
async def test_a_full_disk(tmp_path: Path) -> None:
    place = Place(f"sqlite:///{tmp_path / 'liftbay.db'}")
    async with place.open() as store:
        await store.add_run(a_run())
    process = start(place, 0, 100_000, 400_000)
    output, _ = process.communicate(timeout=60)
    *counts, said = output.splitlines()
    assert "cannot be read or written" in said or "disk is full" in said
    async with place.open() as store:
        assert len(await store.done("run-1")) == int(counts[-1])
        await store.add_results("run-1", map(a_result, range(100_000, 100_100)))


@synchronous
async def test_a_full_database_says_so(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "liftbay.db")
    await store.open()
    await store.add_run(a_run())
    await store._writer.do(lambda connection: connection.execute("PRAGMA max_page_count = 30"))
    with pytest.raises(StoreError, match="the disk is full"):
        await store.add_results("run-1", map(a_result, range(1000)))
    assert await store.done("run-1") == set()
    await store.add_results("run-1", [a_result(1)])
    await store.close()


@pytest.mark.parametrize(
    ("content", "cause"),
    [(b"this is a text, and long enough to be taken for one" * 50, "not an SQLite file"), (None, "cannot be opened")],
)
@synchronous
async def test_what_is_no_store(tmp_path: Path, content: bytes | None, cause: str) -> None:
    path = tmp_path / "liftbay.db"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(StoreError, match=cause):
        await open_store(f"sqlite:///{path}")


@synchronous
async def test_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "liftbay.db"
    async with Place(f"sqlite:///{path}").open() as store:
        await store.add_run(a_run())
        await store.add_results("run-1", map(a_result, range(500)))
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        async with Place(f"sqlite:///{path}").open() as store:
            await store.done("run-1")


@synchronous
async def test_the_database_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE runs (mine)")
    other.close()
    with pytest.raises(StoreError, match="another program"):
        await open_store(f"sqlite:///{path}")


@synchronous
async def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be opened"):
        await open_store(f"sqlite:///{tmp_path}/file/liftbay.db")


def test_a_missing_file_is_not_made_for_reading(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no store"):
        asyncio.run(open_store(f"sqlite:///{tmp_path}/liftbay.db", create=False))
    assert list(tmp_path.iterdir()) == []


def said(error: LiftbayError) -> str:
    """All that an error can show."""
    return f"{error} {error.place} {error.remedy} {error.values} {error.__cause__!r}"


@pytest.mark.parametrize(
    ("url", "cause"),
    [
        ("postgresql://liftbay:sesame@127.0.0.1:1/runs", "cannot be reached"),
        ("postgresql://liftbay:sesame@no-such-host.invalid/runs", "cannot be reached"),
        ("postgresql://liftbay:ses@me/x@127.0.0.1/runs", "cannot be reached"),
        ("postgresql://liftbay:sesame@127.0.0.1:port/runs", "not the address"),
        ("mysql://liftbay:sesame@127.0.0.1/runs", "not the address"),
        ("sesame", "not the address"),
        ("sqlite:///", "not the address"),
    ],
)
@synchronous
async def test_an_address_that_leads_nowhere(url: str, cause: str) -> None:
    with pytest.raises(LiftbayError, match=cause) as caught:
        await open_store(url)
    assert "sesame" not in said(caught.value)
    assert "ses@me" not in said(caught.value)


@synchronous
async def test_a_wrong_password_and_a_missing_database(postgres: Server) -> None:
    for url in (postgres.url(password="sesame"), postgres.url("no_such_database")):
        with pytest.raises(StoreError, match="lets nobody in") as caught:
            await open_store(url)
        assert "sesame" not in said(caught.value)
        assert PASSWORD not in said(caught.value)


@synchronous
async def test_a_server_that_goes_away() -> None:
    with serving("fsync=off") as server:
        if server is None:
            pytest.skip("no PostgreSQL is here")
        store = await open_store(server.url())
        await store.add_run(a_run())
        await store.add_results("run-1", [a_result(1)])
        server.stop()
        with pytest.raises(StoreError, match="cannot be reached"):
            await store.add_results("run-1", [a_result(2)])
        server.start("fsync=off")
        await store.add_results("run-1", [a_result(3)])
        assert len(await store.done("run-1")) == 2
        server.stop()
        before = time.monotonic()
        await store.close()
        assert time.monotonic() - before < 10
