"""Send the turns of one trial and gather what came back."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any

import msgspec

from liftbay.domain.case import Case
from liftbay.domain.episode import Episode, Fault, FaultKind, Turn
from liftbay.domain.trace import EvalTrace
from liftbay.engine.instruments import NONE, Instruments
from liftbay.engine.pace import Pace
from liftbay.errors import AgentError, AgentProtocol, AgentTimeout, AgentUnreachable
from liftbay.ports import Agent, AgentInput, TrialTools
from liftbay.scoring.merged_trace import merged

_FIRST_STEP = 0.02  # seconds until an agent is asked again whether it has settled; doubles each time


async def drive(
    agent: Agent,
    case: Case,
    trial: int,
    *,
    turn_timeout: float,
    turn_settle: float,
    pace: Pace,
    instruments: Instruments = NONE,
) -> Episode:
    """One trial in a session of its own; `turn_timeout` (seconds) holds for each turn.

    An execution fault ends the trial and stands in the episode. Between turns of a conversation the agent gets
    `turn_settle` seconds to persist it, or less where it says that it has.
    """
    session_id = f"{random.getrandbits(128):032x}"
    turns: list[Turn] = []
    recorded: dict[str, Any] = {}
    with instruments.open_tools(session_id, case) as tools:
        for position, round_ in enumerate(case.rounds):
            traceparent = None if instruments.traces is None else instruments.traces.begin(session_id, round_.round)
            asked = AgentInput(
                session_id=session_id,
                case=case,
                trial=trial,
                round=round_.round,
                user_input=round_.user_input,
                earlier=tuple(turns),
                traceparent=traceparent,
                tools=tools,
                overrides=instruments.overrides_at(case, trial, turns),
            )
            turn = Turn(round=round_.round, user_input=round_.user_input, trace_id=_trace_id(traceparent))
            try:
                if position:
                    await _settled(agent, session_id, turn_settle)
                await pace.wait()
                begun = time.perf_counter()
                with instruments.inside(traceparent):
                    async with asyncio.timeout(turn_timeout):
                        answer = await agent.answer(asked)
                measured = (time.perf_counter() - begun) * 1000
            except (TimeoutError, AgentError) as error:
                until_then = error.trace if isinstance(error, AgentError) else None
                known = until_then if isinstance(until_then, EvalTrace) else None
                pace.used(known)
                turns.append(msgspec.structs.replace(turn, trace=_with_calls(known, tools)))
                return Episode(session_id, turns, fault=fault_of(error, position + 1, turn_timeout), recorded=recorded)
            recorded |= answer.recorded
            turns.append(
                msgspec.structs.replace(
                    turn,
                    answer=answer.text,
                    trace=_with_calls(answer.trace, tools),
                    response_latency_ms=answer.response_latency_ms if answer.replayed else measured,
                    time_to_first_token_ms=answer.time_to_first_token_ms,
                )
            )
            pace.used(answer.trace)
    return Episode(session_id, turns, recorded=recorded)


async def _settled(agent: Agent, session_id: str, seconds: float) -> None:
    """Wait until the agent says that the session is persisted, and at most so many seconds."""
    begun, step = time.perf_counter(), _FIRST_STEP
    while not await agent.settled(session_id):
        left = begun + seconds - time.perf_counter()
        if left <= 0:
            return
        await asyncio.sleep(min(step, left))
        step *= 2


def _trace_id(traceparent: str | None) -> str | None:
    """The second of the four fields of a W3C `traceparent`."""
    return None if traceparent is None else traceparent.split("-")[1]


def _with_calls(trace: EvalTrace | None, tools: TrialTools | None) -> EvalTrace | None:
    """The trace with the calls that went through the interceptor."""
    calls = tools.taken() if tools is not None else []
    return merged(trace, EvalTrace(tool_calls=calls)) if calls else trace


_KINDS = (
    (AgentTimeout, FaultKind.TIMEOUT),
    (AgentUnreachable, FaultKind.UNREACHABLE),
    (AgentProtocol, FaultKind.PROTOCOL),
)


def fault_of(error: TimeoutError | AgentError, turn: int, timeout: float) -> Fault:
    """The fault that an error of the agent is."""
    if isinstance(error, TimeoutError):
        return Fault(FaultKind.TIMEOUT, f"no answer within {timeout:g} s", turn, retry_may_help=True)
    kind = next((kind for known, kind in _KINDS if isinstance(error, known)), FaultKind.CRASH)
    return Fault(kind, str(error), turn, error.retry_may_help, getattr(error, "retry_after", None))
