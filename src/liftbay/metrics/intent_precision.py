"""intent_precision: requests recognised as a Skill are those that this Skill should take."""

from __future__ import annotations

from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Metric, Prerequisite
from liftbay.domain.verdict import Verdict, failed, not_applicable, passed
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module, Route
from liftbay.scoring.trace_parts import skill_hit, skill_reported


def decide(evidence: Evidence) -> Verdict:
    """PASS where the Skill that was hit is the one that should take the case."""
    case = evidence.case
    if case.expected_skill is None and case.expected_route is not Route.SKILL_MISS:
        return not_applicable(METRIC.id, "the case does not say which Skill should take it")
    if not skill_reported(evidence):
        return not_applicable(METRIC.id, "the trace does not report the Skill", missing="perception.skill")
    actual = skill_hit(evidence)
    if actual is None:
        return not_applicable(METRIC.id, "the request was not recognised as a Skill")
    if case.expected_skill is None:
        return failed(METRIC.id, "a Skill was hit that should not take the case", actual=actual)
    if actual != case.expected_skill:
        return failed(METRIC.id, "another Skill was hit", expected=case.expected_skill, actual=actual)
    return passed(METRIC.id, expected=case.expected_skill, actual=actual)


METRIC = Metric(
    id="intent_precision",
    name=Bilingual("Intent precision", "意図認識適合率"),
    definition=Bilingual(
        "Of the requests recognised as a Skill, the share that this Skill should take; over all cases, and per Skill, "
        "with the confusion matrix.",
        "ある Skill と認識されたリクエストのうち、実際にその Skill が処理すべきだった割合。全体と Skill 別に示し、"
        "混同行列を併記する。",
    ),
    module=Module.PERCEPTION,
    basis=Basis.TRACE,
    aspect=Aspect.CAPABILITY,
    judge_task=JudgeTask.INTENT_ROUTE,
    dataset_types=(DatasetType.BASIC_FUNCTION, DatasetType.KNOWLEDGE_QA),
    prerequisites=(Prerequisite.FINISHED,),
    needs=("perception.skill",),
    decide=decide,
)
