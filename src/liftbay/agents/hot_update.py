"""How long a changed Skill takes until it is in effect.

Measured is the time from the moment when the hook's request is sent to the moment when the first turn *starts* whose
trace carries the published version (`perception.skillVersion`; `liftbay.skill.version` on a span). A turn is started
every 50 ms, each in a session of its own, whether or not those before it have their traces: waiting for late spans
would make the steps long. So the figure is

- too high by at most the time between the starts of two turns, 50 ms where the agent keeps up;
- too low by at most the time from the start of that turn until it looks for the Skill.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable

from liftbay.domain.trace import EvalTrace
from liftbay.errors import AgentError

_STEP = 0.05  # seconds between the starts of two turns
_MOST_UNDER_WAY = 40
_LIMIT = 30.0  # seconds from publishing until nobody waits any more

Ask = Callable[[str], Awaitable[EvalTrace | None]]
Publish = Callable[[str], Awaitable[None]]


async def measure(
    publish: Publish, user_input: str, ask: Ask, *, step: float = _STEP, limit: float = _LIMIT
) -> float | None:
    """Publish a Skill in a version that is new and ask until it is in effect; the time in milliseconds.

    `publish` calls the hook with the version. `ask` sends `user_input` as one turn in a new session and returns its
    trace, what its spans say included. None where a turn has no trace at all, or the version does not show within
    `limit` seconds. Raises `AgentError` where the hook fails, or a turn does and another try would not help.
    """
    version = f"liftbay-{secrets.token_hex(8)}"
    published = time.perf_counter()
    await publish(version)
    turns: deque[tuple[float, asyncio.Task[EvalTrace | None]]] = deque()  # that may still carry it, in their order
    try:
        async with asyncio.timeout(published + limit - time.perf_counter()):
            while True:
                if len(turns) < _MOST_UNDER_WAY:
                    turns.append((time.perf_counter(), asyncio.create_task(_asked(ask, user_input))))
                await asyncio.wait([turns[-1][1]], timeout=step)
                while turns and turns[0][1].done():
                    started, turn = turns.popleft()
                    trace = turn.result()
                    if trace is None:
                        return None
                    if trace.perception is not None and trace.perception.skill_version == version:
                        return (started - published) * 1000
                if not turns:
                    await asyncio.sleep(step)
    except TimeoutError:
        return None
    finally:
        for _, turn in turns:
            turn.cancel()
        await asyncio.gather(*(turn for _, turn in turns), return_exceptions=True)


async def _asked(ask: Ask, user_input: str) -> EvalTrace | None:
    """The trace of one turn; an empty one where the agent is too busy with the update to answer."""
    try:
        return await ask(user_input)
    except AgentError as error:
        if error.retry_may_help:
            return EvalTrace()
        raise
