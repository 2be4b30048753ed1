"""What a metric is: its header, as data, and how it decides where the trace is enough."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import msgspec

from liftbay.domain.episode import Evidence
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module


class Prerequisite(StrEnum):
    """What must have gone right upstream before a metric says anything."""

    FINISHED = "finished"  # the trial ended without an execution fault
    KNOWLEDGE_ROUTE = "knowledge_route"  # not: expected SKILL_MISS and routed SKILL_HIT
    RETRIEVAL_MADE = "retrieval_made"
    EXPECTED_TOOL_CALLED = "expected_tool_called"
    CALL_MADE = "call_made"


# None: the trace alone does not decide, a judge must.
Decide = Callable[[Evidence], Verdict | None]


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A quality metric. `decide` is None where only a judge or a person can say."""

    id: str
    name: Bilingual
    definition: Bilingual
    module: Module
    basis: Basis
    aspect: Aspect
    judge_task: JudgeTask | None
    dataset_types: tuple[DatasetType, ...]  # empty: any trace that reports what it needs
    prerequisites: tuple[Prerequisite, ...]
    needs: tuple[str, ...] = ()  # the parts of the trace without which it is not applicable
    decide: Decide | None = None
