"""What a request may put in the place of a module's output, to test the others by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from liftbay_demo.domain import (
    KNOWLEDGE_QA,
    Chunk,
    Kind,
    Message,
    Outcome,
    Perceived,
    Plan,
    Request,
    Route,
    Step,
    ToolCall,
)
from liftbay_demo.perception.mentions import together
from liftbay_demo.tools.skills import Skill


class GivenChunk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A passage in place of what the search finds."""

    content: str
    id: str = ""
    score: float = 1.0


class GivenResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a call of the tool comes to."""

    name: str
    result: Any = None
    error: str | None = None


class Overrides(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Each replaces the output of one module for one request; what is absent is left to the module."""

    intents: list[str] | None = None
    skill: str | None = None
    route: Route | None = None
    history: list[Message] | None = None
    chunks: list[GivenChunk] | None = None
    tool_calls: list[ToolCall] | None = None
    tool_results: list[GivenResult] | None = None


class Results:
    """The given results, each used once: by name, in their order."""

    def __init__(self, given: Sequence[GivenResult] | None) -> None:
        self._left = list(given or ())

    def take(self, call: ToolCall) -> Outcome | None:
        """The outcome of the call, where one is given."""
        for one in self._left:
            if one.name == call.name:
                self._left.remove(one)
                return Outcome(call, one.result, one.error)
        return None


def chunks(given: Sequence[GivenChunk]) -> list[Chunk]:
    """The given passages as found ones."""
    return [Chunk(one.id, one.content, one.score) for one in given]


def relabelled(message: str, perceived: Perceived, intents: Sequence[str], skills: Mapping[str, Skill]) -> Perceived:
    """The message, understood as these intents."""
    left = list(perceived.requests)
    mentions = together(request.mentions for request in perceived.requests)
    requests = []
    for intent in intents:
        same = next((one for one in left if one.intent == intent and (one.skill is None or intent in skills)), None)
        if same is not None:
            left.remove(same)
            requests.append(same)
            continue
        skill = intent if intent in skills else None
        kind = Kind.SKILL if skill else Kind.KNOWLEDGE
        follows = any(request.follows for request in perceived.requests)
        label = intent if skill else KNOWLEDGE_QA
        requests.append(Request(message, kind, label, skill, intent, mentions, follows))
    return Perceived(tuple(requests), perceived.instruction_ignored) if requests else perceived


def with_skill(perceived: Perceived, skill: str) -> Perceived:
    """The message with this Skill for its first request."""
    first, *others = perceived.requests
    changed = Request(first.text, Kind.SKILL, first.intent, skill, skill, first.mentions, first.follows)
    return Perceived((changed, *others), perceived.instruction_ignored)


def routed(perceived: Perceived, route: Route) -> Perceived:
    """The message, with all that takes this route: the closest Skill, or none."""
    if route is Route.SKILL_MISS:
        return Perceived(
            tuple(
                Request(one.text, Kind.KNOWLEDGE, one.intent, None, one.nearest, one.mentions) if one.skill else one
                for one in perceived.requests
            ),
            perceived.instruction_ignored,
        )
    if any(one.skill for one in perceived.requests):
        return perceived
    first = perceived.requests[0]
    return with_skill(perceived, first.nearest) if first.nearest else perceived


def with_calls(plan: Plan, calls: Sequence[ToolCall], skills: Mapping[str, Skill]) -> Plan:
    """The plan with these calls, each in the step of the Skill that has the tool."""
    steps = [_with(step, ()) for step in plan.steps]
    for call in calls:
        at = next((index for index, step in enumerate(steps) if _has(step, call, skills)), None)
        at = at if at is not None else next((index for index, step in enumerate(steps) if step.skill), 0)
        steps[at] = _with(steps[at], (*steps[at].calls, call))
    return msgspec.structs.replace(plan, steps=tuple(steps), store_results=bool(calls))


def _has(step: Step, call: ToolCall, skills: Mapping[str, Skill]) -> bool:
    skill = skills.get(step.skill or "")
    return skill is not None and call.name in skill.tools


def _with(step: Step, calls: tuple[ToolCall, ...]) -> Step:
    if calls:
        return msgspec.structs.replace(step, calls=calls, missing=(), malformed=())
    return msgspec.structs.replace(step, calls=())
