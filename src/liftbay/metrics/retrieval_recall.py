"""retrieval_recall: how many of the expected points of knowledge the answer covers."""

from __future__ import annotations

from liftbay.domain.metric import Asks, Each, Metric, Prerequisite, Shown
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module

METRIC = Metric(
    id="retrieval_recall",
    name=Bilingual("Retrieval recall", "長期記憶検索再現率"),
    definition=Bilingual(
        "Points of expectedKnowledge that the final answer covers / points expected; not applicable where the list is "
        "empty.",
        "最終回答がカバーした expectedKnowledge の知識ポイント ÷ 期待される知識ポイント。リストが空なら対象外。",
    ),
    module=Module.MEMORY,
    basis=Basis.JUDGE,
    aspect=Aspect.EFFECTIVENESS,
    judge_task=JudgeTask.RETRIEVAL,
    dataset_types=(DatasetType.KNOWLEDGE_QA,),
    prerequisites=(Prerequisite.FINISHED, Prerequisite.KNOWLEDGE_ROUTE, Prerequisite.RETRIEVAL_MADE),
    asks=Asks(shows=(Shown.USER_INPUT, Shown.ANSWER), each=Each.KNOWLEDGE_POINT),
)
