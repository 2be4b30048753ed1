"""What every RunStore promises, over each of them."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from places import Place, a_result, a_run, synchronous

from liftbay.domain.result import CaseResult, Outcome, RunState
from liftbay.domain.spans import Span
from liftbay.domain.vocabulary import DatasetType
from liftbay.errors import StoreError
from liftbay.ports import RunStore


@synchronous
async def test_a_run_is_kept_and_changed(place: Place) -> None:
    async with place.open() as store:
        assert await store.run("run-1") is None
        await store.add_run(a_run())
        assert await store.run("run-1") == a_run()
        changed = a_run(state=RunState.FAILED, error="エージェントが応答しません \U0001f6e0 {not a field} \x00")
        await store.update_run(changed)
        assert await store.run("run-1") == changed


@synchronous
async def test_runs_are_listed_newest_first(place: Place) -> None:
    async with place.open() as store:
        for name, day in (("b", 2), ("a", 1), ("d", 3), ("e", 3)):
            await store.add_run(a_run(name, f"2026-11-{day:02}T00:00:00Z"))
        assert [run.id for run in await store.runs()] == ["e", "d", "b", "a"]
        assert [run.id for run in await store.runs(limit=2, offset=1)] == ["d", "b"]


@synchronous
async def test_a_run_id_is_taken_once(place: Place) -> None:
    async with place.open() as store:
        await store.add_run(a_run())
        with pytest.raises(StoreError, match="already"):
            await store.add_run(a_run(state=RunState.FAILED))
        assert await store.run("run-1") == a_run()


@synchronous
async def test_a_run_that_is_not_there(place: Place) -> None:
    async with place.open() as store:
        with pytest.raises(StoreError, match="no such run"):
            await store.update_run(a_run())
        with pytest.raises(StoreError, match="no such run"):
            await store.add_results("run-1", [a_result(1)])
        assert await store.done("run-1") == set()
        assert (await store.page("run-1")).total == 0
        assert [result async for result in store.results("run-1")] == []
        assert await store.result("run-1", "TOOL_CALL", "case-000001", 1) is None
        assert not await store.remove_run("run-1")


@synchronous
async def test_removing_a_run_takes_its_results_and_no_others(place: Place) -> None:
    async with place.open() as store:
        for name in ("a", "b"):
            await store.add_run(a_run(name))
            await store.add_results(name, [a_result(1), a_result(2)])
        assert await store.remove_run("a")
        assert await store.run("a") is None
        assert await store.done("a") == set()
        assert len(await store.done("b")) == 2
        await store.add_run(a_run("a"))
        assert await store.done("a") == set()


@synchronous
async def test_results_stream_in_the_order_of_the_key(place: Place) -> None:
    results = [
        a_result(n, kind=kind, trial=trial)
        for n in (3, 1, 400, 2)
        for kind in (DatasetType.TOOL_CALL, DatasetType.BASIC_FUNCTION)
        for trial in (2, 1, 10)
    ]
    results += [a_result(0, case_id=case_id) for case_id in ("Z", "a", "é", "日本", "\U0001f6e0", "a b", "a-b")]
    async with place.open() as store:
        await store.add_run(a_run())
        await store.add_results("run-1", results)
        assert [result async for result in store.results("run-1")] == sorted(results, key=lambda r: r.key)
        assert await store.done("run-1") == {result.key for result in results}


@synchronous
async def test_streaming_goes_over_many_chunks(place: Place) -> None:
    async with place.open() as store:
        await store.add_run(a_run())
        await store.add_results("run-1", map(a_result, range(600)))
        assert [result.case.id async for result in store.results("run-1")] == [f"case-{n:06}" for n in range(600)]


@synchronous
async def test_pages_are_in_the_order_of_finishing(place: Place) -> None:
    order = [5, 3, 9, 1, 7]
    async with place.open() as store:
        await store.add_run(a_run())
        for n in order:
            await store.add_results("run-1", [a_result(n, outcome=Outcome.FAILED if n > 5 else Outcome.PASSED)])
        page = await store.page("run-1")
        assert page.total == 5
        assert [row.case_id for row in page.rows] == [f"case-{n:06}" for n in order]
        assert [row.outcome for row in page.rows] == [Outcome.FAILED if n > 5 else Outcome.PASSED for n in order]
        assert page.rows[0].main_metric == "tool_call_accuracy"
        second = await store.page("run-1", limit=2, offset=3)
        assert second.total == 5
        assert second.rows == page.rows[3:]
        assert (await store.page("run-1", limit=0)).rows == []
        assert (await store.page("run-1", offset=99)).rows == []


@synchronous
async def test_a_trial_that_is_kept_stays_as_it_is(place: Place) -> None:
    first = a_result(1, answer="first")
    async with place.open() as store:
        await store.add_run(a_run())
        await store.add_results("run-1", [first, a_result(2)])
        await store.add_results("run-1", [a_result(3), a_result(1, answer="second"), a_result(4), a_result(3)])
        await store.add_results("run-1", [a_result(1), a_result(2)])
        await store.add_results("run-1", [])
        assert await store.result("run-1", *first.key) == first
        page = await store.page("run-1")
        assert [row.case_id[-1] for row in page.rows] == ["1", "2", "3", "4"]
        assert page.total == 4
        assert await store.page("run-1", offset=2, limit=1) == type(page)(page.rows[2:3], 4)


@synchronous
async def test_runs_do_not_share_trials(place: Place) -> None:
    async with place.open() as store:
        for name in ("a", "b"):
            await store.add_run(a_run(name))
            await store.add_results(name, [a_result(1, answer=name)])
            result = await store.result(name, "TOOL_CALL", "case-000001", 1)
            assert result is not None
            assert result.episode.turns[0].answer == name


@synchronous
async def test_large_answers(place: Place) -> None:
    large = [a_result(n, answer=f"{n}" + "長い回答 \U0001f6e0 \x00" * 1_000_000) for n in range(3)]
    async with place.open() as store:
        await store.add_run(a_run())
        await store.add_results("run-1", large)
        assert [result async for result in store.results("run-1")] == large
        assert await store.result("run-1", *large[1].key) == large[1]


@synchronous
async def test_readers_beside_a_writer(place: Place) -> None:
    async with place.open() as store:
        await store.add_run(a_run())

        async def write() -> None:
            for start in range(0, 1000, 50):
                await store.add_results("run-1", map(a_result, range(start, start + 50)))

        async def read() -> None:
            seen = 0
            while seen < 1000:
                page = await store.page("run-1", limit=2000)
                assert page.total >= seen
                assert page.total % 50 == 0
                assert len(page.rows) == page.total
                seen = page.total

        await asyncio.gather(write(), *(read() for _ in range(4)))


@synchronous
async def test_two_writers_of_one_run(place: Place) -> None:
    async with place.open() as one, place.open() as other:
        await one.add_run(a_run())

        async def write(store: RunStore, numbers: range) -> None:
            for start in numbers[::20]:
                await store.add_results("run-1", map(a_result, range(start, start + 20)))

        await asyncio.gather(write(one, range(400)), write(other, range(200, 600)))
        page = await one.page("run-1", limit=1000)
        assert page.total == 600
        assert len({row.case_id for row in page.rows}) == 600
        assert (await other.page("run-1", limit=1, offset=599)).rows == page.rows[-1:]


@synchronous
async def test_what_was_kept_is_there_after_opening_again(durable: Place) -> None:
    async with durable.open() as store:
        await store.add_run(a_run())
        await store.add_results("run-1", map(a_result, range(10)))
    async with durable.open() as store:
        assert await store.run("run-1") == a_run()
        assert [result async for result in store.results("run-1")] == list(map(a_result, range(10)))


@synchronous
async def test_what_json_has_no_form_for(durable: Place) -> None:
    odd = a_result(1, answer="\ud83d cut \udc00")
    call = odd.episode.turns[0].trace.tool_calls[0]  # type: ignore[union-attr, index]
    call.arguments.update({"object": {1, 2}, "large": 2**70, "not a number": float("nan")})  # type: ignore[union-attr]
    async with durable.open() as store:
        await store.add_run(a_run(error="\udcff"))
        await store.add_results("run-1", [odd, a_result(2)])
        found = await store.result("run-1", *odd.key)
        assert found is not None
        assert found.episode.turns[0].answer == "\ufffd cut \ufffd"
        arguments = found.episode.turns[0].trace.tool_calls[0].arguments  # type: ignore[union-attr, index]
        assert arguments is not None
        assert arguments["large"] == 2**70
        assert len(await store.done("run-1")) == 2


@synchronous
async def test_several_open_a_new_store_at_once(durable: Place) -> None:
    async def use(number: int) -> None:
        async with durable.open() as store:
            await store.add_run(a_run(f"run-{number}"))

    await asyncio.gather(*map(use, range(6)))
    async with durable.open() as store:
        assert len(await store.runs()) == 6


@synchronous
async def test_closing_twice(durable: Place) -> None:
    async with durable.open() as store:
        await store.close()


@synchronous
async def test_spans_come_with_a_single_result_alone(place: Place) -> None:
    spans = [
        Span("a" * 32, f"{n:016x}", "chat モデル", n, n + 5, attributes={"text": "答え", "n": n, "list": [1, "b"]})
        for n in range(3)
    ]
    seen = with_spans(a_result(1), spans)
    async with place.open() as store:
        await store.add_run(a_run())
        await store.add_results("run-1", [a_result(3), seen])
        await store.add_results("run-1", [seen, with_spans(a_result(2), spans[:1])])
        assert [len(result.episode.spans) async for result in store.results("run-1")] == [0, 0, 0]
        for n, expected in ((1, spans), (2, spans[:1]), (3, [])):
            found = await store.result("run-1", *a_result(n).key)
            assert found is not None
            assert found.episode.spans == expected
        assert await store.remove_run("run-1")
        await store.add_run(a_run())
        await store.add_results("run-1", [a_result(3)])
        alone = await store.result("run-1", *a_result(3).key)
        assert alone is not None
        assert alone.episode.spans == []


def with_spans(result: CaseResult, spans: list[Span]) -> CaseResult:
    """The result of a trial that sent spans."""
    return msgspec.structs.replace(result, episode=msgspec.structs.replace(result.episode, spans=spans))
