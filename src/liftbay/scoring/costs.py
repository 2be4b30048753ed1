"""Money: the tokens of a trace at the prices of a table."""

from __future__ import annotations

from liftbay.domain.prices import ModelPrices, Prices
from liftbay.domain.trace import EvalTrace, ModelTokens

_MILLION = 1_000_000


def cost_of(trace: EvalTrace | None, prices: Prices | None) -> float | None:
    """The cost of one turn; None where prices or tokens are not known.

    Tokens that the trace counts by model have that model's price; the rest has the price for all others.
    """
    usage = trace.model if trace else None
    if prices is None or usage is None or (usage.input_tokens is None and usage.output_tokens is None):
        return None
    spent, rest = 0.0, ModelTokens(0, usage.input_tokens, usage.output_tokens)
    for model, tokens in (usage.by_model or {}).items():
        if (own := prices.by_model.get(model)) is not None:
            spent += _spent(tokens, own)
            rest = _without(rest, tokens)
    return (spent + _spent(rest, prices)) / _MILLION


def _spent(tokens: ModelTokens, prices: ModelPrices | Prices) -> float:
    return (tokens.input_tokens or 0) * prices.input_per_million + (
        tokens.output_tokens or 0
    ) * prices.output_per_million


def _without(tokens: ModelTokens, part: ModelTokens) -> ModelTokens:
    return ModelTokens(
        tokens.calls,
        max(0, (tokens.input_tokens or 0) - (part.input_tokens or 0)),
        max(0, (tokens.output_tokens or 0) - (part.output_tokens or 0)),
    )
