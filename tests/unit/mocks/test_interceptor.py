"""The interceptor of a run: which answer, which trial, what is noted."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from enum import Enum
from typing import Any

import msgspec
import pytest
from mock_cases import hotels, mocked, real, said
from places import synchronous

from liftbay.domain.case import MockAnswer
from liftbay.domain.trace import ToolCallRecord
from liftbay.mocks.interceptor import ENDED, MockTools
from liftbay.mocks.json_form import json_form
from liftbay.mocks.mock_answers import UNMOCKED
from liftbay.ports import Intercepted, ToolInterceptor, TrialTools


def asked(answers: list[MockAnswer], **arguments: Any) -> Any:
    """What a call of `search` is answered with."""
    with MockTools(hotels(search=answers)).open("s", mocked()) as trial:
        answer = trial.intercept("search", arguments)
    assert answer is not None
    return answer.error if answer.error is not None else answer.result


def test_it_is_what_the_engine_asks_for() -> None:
    tools: ToolInterceptor = MockTools({})
    with tools.open("s", mocked()) as trial:
        of_trial: TrialTools = trial
        assert of_trial.taken() == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"city": "京都"}, "kyoto"),
        ({"city": "京都", "people": 2}, "kyoto"),  # the first that fits, not the closest
        ({"city": "京都", "anything": [1]}, "kyoto"),  # what the match does not name is not looked at
        ({"city": "大阪", "people": 2}, "two"),
        ({"city": "大阪", "people": 3}, "any"),
        ({}, "any"),
    ],
)
def test_the_first_answer_that_fits_is_given_else_the_first_without_match(
    arguments: dict[str, Any], expected: str
) -> None:
    answers = [
        said("any"),
        said("kyoto", city="京都"),
        said("kyoto for two", city="京都", people=2),
        said("two", people=2),
        said("any, later"),
    ]
    assert asked(answers, **arguments) == expected


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (2, "2"),
        ("2", 2),
        (2.0, 2),
        ("２", 2),
        ("ﾎﾃﾙ", "ホテル"),
        ([1, {"a": "Ａ"}], [1.0, {"a": "A"}]),
        ((1, 2), [1, 2]),
    ],
)
def test_unicode_form_and_the_way_a_number_is_written_do_not_count(given: Any, wanted: Any) -> None:
    assert asked([said("found", x=wanted)], x=given) == "found"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [(2, 3), (1, True), ("true", True), ("1.5", 1.5), ("京都市", "京都"), ("a", "A"), ([1, 2], [2, 1]), (0, None)],
)
def test_other_values_are_other_arguments(given: Any, wanted: Any) -> None:
    assert asked([said("found", x=wanted)], x=given) == UNMOCKED


def test_null_is_not_the_same_as_left_out() -> None:
    assert asked([said("found", x=None)]) == UNMOCKED
    assert asked([said("found", x=None)], x=None) == "found"


def test_an_empty_match_fits_every_call_and_goes_before_what_has_none() -> None:
    assert asked([said("any"), MockAnswer(match={}, result="empty")], x=1) == "empty"


def test_a_mocked_error_and_a_result_of_null() -> None:
    answers = [MockAnswer(match={"x": 1}, error="full", latency_ms=5), MockAnswer(result=None)]
    with MockTools(hotels(search=answers)).open("s", mocked()) as trial:
        assert trial.intercept("search", {"x": 1}) == Intercepted(error="full", latency_ms=5)
        assert trial.intercept("search", {"x": 2}) == Intercepted(result=None)


@pytest.mark.parametrize("mock_data_id", [None, "", "unknown"])
def test_a_case_without_mock_data_has_only_unmocked_calls(mock_data_id: str | None) -> None:
    with MockTools(hotels(search=[said("found")])).open("s", mocked(mock_data_id)) as trial:
        assert trial.intercept("search", {}) == Intercepted(error=UNMOCKED, unmocked=True)


def test_a_tool_that_the_mock_data_does_not_know_is_unmocked() -> None:
    with MockTools(hotels(search=[said("found")])).open("s", mocked()) as trial:
        assert trial.intercept("book", {}) == Intercepted(error=UNMOCKED, unmocked=True)


def test_a_case_for_real_passes_through_even_with_mock_data() -> None:
    case = msgspec.structs.replace(real(), mock_data_id="hotels")
    with MockTools(hotels(search=[said("found")])).open("s", case) as trial:
        assert trial.intercept("search", {}) is None
        assert trial.answer("search", {}) is None
        assert trial.taken() == []


def test_what_mock_data_answered_is_noted_as_such() -> None:
    answers = [MockAnswer(match={"x": 1}, error="full", latency_ms=30), said([1])]
    with MockTools(hotels(search=answers)).open("s", mocked()) as trial:
        trial.answer("search", {"x": 1})
        trial.answer("search", {"x": 2})
        trial.answer("book", {})
        assert trial.taken() == [
            ToolCallRecord("search", {"x": 1}, success=False, error="full", mocked=True),
            ToolCallRecord("search", {"x": 2}, success=True, result=[1], mocked=True),
            ToolCallRecord("book", {}, success=False, error=UNMOCKED, unmocked=True),
        ]
        assert trial.taken() == []


def test_who_changes_a_result_or_an_argument_changes_neither_mock_nor_trace() -> None:
    with MockTools(hotels(search=[said({"rooms": [{"id": 1}]})])).open("s", mocked()) as trial:
        arguments = {"cities": ["京都"]}
        for _ in range(2):
            answer = trial.answer("search", arguments)
            assert answer is not None
            assert answer.result == {"rooms": [{"id": 1}]}
            answer.result["rooms"][0]["id"] = 2
            arguments["cities"][:] = ["大阪"]
        (first, second) = trial.taken()
        assert (first.result, first.arguments) == ({"rooms": [{"id": 1}]}, {"cities": ["京都"]})
        assert second.result == {"rooms": [{"id": 1}]}


def test_after_its_end_a_trial_refuses_every_call_and_notes_none() -> None:
    tools = MockTools(hotels(search=[said("found")]))
    for case in (mocked(), real()):
        with tools.open("s", case) as trial:
            assert tools.of_session("s") is trial
        assert tools.of_session("s") is None
        assert trial.answer("search", {}) == Intercepted(error=ENDED)
        trial.record(ToolCallRecord("search"))
        assert trial.taken() == []


def test_a_trial_ends_however_it_ends() -> None:
    tools = MockTools({})
    with pytest.raises(ValueError, match="agent"), tools.open("s", mocked()):
        raise ValueError("agent")
    assert (tools.of_session("s"), tools.of_context(), tools.open_trials()) == (None, None, [])


def test_addresses_carry_the_session() -> None:
    tools = MockTools({}, endpoint="http://127.0.0.1:1/mock/")
    tools.mcp_endpoint = "http://127.0.0.1:2/mcp"
    with tools.open("abc", mocked()) as trial:
        assert trial.endpoint == "http://127.0.0.1:1/mock/abc"
        assert trial.mcp_endpoint == "http://127.0.0.1:2/mcp/abc"
    with tools.open("abc", real()) as trial:  # the mock endpoint has nothing for it, the stand-in passes on
        assert (trial.endpoint, trial.mcp_endpoint) == (None, "http://127.0.0.1:2/mcp/abc")
    with MockTools({}).open("abc", mocked()) as trial:
        assert (trial.endpoint, trial.mcp_endpoint) == (None, None)


@synchronous
async def test_tasks_and_threads_that_copy_the_context_find_their_trial() -> None:
    tools = MockTools({})

    async def trial_of(session_id: str) -> tuple[str | None, object]:
        with tools.open(session_id, mocked()):
            await asyncio.sleep(0)
            here = tools.of_context()
            thread = await asyncio.to_thread(tools.of_context)
            found: list[Any] = []
            bare = threading.Thread(target=lambda: found.append(tools.of_context()))
            bare.start()
            bare.join()
            assert here is thread
            return here.session_id if here else None, found[0]

    sessions = [f"s{number}" for number in range(20)]
    assert await asyncio.gather(*map(trial_of, sessions)) == [(one, None) for one in sessions]


def test_the_only_open_trial() -> None:
    tools = MockTools({})
    assert tools.only() is None
    with tools.open("one", mocked()) as one:
        assert tools.only() is one
        with tools.open("two", mocked()):
            assert tools.only() is None
        assert tools.only() is one


def test_two_interceptors_do_not_see_each_other() -> None:
    tools, others = MockTools({}), MockTools({})
    with tools.open("s", mocked()):
        assert (others.of_context(), others.of_session("s")) == (None, None)


def test_calls_from_many_threads_are_all_noted_once() -> None:
    tools = MockTools(hotels(search=[said("found")]))
    taken: list[ToolCallRecord] = []
    with tools.open("s", mocked()) as trial:

        def call(thread: int) -> None:
            for number in range(50):
                trial.answer("search", {"n": thread * 50 + number})
                if number % 10 == 0:
                    taken.extend(trial.taken())

        threads = [threading.Thread(target=contextvars.copy_context().run, args=(call, number)) for number in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        taken.extend(trial.taken())
    assert sorted(call.arguments["n"] for call in taken if call.arguments) == list(range(400))


class Colour(Enum):
    RED = "red"


class Size(int, Enum):
    BIG = 3


class Broken:
    def __repr__(self) -> str:
        raise ValueError


def holding_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": [1, 2.5, "x", None, True]}, {"a": [1, 2.5, "x", None, True]}),
        ((1, "a"), [1, "a"]),
        (Size.BIG, 3),
        (Colour.RED, "<Colour.RED: 'red'>"),
        (float("nan"), "nan"),
        (2**70, str(2**70)),
        ({1: "a"}, "{1: 'a'}"),
        ({1}, "{1}"),
        ("\ud800", "'\\ud800'"),
        (b"x", "b'x'"),
        (Broken(), "<Broken>"),
        (holding_itself(), "[[...]]"),
        (bytes(1000), repr(bytes(1000))[:300]),
    ],
)
def test_what_json_has_no_form_for_is_shown(value: Any, expected: Any) -> None:
    assert json_form(value) == expected
    assert msgspec.json.decode(msgspec.json.encode(json_form(value))) == expected


def test_a_record_can_always_be_stored() -> None:
    with MockTools({}).open("s", real()) as trial:
        trial.record(ToolCallRecord("a\ud800", {"x": object}, result=float("inf"), error="\udc00"))
        (call,) = trial.taken()
    assert msgspec.json.decode(msgspec.json.encode(call))["arguments"] == {"x": "<class 'object'>"}
