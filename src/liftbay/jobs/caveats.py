"""What a reader of a run's figures should know of how they came about."""

from __future__ import annotations

from collections.abc import Iterator

from liftbay.domain.spans import SpanCounts
from liftbay.engine.instruments import Instruments
from liftbay.language import tr
from liftbay.ports import Agent, LoadingAgent, SpanOrigin


def caveats(agent: Agent, instruments: Instruments) -> Iterator[str]:
    """One text each, of turns that have been asked."""
    if instruments.traces is not None and agent.spans is SpanOrigin.OTLP:
        yield from no_spans(instruments.traces.counts)
    if isinstance(agent, LoadingAgent):
        for name, why in agent.load_faults.items():
            yield tr("the tools of {name} could not be loaded: {why}", name=name, why=why)
    if instruments.tools is not None and (count := instruments.tools.unassigned):
        yield tr(
            "tool calls that belonged to no open trial, and are in no figure: {count}; where several trials run at "
            "once, a call has to go to the mcpEndpoint or mockEndpoint of its turn, or to go on with its traceparent",
            count=count,
        )


def no_spans(counts: SpanCounts) -> Iterator[str]:
    """Why no turn has a span, where none has one that came in time."""
    if not counts.received:
        yield tr("no span arrived: does the agent export them to OTEL_EXPORTER_OTLP_ENDPOINT?")
    elif counts.received == counts.foreign + counts.repeated:
        yield tr(
            "no span belongs to a turn: the agent has to go on with the traceparent of the request, or to name the "
            "session in gen_ai.conversation.id or session.id"
        )
