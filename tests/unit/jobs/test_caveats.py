"""What a run and a check say of figures that are not what they might seem."""

from __future__ import annotations

import pytest
from places import a_run, synchronous
from scripted import ScriptedAgent

from liftbay.domain.result import RunState
from liftbay.domain.spans import Span, SpanCounts
from liftbay.domain.trace import EvalTrace, ModelUsage
from liftbay.engine.instruments import NONE, Instruments
from liftbay.errors import AgentCrash
from liftbay.jobs.agent_check import AgentCheck, checked_agent
from liftbay.jobs.caveats import caveats, no_spans
from liftbay.jobs.prepare import with_version
from liftbay.mocks.interceptor import MockTools
from liftbay.ports import AgentAnswer, AgentInput, LoadingAgent, SpanOrigin
from liftbay.telemetry.assemble import trace_of
from liftbay.telemetry.collector import SpanCollector

NONE_ARRIVED = "no span arrived: does the agent export them to OTEL_EXPORTER_OTLP_ENDPOINT?"
NONE_BELONGS = "no span belongs to a turn: the agent has to go on with the traceparent of the request"


def collecting(agent: ScriptedAgent) -> Instruments:
    """Where spans of another process would come, for an agent that then has them asked for."""
    agent.spans = SpanOrigin.OTLP
    return Instruments(SpanCollector(trace_of, quiet=0.02, at_most=0.1))


def span(trace_id: str, **attributes: str) -> Span:
    """A span that arrives from somewhere."""
    return Span(trace_id, "1" * 16, "x", 1, 2, attributes=dict(attributes))


def exporting(instruments: Instruments, *, in_turn: bool, **attributes: str) -> ScriptedAgent:
    """An agent that sends one span, of the turn's trace or of another."""
    collector = instruments.traces
    assert isinstance(collector, SpanCollector)

    async def answer(turn: AgentInput) -> AgentAnswer:
        assert turn.traceparent is not None
        trace_id = turn.traceparent.split("-")[1] if in_turn else "f" * 32
        collector.accept([span(trace_id, **attributes)])
        return AgentAnswer(text="done")

    agent = ScriptedAgent(answer)
    agent.spans = SpanOrigin.OTLP
    return agent


async def checked(agent: ScriptedAgent, instruments: Instruments = NONE) -> AgentCheck:
    """What one call shows."""
    return await checked_agent(agent, "hello", 5.0, instruments)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (SpanCounts(), NONE_ARRIVED),
        (SpanCounts(received=3, foreign=3), NONE_BELONGS),
        (SpanCounts(received=3, foreign=2, repeated=1), NONE_BELONGS),
        (SpanCounts(received=3, used=3), ""),
        (SpanCounts(received=3, used=1, foreign=2), ""),
        (SpanCounts(received=3, late=3), ""),  # the line of the spans says it
    ],
)
def test_spans_that_are_missing_are_explained(counts: SpanCounts, said: str) -> None:
    assert [note.startswith(said) for note in no_spans(counts)] == ([True] if said else [])


class TestOneCall:
    @synchronous
    async def test_no_span(self) -> None:
        agent = ScriptedAgent("hi")
        found = await checked(agent, collecting(agent))
        assert (found.answer, found.trace, found.spans, found.fault) == ("hi", None, SpanCounts(), None)
        assert found.caveats == [NONE_ARRIVED]

    @synchronous
    async def test_spans_of_no_turn(self) -> None:
        instruments = Instruments(SpanCollector(trace_of, quiet=0.02, at_most=0.1))
        found = await checked(exporting(instruments, in_turn=False), instruments)
        assert found.spans == SpanCounts(received=1, foreign=1)
        assert found.caveats[0].startswith(NONE_BELONGS)

    @synchronous
    async def test_spans_that_nobody_can_read(self) -> None:
        instruments = Instruments(SpanCollector(trace_of, quiet=0.02, at_most=0.1))
        found = await checked(exporting(instruments, in_turn=True, **{"http.method": "GET"}), instruments)
        assert (found.spans, found.trace) == (SpanCounts(received=1, used=1), None)
        assert found.caveats == ["spans came, and none of them follows a convention that liftbay reads"]

    @synchronous
    async def test_spans_as_they_should_be(self) -> None:
        instruments = Instruments(SpanCollector(trace_of, quiet=0.02, at_most=0.1))
        found = await checked(exporting(instruments, in_turn=True, **{"liftbay.intent": "buy"}), instruments)
        assert found.trace is not None
        assert found.caveats == []

    @synchronous
    async def test_none_are_asked_for(self) -> None:
        found = await checked(ScriptedAgent(AgentAnswer(text="hi", trace=EvalTrace(model=ModelUsage(1)))))
        assert (found.spans, found.caveats) == (None, [])
        assert found.trace == EvalTrace(model=ModelUsage(1))
        assert found.response_latency_ms is not None

    @synchronous
    async def test_a_fault(self) -> None:
        found = await checked(ScriptedAgent(AgentCrash("the agent raised {why}", why="X")))
        assert (found.answer, found.fault, found.response_latency_ms) == (None, "the agent raised X", None)


def test_tools_that_were_not_loaded() -> None:
    class Loading(ScriptedAgent):
        load_faults = {"hotels": "gone"}  # noqa: RUF012 - as an instance would have it

    assert isinstance(Loading(), LoadingAgent)
    assert not isinstance(ScriptedAgent(), LoadingAgent)
    assert list(caveats(Loading(), NONE)) == ["the tools of hotels could not be loaded: gone"]


def test_calls_of_no_trial() -> None:
    tools = MockTools({})
    assert list(caveats(ScriptedAgent(), Instruments(None, tools))) == []
    tools.refuse()
    tools.refuse()
    (note,) = caveats(ScriptedAgent(), Instruments(None, tools))
    assert note.startswith("tool calls that belonged to no open trial, and are in no figure: 2; ")


class TestVersion:
    """The version of the agent that is recorded."""

    @staticmethod
    def agent(version: str | None) -> ScriptedAgent:
        """An agent of this version."""
        agent = ScriptedAgent()
        agent.version = version
        return agent

    def test_that_of_the_agent_as_it_was_started(self) -> None:
        before = a_run(agent_version="file", state=RunState.SUBMITTED)
        found = with_version(before, self.agent("live"))
        assert (found.agent_version, found.warnings) == ("live", [])

    def test_the_same_on_a_resume(self) -> None:
        before = a_run(agent_version="1", started="2026-11-30T00:00:00Z", warnings=["old"])
        assert with_version(before, self.agent("1")) == before

    @pytest.mark.parametrize(
        ("before", "after", "said"), [("1", "2", "1 → 2"), (None, "2", "- → 2"), ("1", None, "1 → -")]
    )
    def test_another_on_a_resume_is_a_warning(self, before: str | None, after: str | None, said: str) -> None:
        run = a_run(agent_version=before, started="2026-11-30T00:00:00Z", warnings=["old"])
        found = with_version(run, self.agent(after))
        assert found.agent_version == before
        assert found.warnings == ["old", f"the agent's version changed during the run: {said}"]
        assert with_version(found, self.agent(after)) == found, "said once, however often it is resumed"
