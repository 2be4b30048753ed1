"""The spans of a trial put beside what its answers said."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import pytest
from places import synchronous

from liftbay.domain.episode import Episode, Turn
from liftbay.domain.spans import Span, SpanCounts
from liftbay.domain.trace import EvalTrace, ModelUsage, Planning, ToolCallRecord
from liftbay.domain.vocabulary import Route
from liftbay.engine.collect import collect
from liftbay.ports import TraceSource, TurnSpans


class Source:
    """Gives what it was told to."""

    endpoint: str | None = None
    counts = SpanCounts()

    def __init__(self, *turns: TurnSpans) -> None:
        self._turns = list(turns)
        self.asked: list[str] = []

    def begin(self, session_id: str, round_: int) -> str:
        """Nothing begins here."""
        raise AssertionError

    def inside(self, traceparent: str) -> AbstractContextManager[None]:
        """Nothing is made here."""
        return nullcontext()

    async def collect(self, session_id: str) -> list[TurnSpans]:
        """What there is."""
        self.asked.append(session_id)
        return self._turns

    def forget(self, session_id: str) -> None:
        """Nothing is kept."""

    async def close(self) -> None:
        """Nothing is open."""


def span(trace_id: str, name: str) -> Span:
    """A span."""
    return Span(trace_id, name, name, 1, 2)


def episode(*traces: EvalTrace | None) -> Episode:
    """A trial whose turns had these traces in their answers."""
    turns = [Turn(number, "?", "answer", trace, trace_id=f"t{number}") for number, trace in enumerate(traces, 1)]
    return Episode("session", turns, tries=2, recorded={"reward": 1})


@synchronous
async def test_what_spans_say_outranks_the_answer_and_the_answer_fills_the_gaps() -> None:
    said = EvalTrace(planning=Planning(Route.SKILL_MISS), model=ModelUsage(calls=1))
    seen = EvalTrace(planning=Planning(Route.SKILL_HIT), tool_calls=[ToolCallRecord("find")])
    source: TraceSource = Source(TurnSpans(seen, [span("t1", "a")]))
    (turn,) = (await collect(episode(said), source)).turns
    assert turn.trace == EvalTrace(
        planning=Planning(Route.SKILL_HIT), tool_calls=[ToolCallRecord("find")], model=ModelUsage(calls=1)
    )


@synchronous
async def test_each_turn_gets_its_own_and_the_trial_keeps_all_spans() -> None:
    first, second = EvalTrace(model=ModelUsage(calls=1)), EvalTrace(model=ModelUsage(calls=2))
    spans = [span("t1", "a"), span("own", "b"), span("own", "c")]
    source = Source(TurnSpans(first, spans[:1]), TurnSpans(second, spans[1:]))
    before = episode(None, None)
    after = await collect(before, source)
    assert [turn.trace for turn in after.turns] == [first, second]
    assert [turn.trace_id for turn in after.turns] == ["t1", "own"], "the agent began a trace of its own"
    assert (after.spans, after.tries, after.recorded, source.asked) == (spans, 2, {"reward": 1}, ["session"])
    assert before.turns[0].trace is None


@pytest.mark.parametrize("found", [[], [TurnSpans(None, [])]], ids=["nothing", "an empty turn"])
@synchronous
async def test_without_spans_the_answer_stands(found: list[TurnSpans]) -> None:
    before = episode(EvalTrace(tool_calls=[]), None)
    assert await collect(before, Source(*found)) == before


@synchronous
async def test_spans_that_no_dialect_reads_are_kept_without_a_trace() -> None:
    after = await collect(episode(None), Source(TurnSpans(None, [span("t1", "GET /")])))
    assert (after.turns[0].trace, len(after.spans)) == (None, 1)


@synchronous
async def test_more_turns_of_spans_than_of_answers_are_no_turns() -> None:
    seen = TurnSpans(EvalTrace(tool_calls=[]), [span("t1", "a")])
    after = await collect(episode(None), Source(seen, seen))
    assert len(after.turns) == 1
