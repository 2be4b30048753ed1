"""instruction_adherence_rate: the answer has the form that was asked for."""

from __future__ import annotations

from liftbay.domain.metric import Asks, Metric, Prerequisite, Shown
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module

METRIC = Metric(
    id="instruction_adherence_rate",
    name=Bilingual("Instruction adherence rate", "指示遵守率"),
    definition=Bilingual(
        "Does the answer respect the required form: its sections, the dimensions of analysis, tables?",
        "求められた形式（セクション構成、分析の観点、表など）を回答が守っているか。",
    ),
    module=Module.END_TO_END,
    basis=Basis.JUDGE,
    aspect=Aspect.TASK_COMPLETION,
    judge_task=JudgeTask.ANSWER_QUALITY,
    dataset_types=(DatasetType.BASIC_FUNCTION,),
    prerequisites=(Prerequisite.FINISHED,),
    asks=Asks(shows=(Shown.USER_INPUT, Shown.REFERENCE, Shown.ANSWER), may_not_apply=True),
)
