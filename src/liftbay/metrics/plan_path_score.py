"""plan_path_score: an expert's mark for the path taken."""

from __future__ import annotations

from liftbay.domain.metric import Metric, Prerequisite
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, Module

METRIC = Metric(
    id="plan_path_score",
    name=Bilingual("Plan path score", "計画パス評価スコア"),
    definition=Bilingual(
        "A domain expert scores the path that the agent took, from 1 to 5.",
        "エージェントが選んだ実行パスを、その分野の専門家が 1〜5 点で評価する。",
    ),
    module=Module.PLANNING,
    basis=Basis.HUMAN,
    aspect=Aspect.EFFECTIVENESS,
    judge_task=None,
    dataset_types=(DatasetType.BASIC_FUNCTION, DatasetType.KNOWLEDGE_QA),
    prerequisites=(Prerequisite.FINISHED,),
)
