"""tool_call_success_rate: calls that returned a valid result / calls."""

from __future__ import annotations

from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Metric, Prerequisite
from liftbay.domain.trace import ToolCallRecord
from liftbay.domain.verdict import Verdict, not_applicable, scored
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, EvalMode, JudgeTask, Module
from liftbay.scoring.trace_parts import tool_calls


def decide(evidence: Evidence) -> Verdict:
    """SCORE successes / calls; `actual.mocked` says that a mock answered, so that the headline leaves it out.

    A call that no mock answers was made by no tool: it is in neither number.
    """
    calls = tool_calls(evidence)
    if calls is None:
        return not_applicable(METRIC.id, "the trace reports no tool calls", missing="tool_calls")
    if not calls:
        return not_applicable(METRIC.id, "no tool was called")
    outcomes = [_succeeded(call) for call in calls if not call.unmocked]
    if not outcomes:
        return not_applicable(METRIC.id, "no mock answered a call")
    if None in outcomes:
        return not_applicable(
            METRIC.id, "the trace does not report whether a call succeeded", missing="tool_calls.success"
        )
    mocked = evidence.case.eval_mode is EvalMode.E2E_MOCK or any(call.mocked for call in calls)
    return scored(METRIC.id, outcomes.count(True), len(outcomes), actual={"mocked": mocked})


def _succeeded(call: ToolCallRecord) -> bool | None:
    """An error says that a call failed, even where nothing else does."""
    return False if call.error is not None else call.success


METRIC = Metric(
    id="tool_call_success_rate",
    name=Bilingual("Tool call success rate", "ツール呼び出し成功率"),
    definition=Bilingual(
        "Calls that returned a valid result / calls. In E2E_MOCK it measures the mock: it is marked and left out of "
        "the headline.",
        "有効な結果を返した呼び出し ÷ 全呼び出し。E2E_MOCK ではモックを測ることになるため、"
        "その旨を示し、見出しの数値には含めない。",
    ),
    module=Module.TOOL,
    basis=Basis.TRACE,
    aspect=Aspect.EFFECTIVENESS,
    judge_task=JudgeTask.TOOL_USE,
    dataset_types=(DatasetType.TOOL_CALL,),
    prerequisites=(Prerequisite.FINISHED, Prerequisite.CALL_MADE),
    needs=("tool_calls", "tool_calls.success"),
    decide=decide,
)
