"""A trial with its retries: a retry is a whole new trial in a new session, and only for execution faults."""

from __future__ import annotations

import asyncio

import msgspec

from liftbay.domain.case import Case
from liftbay.domain.episode import Episode
from liftbay.domain.result import RunRequest
from liftbay.engine.drive import drive
from liftbay.engine.instruments import NONE, Instruments
from liftbay.engine.pace import Pace
from liftbay.ports import Agent


async def attempt(
    agent: Agent, case: Case, trial: int, request: RunRequest, pace: Pace, instruments: Instruments = NONE
) -> Episode:
    """The episode of the first try that finished, or of the last."""
    tries = 0
    while True:
        tries += 1
        episode = await drive(
            agent,
            case,
            trial,
            turn_timeout=request.timeout,
            turn_settle=request.turn_settle,
            pace=pace,
            instruments=instruments,
        )
        fault = episode.fault
        if fault is None or not fault.retry_may_help or tries > request.retries:
            return msgspec.structs.replace(episode, tries=tries) if tries > 1 else episode
        if instruments.traces is not None:
            instruments.traces.forget(episode.session_id)
        await asyncio.sleep(request.retry_wait if fault.retry_after is None else fault.retry_after)
