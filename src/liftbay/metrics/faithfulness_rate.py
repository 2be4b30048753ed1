"""faithfulness_rate: the answer stays with what the agent saw; the hallucination rate is 1 minus it."""

from __future__ import annotations

from liftbay.domain.metric import Asks, Metric, Prerequisite, Shown
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module

METRIC = Metric(
    id="faithfulness_rate",
    name=Bilingual("Faithfulness rate", "忠実度・ハルシネーション率"),
    definition=Bilingual(
        "Does the answer stay with what the agent saw: retrieved chunks, tool results, earlier turns? Only faithful "
        "transcription is judged, not whether the source is true. Summaries and explanations drawn from the context "
        "are faithful; invented names of interfaces, functions or settings, and statements that contradict the "
        "context, are hallucinations. The hallucination rate is 1 minus this rate.",
        "検索された断片、ツールの結果、それまでのターンなど、エージェントが見た内容に回答が忠実か。"
        "判定するのは転記の忠実さだけで、情報源の正しさは問わない。文脈に基づく要約や補足説明は忠実とみなし、"
        "存在しないインターフェース名・関数名・設定項目の捏造や、文脈と矛盾する記述はハルシネーションとする。"
        "ハルシネーション率は 1 からこの率を引いた値。",
    ),
    module=Module.END_TO_END,
    basis=Basis.JUDGE,
    aspect=Aspect.SAFETY_AND_ROBUSTNESS,
    judge_task=JudgeTask.FAITHFULNESS,
    dataset_types=(DatasetType.KNOWLEDGE_QA,),
    prerequisites=(Prerequisite.FINISHED, Prerequisite.KNOWLEDGE_ROUTE),
    needs=("retrievals.chunks",),
    asks=Asks(shows=(Shown.USER_INPUT, Shown.HISTORY, Shown.CHUNKS, Shown.TOOL_RESULTS, Shown.ANSWER)),
)
