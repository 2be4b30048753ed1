"""What every store promises of the answers of judges that it keeps."""

from __future__ import annotations

import asyncio
from typing import cast

from places import Place, a_result, a_run, synchronous

from liftbay.ports import RunStore
from liftbay.stores.answers import Store

ODD = '{"reasoning":"合格 \U0001f6e0 \\u0000 \\"x\\"\\n' + "長い" * 5000 + '"}'


def kept(store: RunStore) -> Store:
    """The store with its answers."""
    return cast(Store, store)


@synchronous
async def test_an_answer_is_found_by_its_key_alone(place: Place) -> None:
    async with place.open() as store:
        answers = kept(store)
        assert await answers.cached("a") is None
        await answers.keep("a", ODD)
        assert await answers.cached("a") == ODD
        assert await answers.cached("A") is None


@synchronous
async def test_what_is_kept_stays(place: Place) -> None:
    async with place.open() as store:
        answers = kept(store)
        await answers.keep("a", "first")
        await answers.keep("a", "second")
        assert await answers.cached("a") == "first"


@synchronous
async def test_answers_outlive_runs_and_connections(durable: Place) -> None:
    async with durable.open() as store:
        await store.add_run(a_run())
        await store.add_results("run-1", [a_result(1)])
        await kept(store).keep("a", "1")
        await store.remove_run("run-1")
    async with durable.open() as store:
        assert await kept(store).cached("a") == "1"


@synchronous
async def test_all_are_listed_in_the_order_of_their_keys(place: Place) -> None:
    async with place.open() as store:
        answers = kept(store)
        keys = [f"{number * 7919 % 700:03x}" for number in range(700)]
        assert await answers.keep_all((key, f"answer {key}") for key in keys) == 700
        assert [pair async for pair in answers.answers()] == [(key, f"answer {key}") for key in sorted(keys)]


@synchronous
async def test_only_new_ones_are_counted(place: Place) -> None:
    async with place.open() as store:
        answers = kept(store)
        assert await answers.keep_all([]) == 0
        await answers.keep("a", "first")
        assert await answers.keep_all([("a", "other"), ("b", "2"), ("c", "3")]) == 2
        assert await answers.keep_all([("a", "other"), ("b", "2")]) == 0
        assert [pair async for pair in answers.answers()] == [("a", "first"), ("b", "2"), ("c", "3")]


@synchronous
async def test_many_at_once(place: Place) -> None:
    async with place.open() as store:
        answers = kept(store)
        await asyncio.gather(*(answers.keep(f"{number % 20:02}", str(number % 20)) for number in range(100)))
        assert [pair async for pair in answers.answers()] == [(f"{n:02}", str(n)) for n in range(20)]
