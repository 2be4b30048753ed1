"""intent_recall: cases that a Skill should take are recognised as that Skill."""

from __future__ import annotations

from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Metric, Prerequisite
from liftbay.domain.verdict import Verdict, failed, not_applicable, passed
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module
from liftbay.scoring.trace_parts import skill_hit, skill_reported


def decide(evidence: Evidence) -> Verdict:
    """PASS where the Skill that should take the case was hit."""
    expected = evidence.case.expected_skill
    if expected is None:
        return not_applicable(METRIC.id, "no Skill should take the case")
    if not skill_reported(evidence):
        return not_applicable(METRIC.id, "the trace does not report the Skill", missing="perception.skill")
    actual = skill_hit(evidence)
    if actual is None:
        return failed(METRIC.id, "no Skill was hit", expected=expected)
    if actual != expected:
        return failed(METRIC.id, "another Skill was hit", expected=expected, actual=actual)
    return passed(METRIC.id, expected=expected, actual=actual)


METRIC = Metric(
    id="intent_recall",
    name=Bilingual("Intent recall", "意図認識再現率"),
    definition=Bilingual(
        "Of the cases that a Skill should take, the share recognised as that Skill (expectedSkill against the Skill "
        "hit); over all cases, and per Skill.",
        "Skill が処理すべきケースのうち、その Skill と認識された割合（expectedSkill とヒットした Skill を照合する）。"
        "全体と Skill 別に示す。",
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
