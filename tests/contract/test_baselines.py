"""What every store promises of the names of runs that it keeps."""

from __future__ import annotations

from typing import cast

import pytest
from places import Place, a_result, a_run, synchronous

from liftbay.errors import StoreError
from liftbay.ports import RunStore
from liftbay.stores.answers import Store


def named(store: RunStore) -> Store:
    """The store with its names of runs."""
    return cast(Store, store)


@synchronous
async def test_a_name_means_the_run_it_was_set_to_last(place: Place) -> None:
    async with place.open() as store:
        for run_id in ("run-1", "run-2"):
            await store.add_run(a_run(run_id))
        names = named(store)
        assert await names.baseline("本番") is None
        for run_id in ("run-1", "run-2"):
            await names.set_baseline("本番", run_id)
            assert await names.baseline("本番") == run_id
        assert await names.baselines() == [("本番", "run-2")]


@synchronous
async def test_names_are_listed_in_their_order(place: Place) -> None:
    async with place.open() as store:
        await store.add_run(a_run())
        for name in ("main", "Zebra", "v1 'x'", "本番"):
            await named(store).set_baseline(name, "run-1")
        assert [name for name, _ in await named(store).baselines()] == ["Zebra", "main", "v1 'x'", "本番"]


@synchronous
async def test_a_name_that_is_removed_leaves_the_run(place: Place) -> None:
    async with place.open() as store:
        await store.add_run(a_run())
        await named(store).set_baseline("main", "run-1")
        assert await named(store).remove_baseline("main")
        assert not await named(store).remove_baseline("main")
        assert await named(store).baselines() == []
        assert await store.run("run-1") == a_run()


@synchronous
async def test_a_run_that_is_removed_takes_its_names_along(place: Place) -> None:
    async with place.open() as store:
        for run_id in ("run-1", "run-2"):
            await store.add_run(a_run(run_id))
            await store.add_results(run_id, [a_result(1)])
        for name, run_id in (("a", "run-1"), ("b", "run-2"), ("c", "run-1")):
            await named(store).set_baseline(name, run_id)
        await store.remove_run("run-1")
        assert await named(store).baselines() == [("b", "run-2")]


@synchronous
async def test_a_name_cannot_mean_a_run_that_is_not_there(place: Place) -> None:
    async with place.open() as store:
        await store.add_run(a_run())
        await named(store).set_baseline("main", "run-1")
        with pytest.raises(StoreError, match="no such run"):
            await named(store).set_baseline("main", "run-9")
        assert await named(store).baseline("main") == "run-1"


@synchronous
async def test_names_outlive_the_connection(durable: Place) -> None:
    async with durable.open() as store:
        await store.add_run(a_run())
        await named(store).set_baseline("main", "run-1")
    async with durable.open() as store:
        assert await named(store).baseline("main") == "run-1"
