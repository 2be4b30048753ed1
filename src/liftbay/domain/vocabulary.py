"""The fixed words: modules, dimensions, dataset types, routes, verdicts. Their values are the ids of the spec."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Bilingual(msgspec.Struct, frozen=True):
    """A text in both languages."""

    en: str
    ja: str


class Module(StrEnum):
    """What a figure is about: the whole agent, or one part of it."""

    END_TO_END = "end_to_end"
    PERCEPTION = "perception"
    PLANNING = "planning"
    MEMORY = "memory"
    TOOL = "tool"
    GENERATION = "generation"


class Dimension(StrEnum):
    """The three dimensions that every figure belongs to."""

    QUALITY = "quality"
    COST = "cost"
    PERFORMANCE = "performance"


class Aspect(StrEnum):
    """By what reports can group: the first four end to end, the others in a module (efficiency in both)."""

    TASK_COMPLETION = "task_completion"
    EFFICIENCY = "efficiency"
    COST = "cost"
    SAFETY_AND_ROBUSTNESS = "safety_and_robustness"
    CAPABILITY = "capability"
    EFFECTIVENESS = "effectiveness"


class Basis(StrEnum):
    """Who decides a metric."""

    JUDGE = "J"
    TRACE = "T"
    HUMAN = "H"
    TRACE_THEN_JUDGE = "T→J"  # from the trace where the case gives exact expectations, else a judge


class JudgeTask(StrEnum):
    """The six kinds of decision."""

    ANSWER_QUALITY = "ANSWER_QUALITY"
    FAITHFULNESS = "FAITHFULNESS"
    INTENT_ROUTE = "INTENT_ROUTE"
    TOOL_USE = "TOOL_USE"
    RETRIEVAL = "RETRIEVAL"
    CONVERSATION_MEMORY = "CONVERSATION_MEMORY"


class DatasetType(StrEnum):
    """The eight dataset types."""

    BASIC_FUNCTION = "BASIC_FUNCTION"
    KNOWLEDGE_QA = "KNOWLEDGE_QA"
    MULTI_TURN = "MULTI_TURN"
    ABNORMAL_INPUT = "ABNORMAL_INPUT"
    TOOL_CALL = "TOOL_CALL"
    MULTI_INTENT = "MULTI_INTENT"
    AMBIGUOUS_INTENT = "AMBIGUOUS_INTENT"
    LONG_DIALOGUE_DECAY = "LONG_DIALOGUE_DECAY"


class EvalMode(StrEnum):
    """Where tool results come from."""

    E2E_MOCK = "E2E_MOCK"
    E2E_REAL = "E2E_REAL"


class Route(StrEnum):
    """Whether a Skill takes the request or the knowledge base does."""

    SKILL_HIT = "SKILL_HIT"
    SKILL_MISS = "SKILL_MISS"


class VerdictStatus(StrEnum):
    """The outcome of one judge task."""

    PASS = "PASS"  # noqa: S105 - not a password
    FAIL = "FAIL"
    SCORE = "SCORE"  # a number, or a ratio n/m
    EXCLUDED = "EXCLUDED"  # a prerequisite failed upstream
    ERROR = "ERROR"  # the judge or the harness failed
    NOT_APPLICABLE = "NOT_APPLICABLE"
