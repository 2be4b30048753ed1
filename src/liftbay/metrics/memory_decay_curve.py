"""memory_decay_curve: how retention falls as a dialogue grows longer."""

from __future__ import annotations

from liftbay.domain.metric import Asks, Each, Metric, Prerequisite, Shown
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module

METRIC = Metric(
    id="memory_decay_curve",
    name=Bilingual("Memory decay curve", "記憶減衰曲線"),
    definition=Bilingual(
        "Retention at each round that refers back (2nd, 3rd, 5th …), as a curve over the rounds and over the distance "
        "to the turn referred to; its mean is the rate. A hit of expectedContains may pass a round, a miss goes to "
        "the judge. The case passes when every such round is retained.",
        "以前のターンを参照する各ラウンド（2、3、5 ラウンド目など）での保持率を、"
        "ラウンド数と参照先までの距離に対する曲線で示す。その平均を率とする。expectedContains "
        "に一致すれば合格としてよく、一致しなければ審判が判定する。"
        "該当するラウンドがすべて保持されていればケースは合格。",
    ),
    module=Module.MEMORY,
    basis=Basis.JUDGE,
    aspect=Aspect.CAPABILITY,
    judge_task=JudgeTask.CONVERSATION_MEMORY,
    dataset_types=(DatasetType.LONG_DIALOGUE_DECAY,),
    prerequisites=(Prerequisite.FINISHED,),
    asks=Asks(shows=(Shown.CONVERSATION,), each=Each.ROUND),
)
