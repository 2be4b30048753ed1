"""The shape of many values in few bars."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

_BARS = 24


class Histogram(msgspec.Struct, frozen=True, rename="camel"):
    """Counts in bars of one width from `low`; what lies above the 99th percentile is in the last."""

    low: float
    width: float
    counts: list[int]


def histogram(values: Sequence[float], p99: float | None) -> Histogram | None:
    """The histogram of the values, or None where there are none or all are alike."""
    if not values or p99 is None:
        return None
    low = min(values)
    width = (p99 - low) / _BARS
    if width <= 0:
        return None
    counts = [0] * _BARS
    for value in values:
        counts[min(int((value - low) / width), _BARS - 1)] += 1
    return Histogram(low, width, counts)
