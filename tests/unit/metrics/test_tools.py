"""How the metrics of tools decide from the trace."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from one_trial import BLACK_BOX, call, called, tool, trial

from liftbay.domain.case import ArgumentMatcher, ExpectedTool
from liftbay.domain.episode import Episode, Evidence, Turn
from liftbay.domain.trace import EvalTrace, ToolCallRecord, ToolLoad
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import EvalMode
from liftbay.metrics import (
    parameter_mapping_accuracy,
    tool_call_accuracy,
    tool_call_success_rate,
    tool_decision_accuracy,
    tool_load_success_rate,
)
from liftbay.metrics.tool_decision_accuracy import whether_to_call

FROM_EXPECTED_TOOLS = (tool_call_accuracy.decide, tool_decision_accuracy.decide, parameter_mapping_accuracy.decide)


@pytest.mark.parametrize("decide", FROM_EXPECTED_TOOLS)
def test_a_case_that_says_nothing_of_tools(decide: Callable[[Evidence], Verdict]) -> None:
    verdict = decide(trial(called(call("f"))))
    assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", None)


@pytest.mark.parametrize("decide", [*FROM_EXPECTED_TOOLS, tool_call_success_rate.decide])
@pytest.mark.parametrize("trace", [BLACK_BOX, EvalTrace()])
def test_unreported_calls(decide: Callable[[Evidence], Verdict], trace: EvalTrace | None) -> None:
    verdict = decide(trial(trace, expected_tools=[tool("f")]))
    assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", "tool_calls")


@pytest.mark.parametrize(
    ("expected", "made", "reason"),
    [
        ("f", "f", None),
        ("f g", "g f", None),
        ("f f", "f f", None),
        ("", "", None),
        ("f", "", "an expected tool was not called"),
        ("f g", "f", "an expected tool was not called"),
        ("f", "f g", "a tool was called that was not expected"),
        ("", "f", "a tool was called that was not expected"),
        ("f", "g", "an expected tool was not called, and another was"),
        ("f", "f f", "a tool was called more or less often than expected"),
        ("f f", "f", "a tool was called more or less often than expected"),
    ],
)
def test_tool_call_accuracy(expected: str, made: str, reason: str | None) -> None:
    evidence = trial(called(*map(call, made.split())), expected_tools=[tool(name) for name in expected.split()])
    verdict = tool_call_accuracy.decide(evidence)
    assert (verdict.status, verdict.reason) == ("FAIL" if reason else "PASS", reason)
    assert (verdict.expected, verdict.actual) == (sorted(expected.split()), sorted(made.split()))


def test_arguments_do_not_matter_to_tool_call_accuracy() -> None:
    evidence = trial(called(call("f", a=2)), expected_tools=[tool("f", a=1)])
    assert tool_call_accuracy.decide(evidence).status == "PASS"


@pytest.mark.parametrize(
    ("expected", "made", "status", "to_call"),
    [
        ("f g", "f", "PASS", True),
        ("f", "f f", "PASS", True),
        ("f", "g", "FAIL", True),
        ("f", "f g", "FAIL", True),
        ("", "f", "FAIL", False),
        ("f", "", "NOT_APPLICABLE", False),
        ("", "", "NOT_APPLICABLE", True),
    ],
)
def test_tool_decision_accuracy(expected: str, made: str, status: str, to_call: bool) -> None:
    evidence = trial(called(*map(call, made.split())), expected_tools=[tool(name) for name in expected.split()])
    verdict = tool_decision_accuracy.decide(evidence)
    assert verdict.status == status
    assert verdict.actual["whetherToCall"] is to_call
    assert verdict.missing is None
    assert whether_to_call(evidence) is to_call


def test_whether_to_call_is_unknown_without_case_or_trace() -> None:
    assert whether_to_call(trial(called())) is None
    assert whether_to_call(trial(BLACK_BOX, expected_tools=[])) is None


class TestToolCallSuccess:
    def test_successes_of_calls(self) -> None:
        verdict = tool_call_success_rate.decide(trial(called(call("f"), call("f", success=False))))
        assert (verdict.status, verdict.numerator, verdict.denominator) == ("SCORE", 1, 2)
        assert verdict.actual == {"mocked": False}

    def test_an_error_is_a_failure_even_where_success_is_not_reported(self) -> None:
        verdict = tool_call_success_rate.decide(trial(called(ToolCallRecord("f", {}, error="refused"))))
        assert (verdict.numerator, verdict.denominator) == (0, 1)

    def test_what_a_mock_answers_is_marked(self) -> None:
        mock_run = trial(called(call("f")), eval_mode=EvalMode.E2E_MOCK)
        mocked_call = trial(called(ToolCallRecord("f", {}, True, mocked=True)))
        for evidence in (mock_run, mocked_call):
            assert tool_call_success_rate.decide(evidence).actual == {"mocked": True}

    def test_a_call_that_no_mock_answers_is_in_neither_number(self) -> None:
        unmocked = ToolCallRecord("g", {}, False, error="unmocked call", unmocked=True)
        mocked = ToolCallRecord("f", {}, True, mocked=True)
        verdict = tool_call_success_rate.decide(trial(called(unmocked, mocked, unmocked)))
        assert (verdict.status, verdict.numerator, verdict.denominator) == ("SCORE", 1, 1)
        verdict = tool_call_success_rate.decide(trial(called(unmocked)))
        assert (verdict.status, verdict.reason, verdict.missing) == ("NOT_APPLICABLE", "no mock answered a call", None)
        assert tool_call_success_rate.decide(trial(called(unmocked, call("h", success=None)))).missing

    def test_no_call(self) -> None:
        verdict = tool_call_success_rate.decide(trial(called()))
        assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", None)

    def test_an_unreported_success(self) -> None:
        verdict = tool_call_success_rate.decide(trial(called(call("f"), call("f", success=None))))
        assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", "tool_calls.success")


class TestToolLoad:
    @staticmethod
    def loaded(*parts: list[ToolLoad] | None) -> Evidence:
        evidence = trial(BLACK_BOX)
        turns = [Turn(number, "?", "!", EvalTrace(tool_loads=part)) for number, part in enumerate(parts, 1)]
        return Evidence(evidence.case, Episode("s", turns))

    def test_two_figures_and_both_together(self) -> None:
        verdict = tool_load_success_rate.decide(
            self.loaded([ToolLoad("mcp", "a", True), ToolLoad("mcp", "b", False), ToolLoad("skill", "c", True)])
        )
        assert (verdict.status, verdict.numerator, verdict.denominator) == ("SCORE", 2, 3)
        assert verdict.actual == {"mcp": {"loaded": 1, "configured": 2}, "skill": {"loaded": 1, "configured": 1}}

    def test_the_loads_of_every_turn_count(self) -> None:
        verdict = tool_load_success_rate.decide(self.loaded([ToolLoad("mcp", "a", True)], None))
        assert (verdict.numerator, verdict.denominator) == (1, 1)

    def test_nothing_configured(self) -> None:
        verdict = tool_load_success_rate.decide(self.loaded([]))
        assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", None)

    def test_unreported(self) -> None:
        for evidence in (self.loaded(None), trial(BLACK_BOX)):
            verdict = tool_load_success_rate.decide(evidence)
            assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", "tool_loads")


class TestParameterMapping:
    def test_a_call_is_right_when_every_argument_is(self) -> None:
        verdict = parameter_mapping_accuracy.decide(
            trial(
                called(call("f", a=1, b=2), call("g", a=1, c=3)),
                expected_tools=[tool("f", a=1, b=2), tool("g", a=1, b=2)],
            )
        )
        assert (verdict.status, verdict.numerator, verdict.denominator) == ("SCORE", 1, 2)
        assert verdict.actual == {
            "calls": [
                {"tool": "f", "correct": True, "arguments": {"a": "correct", "b": "correct"}},
                {
                    "tool": "g",
                    "correct": False,
                    "arguments": {"a": "correct", "b": "missing", "c": "superfluous"},
                },
            ],
            "notCalled": [],
        }

    def test_the_most_similar_call_of_a_tool_is_compared(self) -> None:
        evidence = trial(called(call("f", a=9), call("f", a=1)), expected_tools=[tool("f", a=1)])
        verdict = parameter_mapping_accuracy.decide(evidence)
        assert (verdict.numerator, verdict.denominator) == (1, 1)

    def test_only_calls_of_expected_tools_are_compared(self) -> None:
        evidence = trial(called(call("g"), call("f", a=1)), expected_tools=[tool("f", a=1), tool("h", a=1)])
        verdict = parameter_mapping_accuracy.decide(evidence)
        assert (verdict.numerator, verdict.denominator) == (1, 1)
        assert verdict.actual["notCalled"] == ["h"]

    @pytest.mark.parametrize("made", [[], [call("g")]])
    def test_no_call_is_never_a_perfect_score(self, made: list[ToolCallRecord]) -> None:
        verdict = parameter_mapping_accuracy.decide(trial(called(*made), expected_tools=[tool("f")]))
        assert (verdict.status, verdict.numerator, verdict.missing) == ("NOT_APPLICABLE", None, None)

    def test_no_call_expected(self) -> None:
        verdict = parameter_mapping_accuracy.decide(trial(called(), expected_tools=[]))
        assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", None)

    def test_a_call_without_arguments_that_expects_none_is_right(self) -> None:
        verdict = parameter_mapping_accuracy.decide(trial(called(call("f")), expected_tools=[tool("f")]))
        assert (verdict.numerator, verdict.denominator) == (1, 1)

    def test_unreported_arguments(self) -> None:
        verdict = parameter_mapping_accuracy.decide(
            trial(called(ToolCallRecord("f"), call("f")), expected_tools=[tool("f")])
        )
        assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", "tool_calls.arguments")

    def test_matchers_stand_in_for_equality(self) -> None:
        expected = ExpectedTool("f", {"a": 1, "n": 1.5}, {"n": ArgumentMatcher(tolerance=0.5)})
        verdict = parameter_mapping_accuracy.decide(trial(called(call("f", a=1, n=2)), expected_tools=[expected]))
        assert (verdict.numerator, verdict.denominator) == (1, 1)

    def test_a_verdict_can_be_stored(self) -> None:
        verdict = parameter_mapping_accuracy.decide(trial(called(call("f", a="1")), expected_tools=[tool("f", a=1)]))
        assert b'"a":"wrong_type"' in msgspec.json.encode(verdict)
