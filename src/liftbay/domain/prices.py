"""What a language model's tokens cost."""

from __future__ import annotations

import msgspec


class Prices(msgspec.Struct, frozen=True, rename="camel"):
    """Prices of a million tokens."""

    input_per_million: float
    output_per_million: float
    currency: str = "USD"
