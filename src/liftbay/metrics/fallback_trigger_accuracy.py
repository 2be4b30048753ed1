"""fallback_trigger_accuracy: where no Skill covers a case, the fallback fires instead of a forced Skill."""

from __future__ import annotations

from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Metric, Prerequisite
from liftbay.domain.verdict import Verdict, failed, not_applicable, passed
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module, Route
from liftbay.scoring.trace_parts import route


def decide(evidence: Evidence) -> Verdict:
    """PASS where a case that no Skill covers took the route of the knowledge base."""
    if evidence.case.expected_route is not Route.SKILL_MISS:
        return not_applicable(METRIC.id, "the case is not one that no Skill covers")
    actual = route(evidence)
    if actual is None:
        return not_applicable(METRIC.id, "the trace reports no route", missing="planning.route")
    if actual is not Route.SKILL_MISS:
        return failed(METRIC.id, "a Skill was forced", expected=Route.SKILL_MISS, actual=actual)
    return passed(METRIC.id, expected=Route.SKILL_MISS, actual=actual)


METRIC = Metric(
    id="fallback_trigger_accuracy",
    name=Bilingual("Fallback trigger accuracy", "フォールバックトリガー精度"),
    definition=Bilingual(
        "Of the cases that no Skill covers (expectedRoute is SKILL_MISS), the share where the fallback to the "
        "knowledge base fired instead of a forced Skill.",
        "どの Skill の範囲にも入らないケース（expectedRoute が SKILL_MISS）のうち、無理に Skill へ振り分けず、"
        "ナレッジベースへのフォールバックが働いた割合。",
    ),
    module=Module.PERCEPTION,
    basis=Basis.TRACE,
    aspect=Aspect.CAPABILITY,
    judge_task=JudgeTask.INTENT_ROUTE,
    dataset_types=(DatasetType.KNOWLEDGE_QA,),
    prerequisites=(Prerequisite.FINISHED,),
    needs=("planning.route",),
    decide=decide,
)
