"""One trace from two that tell of the same turn."""

from __future__ import annotations

from liftbay.domain.trace import (
    EvalTrace,
    ModelTokens,
    ModelUsage,
    Perception,
    Planning,
    Retrieval,
    ToolCallRecord,
    ToolLoad,
)
from liftbay.domain.vocabulary import Route
from liftbay.scoring.merged_trace import merged, with_calls

CALL = ToolCallRecord("find", {"n": 1}, True, "a", latency_ms=5.0)


def mocked(name: str, arguments: dict[str, object] | None, *, result: object = "m") -> ToolCallRecord:
    """A call as the interceptor notes it."""
    return ToolCallRecord(name, arguments, success=True, result=result, mocked=True)


def test_with_nothing_it_is_the_other() -> None:
    trace = EvalTrace(planning=Planning(Route.SKILL_HIT))
    assert merged(None, None) is None
    assert merged(trace, None) is trace
    assert merged(None, trace) is trace


def test_what_the_first_says_counts_and_the_second_fills_its_gaps() -> None:
    first = EvalTrace(
        perception=Perception(skill_hit=False, latency_ms=1.0), retrievals=[], model=ModelUsage(calls=2, input_tokens=9)
    )
    second = EvalTrace(
        perception=Perception(skill_hit=True, skill="booking", intents=["buy"], latency_ms=7.0),
        planning=Planning(Route.SKILL_HIT),
        tool_loads=[ToolLoad("mcp", "hotels", True)],
        retrievals=[Retrieval(3)],
        model=ModelUsage(calls=5, output_tokens=4, by_model={"m": ModelTokens(5)}),
        hot_update_latency_ms=3.0,
    )
    assert merged(first, second) == EvalTrace(
        perception=Perception(skill_hit=False, skill="booking", intents=["buy"], latency_ms=1.0),
        planning=Planning(Route.SKILL_HIT),
        tool_loads=[ToolLoad("mcp", "hotels", True)],
        retrievals=[],
        model=ModelUsage(calls=2, input_tokens=9, output_tokens=4, by_model={"m": ModelTokens(5)}),
        hot_update_latency_ms=3.0,
    )


def test_two_that_say_nothing_of_calls_say_nothing_together() -> None:
    found = merged(EvalTrace(), EvalTrace())
    assert found == EvalTrace()
    assert with_calls(None, None) is None
    assert with_calls([], None) == with_calls(None, []) == []


class TestCalls:
    def test_the_same_call_is_one_and_each_fills_the_gaps_of_the_other(self) -> None:
        seen = ToolCallRecord("find", {"n": 1}, False, "b", error="late", latency_ms=9.0)
        assert with_calls([CALL], [seen]) == [ToolCallRecord("find", {"n": 1}, True, "a", "late", 5.0)]
        bare = ToolCallRecord("find")
        assert with_calls([bare], [seen]) == [seen]

    def test_whoever_answered_the_call_says_whether_it_was_a_mock(self) -> None:
        span = ToolCallRecord("find", {"n": 1}, True, latency_ms=5.0)
        (call,) = with_calls([span], [mocked("find", {"n": 1})]) or []
        assert call == ToolCallRecord("find", {"n": 1}, True, "m", latency_ms=5.0, mocked=True)
        unmocked = ToolCallRecord("find", {"n": 1}, False, error="unmocked call", unmocked=True)
        (call,) = with_calls([span], [unmocked]) or []
        assert (call.unmocked, call.mocked, call.error) == (True, False, "unmocked call")

    def test_calls_pair_by_their_arguments_first(self) -> None:
        spans = [ToolCallRecord("find", {"n": n}, latency_ms=float(n)) for n in (1, 2, 3)]
        seen = [mocked("find", {"n": n}, result=n) for n in (3, 1, 2)]
        assert [(call.result, call.latency_ms) for call in with_calls(spans, seen) or []] == [(1, 1), (2, 2), (3, 3)]

    def test_what_differs_only_in_arguments_pairs_by_name(self) -> None:
        """A framework may fill in a default that the model did not give."""
        spans = [ToolCallRecord("find", {"n": 1, "limit": 10}), ToolCallRecord("book", {"id": 1})]
        seen = [mocked("book", {"id": 1}, result="b"), mocked("find", {"n": 1}, result="f")]
        calls = with_calls(spans, seen) or []
        assert [(call.name, call.arguments, call.result) for call in calls] == [
            ("find", {"n": 1, "limit": 10}, "f"),
            ("book", {"id": 1}, "b"),
        ]

    def test_a_call_without_arguments_does_not_take_the_counterpart_of_one_with_them(self) -> None:
        spans = [ToolCallRecord("find", None), ToolCallRecord("find", {"n": 2})]
        seen = [mocked("find", {"n": 1}, result=1), mocked("find", {"n": 2}, result=2)]
        assert [call.result for call in with_calls(spans, seen) or []] == [1, 2]

    def test_a_call_that_only_the_second_knows_is_added(self) -> None:
        other = ToolCallRecord("book", {}, True)
        assert with_calls([CALL], [CALL, CALL, other]) == [CALL, CALL, other]
        assert with_calls([CALL], [other]) == [CALL, other]

    def test_neither_list_is_changed(self) -> None:
        first, second = [CALL], [CALL, ToolCallRecord("book")]
        merged(EvalTrace(tool_calls=first), EvalTrace(tool_calls=second))
        assert (first, second) == ([CALL], [CALL, ToolCallRecord("book")])
