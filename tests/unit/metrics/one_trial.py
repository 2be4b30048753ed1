"""Builds the evidence of one trial of a single-turn case."""

from __future__ import annotations

from typing import Any

from liftbay.domain.case import Case, ExpectedTool
from liftbay.domain.episode import Episode, Evidence, Fault, FaultKind, Turn
from liftbay.domain.trace import EvalTrace, Perception, Planning, ToolCallRecord
from liftbay.domain.vocabulary import DatasetType, Route

HIT, MISS = Route.SKILL_HIT, Route.SKILL_MISS
BLACK_BOX = None


def trial(trace: EvalTrace | None, *, answer: str = "answer", fault: FaultKind | None = None, **case: Any) -> Evidence:
    """A case with these expectations, and what its trace reported."""
    annotated = Case(id="1", dataset_type=case.pop("dataset_type", DatasetType.BASIC_FUNCTION), user_input="?", **case)
    turn = Turn(1, "?", answer, trace)
    return Evidence(annotated, Episode("s", [turn], fault=Fault(fault, "why", 1) if fault else None))


def perceived(*intents: str, skill: str | None = None, skill_hit: bool | None = None) -> EvalTrace:
    """A trace whose perception reports intents, and a Skill or that none was hit."""
    return EvalTrace(perception=Perception(skill_hit=skill_hit, skill=skill, intents=list(intents)))


def routed(route: Route | None) -> EvalTrace:
    """A trace whose planning took a route."""
    return EvalTrace(planning=Planning(route))


def called(*calls: ToolCallRecord) -> EvalTrace:
    """A trace that reports these tool calls."""
    return EvalTrace(tool_calls=list(calls))


def call(name: str, *, success: bool | None = True, **arguments: Any) -> ToolCallRecord:
    """A call that the agent made."""
    return ToolCallRecord(name, arguments, success)


def tool(name: str, **arguments: Any) -> ExpectedTool:
    """A call that is expected."""
    return ExpectedTool(name, arguments)
