"""Reads parts of an EvalTrace that several metrics need; None or False stands for what was not reported."""

from __future__ import annotations

from liftbay.domain.episode import Evidence
from liftbay.domain.trace import ToolCallRecord
from liftbay.domain.vocabulary import Route


def intents(evidence: Evidence) -> list[str] | None:
    """The intents that the agent recognised."""
    perception = evidence.trace.perception if evidence.trace else None
    return perception.intents if perception else None


def skill_reported(evidence: Evidence) -> bool:
    """Whether the trace says which Skill was hit, or that none was."""
    perception = evidence.trace.perception if evidence.trace else None
    return perception is not None and (perception.skill is not None or perception.skill_hit is False)


def skill_hit(evidence: Evidence) -> str | None:
    """The Skill that was hit; None where none was."""
    perception = evidence.trace.perception if evidence.trace else None
    return perception.skill if perception and perception.skill_hit is not False else None


def route(evidence: Evidence) -> Route | None:
    """The route that was taken."""
    planning = evidence.trace.planning if evidence.trace else None
    return planning.route if planning else None


def tool_calls(evidence: Evidence) -> list[ToolCallRecord] | None:
    """The calls that the agent made."""
    return evidence.trace.tool_calls if evidence.trace else None
