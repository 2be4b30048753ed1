"""One contract for every way in which a tool call reaches the interceptor."""

from __future__ import annotations

import asyncio

import pytest
from interceptor_ways import WAYS, RealTool, Said, Way
from mock_cases import hotels, mocked, real, said
from places import synchronous

from liftbay.domain.case import Case, MockAnswer, MockData
from liftbay.domain.trace import ToolCallRecord
from liftbay.mocks.interceptor import ENDED, MockTools
from liftbay.mocks.mock_answers import UNMOCKED


@pytest.fixture(params=sorted(WAYS))
def way(request: pytest.FixtureRequest) -> Way:
    """Each way."""
    return WAYS[request.param]


@synchronous
async def test_the_mock_that_fits_answers_and_the_real_tool_is_left_alone(way: Way) -> None:
    tool = RealTool()
    tools = MockTools(
        hotels(
            search=[
                said({"hotel": "any"}),
                said({"hotel": "京"}, city="京都"),
                MockAnswer(match={"city": "大阪"}, error="満室"),
            ]
        )
    )
    async with way(tools, tool) as caller:
        with tools.open("s", mocked()) as trial:
            call = caller(trial)
            assert await call("search", {"city": "京都"}) == Said({"hotel": "京"})
            assert await call("search", {"city": "大阪", "people": 3}) == Said(error="満室")
            assert await call("search", {"city": "奈良"}) == Said({"hotel": "any"})
            assert trial.taken() == [
                ToolCallRecord("search", {"city": "京都"}, success=True, result={"hotel": "京"}, mocked=True),
                ToolCallRecord("search", {"city": "大阪", "people": 3}, success=False, error="満室", mocked=True),
                ToolCallRecord("search", {"city": "奈良"}, success=True, result={"hotel": "any"}, mocked=True),
            ]
    assert tool.calls == []


@pytest.mark.parametrize("mock_data_id", ["hotels", "unknown", None])
@synchronous
async def test_an_unmocked_call_is_a_fault_that_is_seen_and_never_passed_on(way: Way, mock_data_id: str | None) -> None:
    tool = RealTool()
    tools = MockTools(hotels(search=[said({"hotel": "京"}, city="京都")]))
    async with way(tools, tool) as caller:
        with tools.open("s", mocked(mock_data_id)) as trial:
            call = caller(trial)
            assert await call("search", {"city": "大阪"}) == Said(error=UNMOCKED)
            assert await call("book", {"city": "京都"}) == Said(error=UNMOCKED)
            assert trial.taken() == [
                ToolCallRecord("search", {"city": "大阪"}, success=False, error=UNMOCKED, unmocked=True),
                ToolCallRecord("book", {"city": "京都"}, success=False, error=UNMOCKED, unmocked=True),
            ]
    assert tool.calls == []


@synchronous
async def test_a_case_for_real_reaches_the_real_tool_or_is_refused(way: Way) -> None:
    tool = RealTool()
    tools = MockTools(hotels(search=[said({"hotel": "mock"})]))
    async with way(tools, tool) as caller:
        with tools.open("s", real()) as trial:
            call = caller(trial)
            found = await call("search", {"city": "京都"})
            failed = await call("book", {"city": "京都"})
            calls = trial.taken()
    if found.refused:  # the mock endpoint has no real tool behind it
        assert (failed.refused, calls, tool.calls) == (True, [], [])
        return
    assert found == Said({"really": "京都"})
    assert failed.error is not None
    assert tool.calls == [("search", "京都"), ("book", "京都")]
    first, second = calls
    assert (first.name, first.arguments, first.result) == ("search", {"city": "京都"}, {"really": "京都"})
    assert (first.success, first.error, first.mocked, first.unmocked) == (True, None, False, False)
    assert (second.success, second.result) == (False, None)
    assert second.error is not None
    assert all(one.latency_ms is not None and 0 < one.latency_ms < 5_000 for one in calls)


@synchronous
async def test_twenty_trials_at_once_get_each_its_own_answers(way: Way) -> None:
    tool = RealTool()
    data = {f"data {n}": MockData(f"data {n}", {"search": [said({"of": n}, latency_ms=5)]}) for n in range(20)}
    tools = MockTools(data)

    async def one(number: int) -> list[ToolCallRecord]:
        with tools.open(f"session {number}", mocked(f"data {number}")) as trial:
            call = caller(trial)
            for turn in range(3):
                assert await call("search", {"city": f"{number}.{turn}"}) == Said({"of": number})
                await asyncio.sleep(0)
            return trial.taken()

    async with way(tools, tool) as caller:
        found = await asyncio.gather(*map(one, range(20)))
    for number, calls in enumerate(found):
        assert [call.arguments for call in calls] == [{"city": f"{number}.{turn}"} for turn in range(3)]
        assert all(call.result == {"of": number} for call in calls)
    assert tool.calls == []


@synchronous
async def test_a_result_is_a_copy(way: Way) -> None:
    tools = MockTools(hotels(search=[said({"rooms": [{"id": 1}]})]))
    async with way(tools, RealTool()) as caller:
        with tools.open("s", mocked()) as trial:
            call = caller(trial)
            first = await call("search", {"city": "京都"})
            first.result["rooms"][0]["id"] = 2
            first.result["more"] = True
            assert await call("search", {"city": "京都"}) == Said({"rooms": [{"id": 1}]})
            assert [one.result for one in trial.taken()] == [{"rooms": [{"id": 1}]}] * 2


@pytest.mark.parametrize("case", [mocked(), real()], ids=["mocked", "real"])
@synchronous
async def test_what_calls_after_the_end_of_its_trial_is_refused(way: Way, case: Case) -> None:
    tool = RealTool()
    tools = MockTools(hotels(search=[said({"hotel": "京"})]))
    async with way(tools, tool) as caller:
        with tools.open("ended", case) as trial:
            call = caller(trial)
        with tools.open("another", mocked()) as other:
            answer = await call("search", {"city": "京都"})
            assert other.taken() == []
    assert answer.result is None
    assert answer.error is not None
    assert answer.refused or answer.error == ENDED
    assert (trial.taken(), tool.calls) == ([], [])
