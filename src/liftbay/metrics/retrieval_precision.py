"""retrieval_precision: how many of the retrieved chunks are relevant."""

from __future__ import annotations

from liftbay.domain.metric import Asks, Each, Metric, Prerequisite, Shown
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module

METRIC = Metric(
    id="retrieval_precision",
    name=Bilingual("Retrieval precision", "長期記憶検索適合率"),
    definition=Bilingual(
        "Relevant chunks / retrieved chunks; not applicable where none was retrieved. Relevance is generous: core "
        "content and the background needed to understand it count; only chunks unrelated to the business area do not.",
        "関連する断片 ÷ 検索された断片。1 件も検索されていなければ対象外。関連性は広く取り、"
        "核心となる内容に加えて理解に必要な背景も関連ありとする。業務領域と無関係な断片だけを関連なしとする。",
    ),
    module=Module.MEMORY,
    basis=Basis.JUDGE,
    aspect=Aspect.EFFECTIVENESS,
    judge_task=JudgeTask.RETRIEVAL,
    dataset_types=(DatasetType.KNOWLEDGE_QA,),
    prerequisites=(Prerequisite.FINISHED, Prerequisite.KNOWLEDGE_ROUTE, Prerequisite.RETRIEVAL_MADE),
    needs=("retrievals.chunks",),
    asks=Asks(shows=(Shown.USER_INPUT,), each=Each.CHUNK),
)
