"""short_term_retention_rate: what an earlier turn said is carried into the answer."""

from __future__ import annotations

from liftbay.domain.metric import Asks, Each, Metric, Prerequisite, Shown
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module

METRIC = Metric(
    id="short_term_retention_rate",
    name=Bilingual("Short-term retention rate", "短期記憶保持率"),
    definition=Bilingual(
        "Of the rounds that refer back, the share whose answer carries the subject and the constraints of the earlier "
        "turn, by meaning and not by letter. A hit of expectedContains may pass a round; a miss is no fail by itself "
        "but goes to the judge. The case passes when every such round is retained.",
        "以前のターンを参照するラウンドのうち、その話題と制約条件を回答が引き継いだ割合。字面ではなく意味で判定する。"
        "expectedContains に一致すれば合格としてよいが、一致しないだけでは不合格とせず、審判が判定する。"
        "該当するラウンドがすべて保持されていればケースは合格。",
    ),
    module=Module.MEMORY,
    basis=Basis.JUDGE,
    aspect=Aspect.CAPABILITY,
    judge_task=JudgeTask.CONVERSATION_MEMORY,
    dataset_types=(DatasetType.MULTI_TURN,),
    prerequisites=(Prerequisite.FINISHED,),
    asks=Asks(shows=(Shown.CONVERSATION,), each=Each.ROUND),
)
