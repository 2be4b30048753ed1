"""A finished trial as the rules look at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import msgspec

from liftbay.diagnosis.overlap import folded, held, words_of
from liftbay.domain.episode import Turn
from liftbay.domain.result import CaseResult, Outcome
from liftbay.domain.trace import Chunk, ToolCallRecord, ToolLoad
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import Route
from liftbay.scoring.outcomes import outcome_of

KNOWN = 0.6  # the share of a point's words from which on a text is taken to hold it


class View:
    """Reads off a trial what several rules ask; None stands for what was not reported or not annotated."""

    def __init__(self, result: CaseResult) -> None:
        self.result = result
        self.case = result.case
        self.turns = result.episode.turns

    @cached_property
    def failed(self) -> dict[str, Verdict]:
        """The verdicts that fall short, by metric; what measures a mock is the case's, not the agent's."""
        return {
            verdict.metric: verdict
            for verdict in self.result.verdicts
            if outcome_of(verdict) is Outcome.FAILED
            and not (isinstance(verdict.actual, dict) and verdict.actual.get("mocked"))
        }

    @cached_property
    def traced(self) -> bool:
        """Whether any turn says what happened inside the agent."""
        return any(turn.trace is not None for turn in self.turns)

    @cached_property
    def intents(self) -> list[str] | None:
        """The intents of the last turn."""
        trace = self.turns[-1].trace if self.turns else None
        return trace.perception.intents if trace and trace.perception else None

    @cached_property
    def intent_right(self) -> bool | None:
        """Whether the first intent is the expected one."""
        if self.case.expected_intent is None or self.intents is None:
            return None
        return self.intents[:1] == [self.case.expected_intent]

    @cached_property
    def route(self) -> Route | None:
        """The route of the last turn."""
        trace = self.turns[-1].trace if self.turns else None
        return trace.planning.route if trace and trace.planning else None

    @cached_property
    def route_right(self) -> bool | None:
        """Whether the expected route was taken."""
        if self.case.expected_route is None or self.route is None:
            return None
        return self.route is self.case.expected_route

    @cached_property
    def decision(self) -> str:
        """What the planning said that it decided, in all turns."""
        traces = (turn.trace for turn in self.turns)
        return "; ".join(trace.planning.decision or "" for trace in traces if trace and trace.planning)

    @cached_property
    def loads(self) -> list[ToolLoad]:
        """All that was loaded or failed to."""
        return [load for turn in self.turns if turn.trace for load in turn.trace.tool_loads or ()]

    @cached_property
    def skills(self) -> set[str]:
        """The Skills that the agent has, or should have."""
        return {load.name for load in self.loads if load.kind == "skill"}

    @cached_property
    def calls(self) -> list[ToolCallRecord]:
        """The calls of all turns."""
        return [call for turn in self.turns for call in calls_of(turn)]

    @cached_property
    def wanted(self) -> set[str]:
        """The Skills that the case is for, as far as it says; a scene may be named after one."""
        named = {self.case.expected_skill, self.case.expected_intent, *(self.case.expected_intents or ())}
        if self.case.scene_code in self.skills and not named & self.skills:
            named.add(self.case.scene_code)
        return {name for name in named if name is not None}

    def earlier_texts(self, turn: Turn) -> Iterator[str]:
        """All that was said, or found, before a turn."""
        for message in self.case.history:
            yield message.content or ""
        for other in self.turns:
            if other.round >= turn.round:
                break
            yield other.user_input
            yield other.answer or ""
            for call in calls_of(other):
                yield text_of(call.result)


def calls_of(turn: Turn) -> list[ToolCallRecord]:
    """The calls of a turn."""
    return (turn.trace.tool_calls or []) if turn.trace else []


def chunks_of(turn: Turn) -> list[Chunk] | None:
    """What retrieval returned in a turn; None where none ran or its content is not reported."""
    retrievals = (turn.trace.retrievals if turn.trace else None) or []
    found = [chunk for one in retrievals for chunk in one.chunks or ()]
    if found or any(one.chunks is not None or one.count == 0 for one in retrievals):
        return found
    return None


def least_held(points: Iterable[str], texts: Iterable[str]) -> float | None:
    """How much the texts hold of the point that they hold least of."""
    sources = list(texts)
    shares = [share for point in points if (share := held(point, sources)) is not None]
    return min(shares, default=None)


def text_of(value: Any) -> str:
    """A value as one text."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def taken_for_a_skill(view: View, turn: Turn) -> bool | None:
    """Whether the message was understood as one for a Skill; None where labels or Skills are not reported."""
    perceived = turn.trace.perception if turn.trace else None
    if not view.skills or perceived is None or perceived.intents is None:
        return None
    return bool(set(perceived.intents) & view.skills)


def figures_held(reference: str | None, turn: Turn, texts: Iterable[str]) -> float | None:
    """The share of the reference's numbers and Latin names that the texts hold, beside what the user said.

    None where the reference has none.
    """
    said = words_of(turn.user_input)
    figures = {word for word in words_of(reference or "") - said if word.isascii() and len(word) > 1}
    if not figures:
        return None
    return len(figures & set().union(*map(words_of, texts))) / len(figures)


def gathered_in(turn: Turn) -> list[str]:
    """All that the turn looked up: results of calls, and passages."""
    return [text_of(call.result) for call in calls_of(turn)] + [chunk.content for chunk in chunks_of(turn) or ()]


def stands_in(value: Any, texts: Iterable[str]) -> bool:
    """Whether a value stands in one of the texts, whatever its width and case."""
    needle = folded(text_of(value))
    return bool(needle) and any(needle in folded(text) for text in texts)
