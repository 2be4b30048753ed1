"""What a language model's tokens cost."""

from __future__ import annotations

import msgspec


class ModelPrices(msgspec.Struct, frozen=True, rename="camel"):
    """Prices of a million tokens of one model."""

    input_per_million: float
    output_per_million: float


class Prices(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Prices of a million tokens; `by_model` comes before the prices for all other models."""

    input_per_million: float
    output_per_million: float
    currency: str = "USD"
    by_model: dict[str, ModelPrices] = {}
