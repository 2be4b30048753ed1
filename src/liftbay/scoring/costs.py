"""Money: the tokens of a trace at the prices of a table."""

from __future__ import annotations

from liftbay.domain.prices import Prices
from liftbay.domain.trace import EvalTrace

_MILLION = 1_000_000


def cost_of(trace: EvalTrace | None, prices: Prices | None) -> float | None:
    """The cost of one turn; None where prices or tokens are not known."""
    usage = trace.model if trace else None
    if prices is None or usage is None or (usage.input_tokens is None and usage.output_tokens is None):
        return None
    spent = (usage.input_tokens or 0) * prices.input_per_million + (
        usage.output_tokens or 0
    ) * prices.output_per_million
    return spent / _MILLION
