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


class Shown(StrEnum):
    """A part of the evidence that a judge sees."""

    USER_INPUT = "user_input"
    HISTORY = "history"  # messages before the case, and earlier turns
    CONVERSATION = "conversation"  # every turn, input and answer
    ANSWER = "answer"
    REFERENCE = "reference"
    CHUNKS = "chunks"  # what retrieval returned
    TOOL_RESULTS = "tool_results"
    EXPECTED_INTENTS = "expected_intents"
    RECOGNISED_INTENTS = "recognised_intents"


class Each(StrEnum):
    """What a judge decides one by one, in one call."""

    CHUNK = "chunk"
    KNOWLEDGE_POINT = "knowledge_point"
    ROUND = "round"  # that refers back; keywords that are all there decide it without the judge


class Asks(msgspec.Struct, frozen=True, kw_only=True):
    """The question to a judge: what it sees, and whether it decides the case or its parts.

    The wording stands in `metrics/<id>.<language>.md`.
    """

    shows: tuple[Shown, ...]
    each: Each | None = None
    may_not_apply: bool = False  # the judge may say that there is nothing to decide


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
    asks: Asks | None = None  # None: no judge can say
