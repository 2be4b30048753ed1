"""One call to an agent, to see what it gives."""

from __future__ import annotations

import msgspec

from liftbay.domain.case import Case
from liftbay.domain.spans import SpanCounts
from liftbay.domain.trace import EvalTrace
from liftbay.domain.vocabulary import DatasetType
from liftbay.engine.collect import collect
from liftbay.engine.drive import drive
from liftbay.engine.instruments import Instruments
from liftbay.engine.pace import Pace
from liftbay.jobs.caveats import caveats
from liftbay.language import tr
from liftbay.ports import Agent


class AgentCheck(msgspec.Struct, frozen=True, rename="camel"):
    """What one call showed; times in milliseconds."""

    agent: str
    version: str | None
    user_input: str
    answer: str | None
    fault: str | None  # why there is no answer
    response_latency_ms: float | None
    time_to_first_token_ms: float | None
    trace: EvalTrace | None
    spans: SpanCounts | None  # None: none were asked for
    caveats: list[str]  # why something may be missing


async def checked_agent(agent: Agent, user_input: str, seconds: float, instruments: Instruments) -> AgentCheck:
    """Ask once, for real: nothing is mocked. The answer may take so many `seconds`."""
    case = Case(id="check", dataset_type=DatasetType.BASIC_FUNCTION, user_input=user_input)
    episode = await drive(agent, case, 1, turn_timeout=seconds, turn_settle=0, pace=Pace(), instruments=instruments)
    if instruments.traces is not None:
        episode = await collect(episode, instruments.traces)
    turn = episode.turns[-1]
    notes = list(caveats(agent, instruments))
    if turn.trace is None and episode.spans:
        notes.append(tr("spans came, and none of them follows a convention that liftbay reads"))
    return AgentCheck(
        agent.name,
        agent.version,
        user_input,
        turn.answer,
        None if episode.fault is None else episode.fault.message,
        turn.response_latency_ms,
        turn.time_to_first_token_ms,
        turn.trace,
        None if instruments.traces is None else instruments.traces.counts,
        notes,
    )
