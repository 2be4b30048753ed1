"""ambiguity_clarification_rate: an unclear request is asked back about, not guessed at."""

from __future__ import annotations

from liftbay.domain.metric import Asks, Metric, Prerequisite, Shown
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module

METRIC = Metric(
    id="ambiguity_clarification_rate",
    name=Bilingual("Ambiguity clarification rate", "曖昧意図の明確化率"),
    definition=Bilingual(
        "Asking back comes first. An answer that rests on an inference passes only when the inference is said and the "
        "answer is useful; one that is beside the point or made up fails.",
        "曖昧な依頼には、まず問い返すことを優先する。推測に基づく回答は、推測であることを明示し、"
        "かつ有用な場合に限り合格。的外れな回答や捏造は不合格とする。",
    ),
    module=Module.PERCEPTION,
    basis=Basis.JUDGE,
    aspect=Aspect.CAPABILITY,
    judge_task=JudgeTask.ANSWER_QUALITY,
    dataset_types=(DatasetType.AMBIGUOUS_INTENT,),
    prerequisites=(Prerequisite.FINISHED,),
    asks=Asks(shows=(Shown.USER_INPUT, Shown.HISTORY, Shown.REFERENCE, Shown.ANSWER)),
)
