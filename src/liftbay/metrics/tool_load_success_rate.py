"""tool_load_success_rate: MCP servers initialised, and Skills loaded, of those configured."""

from __future__ import annotations

from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Metric, Prerequisite
from liftbay.domain.verdict import Verdict, not_applicable, scored
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, JudgeTask, Module


def decide(evidence: Evidence) -> Verdict:
    """SCORE successes / loads over all turns; `actual` holds the same ratio apart for each kind, mcp and skill."""
    reported = [turn.trace.tool_loads for turn in evidence.episode.turns if turn.trace]
    loads = [load for part in reported for load in part or ()]
    if not loads:
        if any(part is not None for part in reported):
            return not_applicable(METRIC.id, "nothing was configured to load")
        return not_applicable(METRIC.id, "the trace reports no loading", missing="tool_loads")
    kinds: dict[str, dict[str, int]] = {}
    for load in loads:
        counts = kinds.setdefault(load.kind, {"loaded": 0, "configured": 0})
        counts["loaded"] += load.success
        counts["configured"] += 1
    return scored(METRIC.id, sum(load.success for load in loads), len(loads), actual=kinds)


METRIC = Metric(
    id="tool_load_success_rate",
    name=Bilingual("MCP and Skills load success rate", "MCP・Skills 読み込み成功率"),
    definition=Bilingual(
        "MCP servers initialised / configured and Skills loaded / configured: two figures.",
        "初期化できた MCP サーバー ÷ 設定された MCP サーバーと、読み込めた Skill ÷ 設定された Skill の 2 つの数値。",
    ),
    module=Module.TOOL,
    basis=Basis.TRACE,
    aspect=Aspect.CAPABILITY,
    judge_task=JudgeTask.TOOL_USE,
    dataset_types=(),  # any trace that reports loading
    prerequisites=(Prerequisite.FINISHED,),
    needs=("tool_loads",),
    decide=decide,
)
