"""parameter_mapping_accuracy: the arguments of calls to the expected tools equal the expected ones."""

from __future__ import annotations

from typing import Any

from liftbay.domain.case import ExpectedTool
from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Metric, Prerequisite
from liftbay.domain.trace import ToolCallRecord
from liftbay.domain.verdict import Verdict, not_applicable, scored
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module
from liftbay.scoring.alignment import take_pairs
from liftbay.scoring.matchers import argument_results
from liftbay.scoring.trace_parts import tool_calls

CORRECT = "correct"


def decide(evidence: Evidence) -> Verdict:
    """SCORE calls whose arguments all match / expected calls whose tool was called.

    Calls are set against expected ones of the same tool, the most similar first. An expected call that no call is
    left for is not compared: that it is missing shows in tool_call_accuracy. `actual` holds each argument's result.
    """
    expected = evidence.case.expected_tools
    if not expected:
        return not_applicable(METRIC.id, "the case expects no tool call")
    calls = tool_calls(evidence)
    if calls is None:
        return not_applicable(METRIC.id, "the trace reports no tool calls", missing="tool_calls")
    names = {tool.name for tool in expected}
    left, made = list(expected), [call for call in calls if call.name in names]
    if any(call.arguments is None for call in made):
        return not_applicable(METRIC.id, "the trace does not report the arguments", missing="tool_calls.arguments")
    compared = [_compare(one, call) for one, call in take_pairs(left, made, _distance)]
    if not compared:
        return not_applicable(METRIC.id, "no expected tool was called")
    correct = sum(call["correct"] for call in compared)
    return scored(
        METRIC.id, correct, len(compared), actual={"calls": compared, "notCalled": [tool.name for tool in left]}
    )


def _distance(expected: ExpectedTool, call: ToolCallRecord) -> int | None:
    if expected.name != call.name:
        return None
    return sum(fault is not None for fault in argument_results(expected, call.arguments or {}).values())


def _compare(expected: ExpectedTool, call: ToolCallRecord) -> dict[str, Any]:
    results = argument_results(expected, call.arguments or {})
    return {
        "tool": expected.name,
        "correct": not any(results.values()),
        "arguments": {name: fault.value if fault else CORRECT for name, fault in results.items()},
    }


METRIC = Metric(
    id="parameter_mapping_accuracy",
    name=Bilingual("Parameter mapping accuracy", "パラメータマッピング精度"),
    definition=Bilingual(
        "Calls whose arguments equal the expected ones / expected calls whose tool was called; with the share per "
        "argument beside it. A call that was not made is never a perfect one.",
        "引数が期待どおりだった呼び出し ÷ 期待される呼び出しのうちツールが実際に呼ばれたもの。"
        "引数ごとの割合を併記する。呼び出しがないことを満点とはみなさない。",
    ),
    module=Module.TOOL,
    basis=Basis.TRACE,
    aspect=Aspect.CAPABILITY,
    judge_task=JudgeTask.TOOL_USE,
    dataset_types=(DatasetType.TOOL_CALL,),
    prerequisites=(Prerequisite.FINISHED, Prerequisite.EXPECTED_TOOL_CALLED),
    needs=("tool_calls", "tool_calls.arguments"),
    decide=decide,
)
