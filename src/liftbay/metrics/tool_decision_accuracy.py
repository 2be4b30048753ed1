"""tool_decision_accuracy: where the agent called, were the tools of the right kind?

Beside it stands a figure of its own: whether calling or not calling was right (`whether_to_call`).
"""

from __future__ import annotations

from typing import Any

from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Metric, Prerequisite
from liftbay.domain.verdict import Verdict, not_applicable
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module, VerdictStatus
from liftbay.scoring.trace_parts import tool_calls


def whether_to_call(evidence: Evidence) -> bool | None:
    """Whether calling, or not calling, was right; None where the case or the trace does not tell."""
    expected, calls = evidence.case.expected_tools, tool_calls(evidence)
    if expected is None or calls is None:
        return None
    return bool(expected) == bool(calls)


def decide(evidence: Evidence) -> Verdict:
    """PASS where every tool that was called is an expected one; `actual.whetherToCall` carries the other figure."""
    if evidence.case.expected_tools is None:
        return not_applicable(METRIC.id, "the case does not say which tools it expects")
    calls = tool_calls(evidence)
    if calls is None:
        return not_applicable(METRIC.id, "the trace reports no tool calls", missing="tool_calls")
    expected = sorted({tool.name for tool in evidence.case.expected_tools})
    called = sorted({call.name for call in calls})
    actual = {"whetherToCall": whether_to_call(evidence), "tools": called}
    if not calls:
        return _verdict(VerdictStatus.NOT_APPLICABLE, "no tool was called", expected, actual)
    if not set(called) <= set(expected):
        reason = "a tool of another kind was called" if expected else "a tool was called where none is expected"
        return _verdict(VerdictStatus.FAIL, reason, expected, actual)
    return _verdict(VerdictStatus.PASS, None, expected, actual)


def _verdict(status: VerdictStatus, reason: str | None, expected: list[str], actual: dict[str, Any]) -> Verdict:
    return Verdict(METRIC.id, status, reason, expected=expected, actual=actual)


METRIC = Metric(
    id="tool_decision_accuracy",
    name=Bilingual("Tool decision accuracy", "ツール呼び出し判断精度"),
    definition=Bilingual(
        "Where the agent decided to call: is every tool that it called one of the expected ones? Beside it stands, as "
        "a figure of its own, whether calling or not calling was right.",
        "エージェントが呼び出すと決めた場合に、呼び出したツールの種類がすべて期待どおりか。"
        "呼び出すか否かの判断が正しかったかは、独立した数値として併記する。",
    ),
    module=Module.PLANNING,
    basis=Basis.TRACE,
    aspect=Aspect.CAPABILITY,
    judge_task=JudgeTask.TOOL_USE,
    dataset_types=(DatasetType.TOOL_CALL,),
    prerequisites=(Prerequisite.FINISHED,),
    needs=("tool_calls",),
    decide=decide,
)
