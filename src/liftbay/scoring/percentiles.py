"""Means and percentiles of measured values."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

PERCENTILES = (50, 90, 95, 99)


class Distribution(msgspec.Struct, frozen=True):
    """Mean and percentiles of `n` values; all None where there is none: not reported, never zero."""

    mean: float | None
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    n: int


def distribution(values: Sequence[float]) -> Distribution:
    """The distribution of the values; percentiles by linear interpolation between the closest ranks."""
    if not values:
        return Distribution(None, None, None, None, None, 0)
    ordered = sorted(values)
    p50, p90, p95, p99 = (_percentile(ordered, percent) for percent in PERCENTILES)
    return Distribution(sum(ordered) / len(ordered), p50, p90, p95, p99, len(ordered))


def _percentile(ordered: Sequence[float], percent: int) -> float:
    position = percent / 100 * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
