"""task_completion_rate: the task that the user gave was completed."""

from __future__ import annotations

from liftbay.domain.metric import Asks, Metric, Prerequisite, Shown
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module

METRIC = Metric(
    id="task_completion_rate",
    name=Bilingual("Task completion rate", "タスク完了率"),
    definition=Bilingual(
        "Was the task that the user gave completed? Judged on meaning: it passes when no core information of the "
        "reference is missing, whatever the wording. The north-star metric.",
        "ユーザーの依頼が完了したか。文言の一致ではなく意味で判定し、"
        "参照出力の核心となる情報が欠けていなければ合格とする。評価全体の指針となる最重要の指標。",
    ),
    module=Module.END_TO_END,
    basis=Basis.JUDGE,
    aspect=Aspect.TASK_COMPLETION,
    judge_task=JudgeTask.ANSWER_QUALITY,
    dataset_types=(DatasetType.BASIC_FUNCTION, DatasetType.KNOWLEDGE_QA),
    prerequisites=(Prerequisite.FINISHED,),
    asks=Asks(shows=(Shown.USER_INPUT, Shown.HISTORY, Shown.REFERENCE, Shown.TOOL_RESULTS, Shown.ANSWER)),
)
