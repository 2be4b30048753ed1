"""How fast a run may ask: requests and tokens a minute, and the budget that ends it."""

from __future__ import annotations

import asyncio
import time

from liftbay.domain.prices import Prices
from liftbay.domain.trace import EvalTrace
from liftbay.scoring.costs import cost_of


class Pace:
    """Spreads requests evenly over the minute and holds them back while tokens are spent.

    Tokens are known only after an answer, so the tokens of one answer delay the next requests. An agent that
    reports no tokens cannot be held to a limit of tokens.
    """

    def __init__(
        self,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        prices: Prices | None = None,
    ) -> None:
        self._request_gap = 60 / requests_per_minute if requests_per_minute else 0.0
        self._token_gap = 60 / tokens_per_minute if tokens_per_minute else 0.0
        self._max_tokens = max_tokens
        self._max_cost = max_cost
        self._prices = prices
        self._next_request = 0.0
        self._tokens_paid = 0.0
        self.tokens = 0
        self.cost = 0.0

    @property
    def exhausted(self) -> str | None:
        """Which budget is spent, in words, if one is."""
        if self._max_tokens is not None and self.tokens >= self._max_tokens:
            return f"the budget of {self._max_tokens} tokens is spent"
        if self._max_cost is not None and self.cost >= self._max_cost:
            return f"the budget of {self._max_cost:g} is spent"
        return None

    async def wait(self) -> None:
        """Wait until the next request may go."""
        if not self._request_gap and not self._token_gap:
            return
        now = time.monotonic()
        start = max(now, self._next_request, self._tokens_paid)
        self._next_request = start + self._request_gap
        if start > now:
            await asyncio.sleep(start - now)

    def used(self, trace: EvalTrace | None) -> None:
        """Count what one answer cost."""
        usage = trace.model if trace else None
        if usage is None:
            return
        tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
        self.tokens += tokens
        self.cost += cost_of(trace, self._prices) or 0.0
        if self._token_gap:
            self._tokens_paid = max(time.monotonic(), self._tokens_paid) + tokens * self._token_gap
