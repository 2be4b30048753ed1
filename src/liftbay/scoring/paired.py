"""Is one system better than another on the same cases?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import msgspec

from liftbay.scoring.rates import CONFIDENCE, t_quantile

_RESAMPLES = 10_000
_MOST_EXACT = 20_000


class Difference(msgspec.Struct, frozen=True):
    """A mean paired difference in -1..1 (None where n is 0), its interval (95 %), and the number of pairs."""

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
    return _interval(clusters, CONFIDENCE, 1 - CONFIDENCE)


def clustered_bounds(clusters: Iterable[tuple[int, int]], alpha: float) -> Difference:
    """As `clustered_difference`, with `low` and `high` as one-sided bounds: each is wrong in `alpha` of samples."""
    return _interval(clusters, 1 - 2 * alpha, alpha)


def _interval(clusters: Iterable[tuple[int, int]], confidence: float, unseen: float) -> Difference:
    pairs = [(total, size) for total, size in clusters if size]
    n = sum(size for _, size in pairs)
    if not n:
        return Difference(None, None, None, 0)
    value = sum(total for total, _ in pairs) / n
    count = len(pairs)
    if count == 1:
        return Difference(value, -1.0, 1.0, n)
    error = _standard_error(pairs, value, n)
    half = t_quantile(count - 1, confidence) * error if error > 0 else 1 - unseen ** (1 / count)
    return Difference(value, max(-1.0, value - half), min(1.0, value + half), n)


def clustered_p_value(clusters: Iterable[tuple[int, int]]) -> float:
    """The two-sided p value of no difference: the larger of the t test's (as `clustered_difference`) and the exact one.

    With few clusters that differ the t test finds too much (3 of 3 that got worse among 40 would do, where a coin
    falls so in one of eight); with few that do not it is the better one.
    """
    pairs = [(total, size) for total, size in clusters if size]
    n = sum(size for _, size in pairs)
    value = sum(total for total, _ in pairs) / n if n else 0.0
    if value == 0:
        return 1.0
    exact = min(1.0, 2 * sign_flip_p_value((-total if value > 0 else total, size) for total, size in pairs))
    if len(pairs) == 1 or (error := _standard_error(pairs, value, n)) <= 0:
        return exact
    from scipy.special import stdtr  # noqa: PLC0415 - scipy takes a fifth of a second to load

    return max(exact, float(2 * stdtr(len(pairs) - 1, -abs(value) / error)))


def sign_flip_p_value(clusters: Iterable[tuple[int, int]]) -> float:
    """How often the sum of differences is as low as this where each cluster's might as well be turned round.

    Fisher's exact permutation test for pairs, one-sided, by whole clusters; where each holds one pair it is the
    one-sided exact McNemar test. Beyond 20,000 differences its normal limit.
    """
    totals = [total for total, _ in clusters if total]
    from scipy.special import gammaln, ndtr  # noqa: PLC0415 - scipy takes a fifth of a second to load

    if (most := sum(map(abs, totals))) > _MOST_EXACT:
        return float(ndtr(sum(totals) / math.sqrt(sum(total * total for total in totals))))
    import numpy as np  # noqa: PLC0415

    chances = np.ones(1)  # of what is turned round, in steps of 1 from none to `most`
    for size, count in Counter(map(abs, totals)).items():
        turned = np.arange(count + 1)
        spread = np.zeros(size * count + 1)
        spread[::size] = np.exp(
            gammaln(count + 1) - gammaln(turned + 1) - gammaln(count - turned + 1) - count * math.log(2)
        )
        chances = np.convolve(chances, spread)
    return min(1.0, float(chances[: (sum(totals) + most) // 2 + 1].sum()))


def bootstrap_difference(
    clusters: Iterable[tuple[int, int]], *, seed: int, resamples: int = _RESAMPLES, confidence: float = CONFIDENCE
) -> Difference:
    """The mean paired difference with the percentile interval of a bootstrap that draws whole clusters.

    It assumes no shape of the distribution, so it checks the interval of `clustered_difference`; with few clusters
    it is too narrow (Efron and Tibshirani 1993). Clusters that are alike are drawn together: the time and the memory
    do not grow with their number.
    """
    import numpy as np  # noqa: PLC0415 - takes a tenth of a second to load

    kinds = Counter((total, size) for total, size in clusters if size)
    if not kinds:
        return Difference(None, None, None, 0)
    table = np.array(list(kinds), dtype=float)
    counts = np.array(list(kinds.values()))
    value = float(counts @ table[:, 0] / (counts @ table[:, 1]))
    n = int(counts @ table[:, 1])
    if counts.sum() == 1:
        return Difference(value, -1.0, 1.0, n)
    drawn = np.random.default_rng(seed).multinomial(counts.sum(), counts / counts.sum(), size=resamples) @ table
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], ((1 - confidence) / 2, (1 + confidence) / 2))
    return Difference(value, float(low), float(high), n)


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


def _standard_error(pairs: list[tuple[int, int]], value: float, n: int) -> float:
    """Of the mean difference of two clusters or more."""
    between = sum((total - value * size) ** 2 for total, size in pairs)
    return math.sqrt(len(pairs) / (len(pairs) - 1) * between) / n
