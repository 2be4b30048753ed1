"""multi_turn_completion_rate: a conversation as a whole reached its goal."""

from __future__ import annotations

from liftbay.domain.metric import Asks, Metric, Prerequisite, Shown
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module

METRIC = Metric(
    id="multi_turn_completion_rate",
    name=Bilingual("Multi-turn completion rate", "多輪対話完了率"),
    definition=Bilingual(
        "One verdict for the whole conversation of 2–5 turns, never turn by turn: the intent is understood "
        "throughout, the context stays consistent and the task is achieved in the end. Losing context, asking again "
        "for what was confirmed and clinging to its own view against the user's correction fail it.",
        "2〜5 ターンの対話全体に対して 1 つの判定を下す（ターンごとには採点しない）。意図を一貫して理解し、"
        "文脈が矛盾せず、最後にタスクを達成していれば合格。文脈の喪失、確認済みの内容の聞き直し、"
        "訂正されても自説に固執することは不合格とする。",
    ),
    module=Module.END_TO_END,
    basis=Basis.JUDGE,
    aspect=Aspect.TASK_COMPLETION,
    judge_task=JudgeTask.CONVERSATION_MEMORY,
    dataset_types=(DatasetType.MULTI_TURN,),
    prerequisites=(Prerequisite.FINISHED,),
    asks=Asks(shows=(Shown.REFERENCE, Shown.CONVERSATION)),
)
