"""Ask again where that may help: timeouts by count, busy or broken servers by a bound of their own."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from liftbay.errors import AgentError, AgentTimeout, AgentUnreachable

Answer = TypeVar("Answer")


class RetryPolicy(msgspec.Struct, frozen=True):
    """How often and how long to wait; times in seconds."""

    timeout_tries: int = 3  # tries on a timeout, in all
    timeout_wait: float = 2.0
    server_tries: int = 8  # tries on lost connections, 5xx and 429, in all; a timeout does not spend them
    backoff_first: float = 0.5  # doubles with each try, with up to a half at random on top
    backoff_longest: float = 30.0
    retry_after_longest: float = 600.0  # a server that asks for longer is asked again after this


async def with_retries(
    ask: Callable[[], Awaitable[Answer]],
    policy: RetryPolicy,
    on_retry: Callable[[AgentError], None] = lambda error: None,
) -> Answer:
    """The answer of `ask`, or the `AgentError` of its last try."""
    timeouts = server_faults = 0
    while True:
        try:
            return await ask()
        except AgentTimeout as error:
            trouble: AgentError = error
            timeouts += 1
            if timeouts >= policy.timeout_tries:
                raise
            wait = policy.timeout_wait
        except AgentUnreachable as error:
            trouble = error
            server_faults += 1
            if server_faults >= policy.server_tries:
                raise
            wait = _wait(error, server_faults, policy)
        on_retry(trouble)
        await asyncio.sleep(wait)


def _wait(error: AgentUnreachable, faults: int, policy: RetryPolicy) -> float:
    """What the server asked for, but never less than the backoff: clocks differ, and 0 asks for a storm."""
    asked = min(error.retry_after or 0.0, policy.retry_after_longest)
    backoff = min(policy.backoff_first * 2.0 ** (faults - 1), policy.backoff_longest)
    return max(asked, backoff * random.uniform(1, 1.5))  # noqa: S311 - spreads load, keeps no secret
