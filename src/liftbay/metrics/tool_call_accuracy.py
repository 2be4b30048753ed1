"""tool_call_accuracy: the expected tools were called, none missing, none superfluous, none repeated."""

from __future__ import annotations

from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Metric, Prerequisite
from liftbay.domain.verdict import Verdict, failed, not_applicable, passed
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module
from liftbay.scoring.trace_parts import tool_calls


def decide(evidence: Evidence) -> Verdict:
    """PASS where the names of the tools that were called are the expected ones, each as often as expected."""
    if evidence.case.expected_tools is None:
        return not_applicable(METRIC.id, "the case does not say which tools it expects")
    calls = tool_calls(evidence)
    if calls is None:
        return not_applicable(METRIC.id, "the trace reports no tool calls", missing="tool_calls")
    expected = sorted(tool.name for tool in evidence.case.expected_tools)
    actual = sorted(call.name for call in calls)
    if actual != expected:
        return failed(METRIC.id, _difference(expected, actual), expected=expected, actual=actual)
    return passed(METRIC.id, expected=expected, actual=actual)


def _difference(expected: list[str], actual: list[str]) -> str:
    missing, superfluous = set(expected) - set(actual), set(actual) - set(expected)
    if missing and superfluous:
        return "an expected tool was not called, and another was"
    if missing:
        return "an expected tool was not called"
    if superfluous:
        return "a tool was called that was not expected"
    return "a tool was called more or less often than expected"


METRIC = Metric(
    id="tool_call_accuracy",
    name=Bilingual("Tool call accuracy", "ツール呼び出し精度"),
    definition=Bilingual(
        "The expected tools were called: none missing, none superfluous, none repeated. Which tools decides; arguments "
        "and order do not, they have their own metric.",
        "期待されるツールが、漏れ・余分・重複なく呼び出されたか。判定するのはどのツールかだけで、"
        "引数と順序は問わない（引数には独自の指標がある）。",
    ),
    module=Module.TOOL,
    basis=Basis.TRACE,
    aspect=Aspect.CAPABILITY,
    judge_task=JudgeTask.TOOL_USE,
    dataset_types=(DatasetType.TOOL_CALL,),
    prerequisites=(Prerequisite.FINISHED,),
    needs=("tool_calls",),
    decide=decide,
)
