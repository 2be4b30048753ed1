"""Is one system better than another on the same cases?"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from liftbay.scoring.rates import CONFIDENCE, t_quantile


class Difference(msgspec.Struct, frozen=True):
    """A mean paired difference in -1..1 (None where n is 0), its 95 % interval, and the number of pairs."""

    value: float | None
    low: float | None
    high: float | None
    n: int


def clustered_difference(clusters: Iterable[tuple[int, int]]) -> Difference:
    """The mean paired difference over clusters of (sum of differences, pairs), clustered.

    The variance is the linearised one between clusters (as in `clustered_rate`), the quantile Student's t. Where
    all clusters agree the variance says nothing: the half width is then the largest share of deviating clusters
    that so many clusters would still show none of in 5 % of samples. One cluster alone tells nothing about others:
    its interval is -1..1.
    """
    pairs = [(total, size) for total, size in clusters if size]
    n = sum(size for _, size in pairs)
    if not n:
        return Difference(None, None, None, 0)
    value = sum(total for total, _ in pairs) / n
    count = len(pairs)
    if count == 1:
        return Difference(value, -1.0, 1.0, n)
    between = sum((total - value * size) ** 2 for total, size in pairs)
    if between > 0:
        half = t_quantile(count - 1) * math.sqrt(count / (count - 1) * between) / n
    else:
        half = 1 - (1 - CONFIDENCE) ** (1 / count)
    return Difference(value, max(-1.0, value - half), min(1.0, value + half), n)


def mcnemar_exact(only_one: int, only_other: int) -> float:
    """The two-sided p value of the exact McNemar test.

    `only_one` and `only_other` count the pairs that only the one, or only the other, passed. Under no difference
    each such pair is a fair coin (McNemar 1947; the exact binomial form), so the test ignores clusters.
    """
    from scipy.special import bdtr  # noqa: PLC0415 - scipy takes a fifth of a second to load

    discordant = only_one + only_other
    if not discordant:
        return 1.0
    return min(1.0, 2 * float(bdtr(min(only_one, only_other), discordant, 0.5)))
