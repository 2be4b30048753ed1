"""When the writer commits, how it holds back, and what it says when the store fails."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest
from places import a_result, a_run, synchronous

from liftbay.domain.result import CaseResult
from liftbay.errors import StoreError
from liftbay.stores import writer
from liftbay.stores.memory import MemoryStore
from liftbay.stores.writer import ResultWriter


class SlowStore(MemoryStore):
    """Remembers the sizes of commits, takes its time, and fails at the commit of a number."""

    def __init__(self, *, seconds: float = 0.0, fails_at: int | None = None) -> None:
        super().__init__()
        self.commits: list[int] = []
        self.under_way = 0
        self._seconds = seconds
        self._fails_at = fails_at

    async def add_results(self, run_id: str, results: Iterable[CaseResult]) -> None:
        """Keep results."""
        batch = list(results)
        self.under_way += 1
        assert self.under_way == 1
        await asyncio.sleep(self._seconds)
        self.under_way -= 1
        if len(self.commits) == self._fails_at:
            raise StoreError("the store cannot grow: the disk is full")
        self.commits.append(len(batch))
        await super().add_results(run_id, batch)


async def a_writer(store: SlowStore, seconds: float = 0.2) -> ResultWriter[CaseResult]:
    await store.add_run(a_run())
    return ResultWriter(store, "run-1", list, seconds=seconds)


@synchronous
async def test_full_batches_are_committed_at_once() -> None:
    store = SlowStore()
    writing = await a_writer(store, seconds=60)
    for n in range(600):
        await writing.add(a_result(n))
    await asyncio.sleep(0.01)
    assert store.commits == [256, 256]
    await writing.close()
    assert store.commits == [256, 256, 88]
    assert len(await store.done("run-1")) == 600


@synchronous
async def test_a_few_results_are_committed_after_the_time() -> None:
    store = SlowStore()
    writing = await a_writer(store, seconds=0.05)
    await writing.add(a_result(1))
    await asyncio.sleep(0.02)
    await writing.add(a_result(2))
    assert store.commits == []
    await asyncio.sleep(0.05)
    assert store.commits == [2]
    await writing.add(a_result(3))
    await asyncio.sleep(0.07)
    assert store.commits == [2, 1]
    await writing.close()
    assert store.commits == [2, 1]


@synchronous
async def test_results_that_come_during_a_commit_are_committed_in_time() -> None:
    store = SlowStore(seconds=0.1)
    writing = await a_writer(store, seconds=0.02)
    await writing.add(a_result(1))
    await asyncio.sleep(0.05)
    await writing.add(a_result(2))
    await asyncio.sleep(0.2)
    assert store.commits == [1, 1]
    await writing.close()


@synchronous
async def test_a_slow_store_holds_back_those_who_add() -> None:
    store = SlowStore(seconds=0.05)
    writing = await a_writer(store)
    added = 0

    async def add(first: int) -> None:
        nonlocal added
        for n in range(first, first + 200):
            await writing.add(a_result(n))
            added += 1

    adding = asyncio.gather(*(add(first) for first in range(0, 2000, 200)))
    while not adding.done():
        assert added - sum(store.commits) <= 2 * 256 + 10
        await asyncio.sleep(0.002)
    await writing.close()
    assert sum(store.commits) == 2000
    assert len(store.commits) <= 9


@synchronous
async def test_large_answers_are_committed_in_small_batches() -> None:
    store = SlowStore()
    writing = await a_writer(store, seconds=60)
    for n in range(8):
        await writing.add(a_result(n, answer="あ" * (writer.CHARACTERS // 2)))
    await writing.close()
    assert store.commits == [2, 2, 2, 2]


@synchronous
async def test_an_error_of_the_store_comes_out_and_what_was_committed_stays() -> None:
    store = SlowStore(fails_at=1)
    writing = await a_writer(store, seconds=60)
    for n in range(512):
        await writing.add(a_result(n))
    await asyncio.sleep(0.01)
    with pytest.raises(StoreError, match="disk is full"):
        await writing.add(a_result(0))
    with pytest.raises(StoreError, match="disk is full"):
        await writing.close()
    assert store.commits == [256]
    assert len(await store.done("run-1")) == 256


@synchronous
async def test_an_error_of_the_last_commit_comes_out_of_close() -> None:
    writing = await a_writer(SlowStore(fails_at=0))
    await writing.add(a_result(1))
    with pytest.raises(StoreError, match="disk is full"):
        await writing.close()


@synchronous
async def test_nothing_to_write() -> None:
    store = SlowStore()
    writing = await a_writer(store)
    await writing.close()
    assert store.commits == []
