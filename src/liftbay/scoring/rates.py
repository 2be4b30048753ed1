"""Rates with 95 % intervals that know that cases of one conversation are not independent."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

CONFIDENCE = 0.95


class Rate(msgspec.Struct, frozen=True):
    """A share of passes: `value` in 0..1 (None where n is 0), its interval, and the number of observations."""

    value: float | None
    low: float | None
    high: float | None
    n: int


def clustered_rate(clusters: Iterable[tuple[int, int]]) -> Rate:
    """The pooled rate over clusters of (passes, observations), with a 95 % interval that respects the clusters.

    Wilson's score interval (Wilson 1927) with the effective sample size n / deff, as Korn and Graubard (1998) do
    for Clopper-Pearson: deff is the linearised (ratio estimator) variance between clusters over the binomial
    variance, never below 1, and the quantile is Student's t with one degree of freedom less than there are
    clusters. Where every observation agrees the variance says nothing, and the number of clusters is taken as the
    effective size. One cluster alone tells nothing about others: its interval is 0..1.
    """
    pairs = [(passes, size) for passes, size in clusters if size]
    n = sum(size for _, size in pairs)
    if not n:
        return Rate(None, None, None, 0)
    value = sum(passes for passes, _ in pairs) / n
    count = len(pairs)
    if count == 1:
        return Rate(value, 0.0, 1.0, n)
    low, high = _wilson(value, n / _design_effect(pairs, value, n), t_quantile(count - 1))
    return Rate(value, low, high, n)


def _design_effect(pairs: list[tuple[int, int]], value: float, n: int) -> float:
    if value in (0.0, 1.0):
        return n / len(pairs)
    count = len(pairs)
    between = sum((passes - value * size) ** 2 for passes, size in pairs)
    variance = count / (count - 1) * between / n**2
    return max(1.0, variance / (value * (1 - value) / n))


def _wilson(value: float, size: float, quantile: float) -> tuple[float, float]:
    square = quantile**2 / size
    middle = (value + square / 2) / (1 + square)
    half = quantile / (1 + square) * math.sqrt(value * (1 - value) / size + square / (4 * size))
    low = 0.0 if value == 0 else max(0.0, middle - half)
    return low, 1.0 if value == 1 else min(1.0, middle + half)


def t_quantile(degrees: int) -> float:
    """The two-sided 95 % quantile of Student's t."""
    from scipy.special import stdtrit  # noqa: PLC0415 - scipy takes a fifth of a second to load

    return float(stdtrit(degrees, 0.5 + CONFIDENCE / 2))
