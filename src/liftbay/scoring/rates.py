"""Rates with 95 % intervals that know that cases of one conversation are not independent."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable

import msgspec

CONFIDENCE = 0.95
_NORMAL_QUANTILE = 1.959963984540054  # two-sided, of CONFIDENCE
_MANY_DEGREES = 200
_LEAST_EFFECT = 0.5


class Rate(msgspec.Struct, frozen=True):
    """A share of passes: `value` in 0..1 (None where n is 0), its interval, and the number of observations."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class ClusterSums:
    """Sums over clusters of (passes, observations) that a rate and its interval need; memory stays the same."""

    def __init__(self) -> None:
        self.clusters = 0
        self.passes = self.size = 0.0
        self._passes2 = self._size2 = self._cross = 0.0

    def add(self, passes: float, size: float) -> None:
        """Add one whole cluster; an empty one does not count."""
        if not size:
            return
        self.clusters += 1
        self.passes += passes
        self.size += size
        self._passes2 += passes * passes
        self._size2 += size * size
        self._cross += passes * size

    def take(self, other: ClusterSums) -> None:
        """Add the clusters of other sums, none of which is in these."""
        self.clusters += other.clusters
        self.passes += other.passes
        self.size += other.size
        self._passes2 += other._passes2
        self._size2 += other._size2
        self._cross += other._cross

    def plus(self, clusters: Iterable[tuple[float, float]]) -> ClusterSums:
        """These sums and those of further clusters, as new sums."""
        total = copy.copy(self)
        for passes, size in clusters:
            total.add(passes, size)
        return total

    def rate(self) -> Rate:
        """The pooled rate, with an interval as `clustered_rate` describes."""
        if not self.size:
            return Rate(None, None, None, 0)
        n = round(self.size)
        value = self.passes / self.size
        if self.clusters == 1:
            return Rate(value, 0.0, 1.0, n)
        low, high = _wilson(value, self.size / self._design_effect(value), t_quantile(self.clusters - 1))
        return Rate(value, low, high, n)

    def _design_effect(self, value: float) -> float:
        whole = self._size2 / self.size  # what it is where the members of a cluster always agree
        if value <= 0 or value >= 1:
            return whole
        between = max(0.0, self._passes2 - 2 * value * self._cross + value * value * self._size2)
        seen = max(_LEAST_EFFECT, between / (self.size * value * (1 - value)))
        rarer = min(self.passes, self.size - self.passes) / max(1.0, seen)
        effect = seen + max(0.0, whole - seen) / (1 + rarer**2)
        return effect * self.size / (self.size - 1)


def clustered_rate(clusters: Iterable[tuple[float, float]]) -> Rate:
    """The pooled rate over clusters of (passes, observations), with a 95 % interval that respects the clusters.

    Wilson's score interval (Wilson 1927) with the effective sample size n / deff, as Korn and Graubard (1998) do
    for Clopper-Pearson: deff is the linearised (ratio estimator) variance between clusters over the binomial
    variance, and the quantile is Student's t with one degree of freedom less than there are clusters.

    Few passes, or few fails, cannot show whether the members of a cluster agree: the fewer there are, the closer deff
    is drawn to what it is where they always do, which it is where there are none. Clusters that look more alike than
    chance allows are mostly chance: deff is taken as one half at the least. (As 1 it would make the intervals of
    independent cases too wide.) `bench/intervals.py` measures how often the intervals cover the truth.
    One cluster alone tells nothing about others: its interval is 0..1.
    """
    return ClusterSums().plus(clusters).rate()


def _wilson(value: float, size: float, quantile: float) -> tuple[float, float]:
    square = quantile**2 / size
    middle = (value + square / 2) / (1 + square)
    half = quantile / (1 + square) * math.sqrt(value * (1 - value) / size + square / (4 * size))
    low = 0.0 if value == 0 else max(0.0, middle - half)
    return low, 1.0 if value == 1 else min(1.0, middle + half)


def t_quantile(degrees: int, confidence: float = CONFIDENCE) -> float:
    """The two-sided quantile of Student's t: 95 %, or another confidence.

    For 95 % and many degrees its expansion around the normal quantile (Abramowitz and Stegun 26.7.5), which is right
    to ten digits and spares the time and the memory that loading scipy takes.
    """
    if degrees < _MANY_DEGREES or confidence != CONFIDENCE:
        from scipy.special import stdtrit  # noqa: PLC0415 - scipy takes a fifth of a second to load

        return float(stdtrit(degrees, 0.5 + confidence / 2))
    x = _NORMAL_QUANTILE
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + sum(term / float(degrees) ** power for power, term in enumerate(terms, 1))
