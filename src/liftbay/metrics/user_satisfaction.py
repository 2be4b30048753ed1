"""user_satisfaction: what real users say of the answers."""

from __future__ import annotations

from liftbay.domain.metric import Metric, Prerequisite
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, Module

METRIC = Metric(
    id="user_satisfaction",
    name=Bilingual("User satisfaction", "ユーザー満足度"),
    definition=Bilingual(
        "The mean of the ratings that were collected from real use; it fills the blind spots of the datasets.",
        "実際の利用で集めた評価の平均。評価セットでは見えない部分を補う。",
    ),
    module=Module.END_TO_END,
    basis=Basis.HUMAN,
    aspect=Aspect.TASK_COMPLETION,
    judge_task=None,
    dataset_types=(),  # collected from real use, not from cases
    prerequisites=(Prerequisite.FINISHED,),
)
