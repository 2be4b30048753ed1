"""multi_intent_recognition_rate: every intent of a compound request was recognised."""

from __future__ import annotations

from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Asks, Metric, Prerequisite, Shown
from liftbay.domain.verdict import Verdict, failed, not_applicable, passed
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module
from liftbay.scoring.trace_parts import intents


def decide(evidence: Evidence) -> Verdict | None:
    """PASS where every one of `expectedIntents` is recognised; further intents do not fail. Without them: a judge."""
    expected = evidence.case.expected_intents
    if expected is None:
        return None
    if not expected:
        return not_applicable(METRIC.id, "the case expects no intent")
    recognised = intents(evidence)
    if recognised is None:
        return not_applicable(METRIC.id, "the trace reports no intents", missing="perception.intents")
    if not set(expected) <= set(recognised):
        return failed(METRIC.id, "an intent was not recognised", expected=expected, actual=recognised)
    return passed(METRIC.id, expected=expected, actual=recognised)


METRIC = Metric(
    id="multi_intent_recognition_rate",
    name=Bilingual("Multi-intent recognition rate", "多意図認識率"),
    definition=Bilingual(
        "Every intent of a compound request was taken apart and recognised. With expectedIntents the trace decides, "
        "and further intents do not fail it; without them a judge does.",
        "複合的な依頼に含まれる意図をすべて分解して認識できたか。expectedIntents があればトレースから判定し"
        "（余分な意図は減点しない）、なければ審判が判定する。",
    ),
    module=Module.PERCEPTION,
    basis=Basis.TRACE_THEN_JUDGE,
    aspect=Aspect.CAPABILITY,
    judge_task=JudgeTask.INTENT_ROUTE,
    dataset_types=(DatasetType.MULTI_INTENT,),
    prerequisites=(Prerequisite.FINISHED,),
    needs=("perception.intents",),
    decide=decide,
    asks=Asks(shows=(Shown.USER_INPUT, Shown.REFERENCE, Shown.RECOGNISED_INTENTS, Shown.ANSWER)),
)
