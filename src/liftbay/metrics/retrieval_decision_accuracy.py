"""retrieval_decision_accuracy: where no Skill covers a case, a retrieval really ran."""

from __future__ import annotations

from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Metric, Prerequisite
from liftbay.domain.verdict import Verdict, failed, not_applicable, passed
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module, Route


def decide(evidence: Evidence) -> Verdict:
    """PASS where the trace of a case that no Skill covers holds a retrieval."""
    if evidence.case.expected_route is not Route.SKILL_MISS:
        return not_applicable(METRIC.id, "the case is not one that no Skill covers")
    retrievals = evidence.trace.retrievals if evidence.trace else None
    if retrievals is None:
        return not_applicable(METRIC.id, "the trace reports no retrievals", missing="retrievals")
    if not retrievals:
        return failed(METRIC.id, "no retrieval ran", actual=0)
    return passed(METRIC.id, actual=len(retrievals))


METRIC = Metric(
    id="retrieval_decision_accuracy",
    name=Bilingual("Retrieval decision accuracy", "ナレッジベース検索判断精度"),
    definition=Bilingual(
        "Of the cases that no Skill covers, the share in which a retrieval really ran, by the retrievals of the trace. "
        "fallback_trigger_accuracy asks which route was taken; this asks what was done.",
        "どの Skill の範囲にも入らないケースのうち、実際に検索が実行された割合（トレースの検索記録による）。"
        "fallback_trigger_accuracy は選んだルートを、この指標は実際の動作を見る。",
    ),
    module=Module.PLANNING,
    basis=Basis.TRACE,
    aspect=Aspect.CAPABILITY,
    judge_task=JudgeTask.INTENT_ROUTE,
    dataset_types=(DatasetType.KNOWLEDGE_QA,),
    prerequisites=(Prerequisite.FINISHED,),
    needs=("retrievals",),
    decide=decide,
)
