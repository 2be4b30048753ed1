"""intent_accuracy: the recognised intent, and the Skill where one is expected, are the expected ones."""

from __future__ import annotations

from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Metric, Prerequisite
from liftbay.domain.verdict import Verdict, failed, not_applicable, passed
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module
from liftbay.scoring.trace_parts import intents, skill_hit, skill_reported


def decide(evidence: Evidence) -> Verdict:
    """PASS where the first intent is `expectedIntent` and the Skill hit is `expectedSkill`, if one is expected."""
    case = evidence.case
    if case.expected_intent is None:
        return not_applicable(METRIC.id, "the case expects no intent")
    recognised = intents(evidence)
    if recognised is None:
        return not_applicable(METRIC.id, "the trace reports no intents", missing="perception.intents")
    expected = {"intent": case.expected_intent}
    actual: dict[str, str | None] = {"intent": recognised[0] if recognised else None}
    if case.expected_skill is not None:
        if not skill_reported(evidence):
            return not_applicable(METRIC.id, "the trace does not report the Skill", missing="perception.skill")
        expected["skill"] = case.expected_skill
        actual["skill"] = skill_hit(evidence)
    if actual["intent"] != case.expected_intent:
        return failed(METRIC.id, "another intent was recognised", expected=expected, actual=actual)
    if actual != expected:
        return failed(METRIC.id, "another Skill was hit", expected=expected, actual=actual)
    return passed(METRIC.id, expected=expected, actual=actual)


METRIC = Metric(
    id="intent_accuracy",
    name=Bilingual("Intent accuracy", "意図認識精度"),
    definition=Bilingual(
        "The recognised intent equals expectedIntent and, where a Skill is expected, the Skill hit equals "
        "expectedSkill.",
        "認識された意図が expectedIntent と一致し、Skill が期待される場合は、"
        "ヒットした Skill も expectedSkill と一致するか。",
    ),
    module=Module.PERCEPTION,
    basis=Basis.TRACE,
    aspect=Aspect.CAPABILITY,
    judge_task=JudgeTask.INTENT_ROUTE,
    dataset_types=(DatasetType.BASIC_FUNCTION, DatasetType.KNOWLEDGE_QA),
    prerequisites=(Prerequisite.FINISHED,),
    needs=("perception.intents", "perception.skill"),
    decide=decide,
)
