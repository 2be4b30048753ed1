"""What a comparison can tell: the power of the gate's own test, the drop it detects, and the cases it would take.

The gate finds a drop where two one-sided tests do: Student's t over clusters, whose power follows the noncentral t
distribution, and the exact test of the discordant pairs (McNemar's), whose power is that of the binomial test averaged
over how many pairs are discordant (Miettinen 1968). The second is the stricter one where few are.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec

WANTED_POWER = 0.8
ASSUMED_CORRELATION = 0.5  # between the trials of one case, where nothing was measured
_MOST_CASES = 10_000_000
_MOST_TRIALS = 1000


class Design(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison of two runs: `pairs` of trials in `clusters` that are independent of each other.

    `discordant` is the share of pairs that only one of the runs passes; `effect` is the design effect, how much wider
    the clusters make the variance.
    """

    clusters: float
    pairs: float
    discordant: float
    effect: float = 1.0
    alpha: float = 0.05

    def power(self, drop: float) -> float:
        """The chance that a true drop (0..1) is told from none."""
        by_t = power_of(drop, self.standard_error(drop), self.clusters - 1, self.alpha)
        return min(by_t, exact_power(drop, self._discordant(drop), int(self.pairs / self.effect), self.alpha))

    def standard_error(self, drop: float) -> float:
        """Of the measured drop, where the true one is `drop`; so many pairs at least are discordant."""
        return math.sqrt(self.effect * (self._discordant(drop) - drop**2) / self.pairs)

    def _discordant(self, drop: float) -> float:
        return min(1.0, max(self.discordant, drop))

    def detectable(self, wanted: float = WANTED_POWER) -> float | None:
        """The smallest drop that is told from none with the power wanted; None where even 1 is not."""
        low, high = 0.0, 1.0
        if self.power(high) < wanted:
            return None
        while high - low > 1e-6:
            middle = (low + high) / 2
            low, high = (low, middle) if self.power(middle) >= wanted else (middle, high)
        return high

    def times(self, factor: float) -> Design:
        """The same with so many times the cases."""
        return msgspec.structs.replace(self, clusters=self.clusters * factor, pairs=self.pairs * factor)


def design(
    *, cases: int, trials: int = 1, discordant: float, correlation: float = ASSUMED_CORRELATION, alpha: float = 0.05
) -> Design:
    """Independent cases of so many trials each, of which two differ between the runs with a correlation."""
    effect = 1 + (trials - 1) * correlation
    return Design(clusters=cases, pairs=cases * trials, discordant=discordant, effect=effect, alpha=alpha)


def power_of(drop: float, standard_error: float, degrees: float, alpha: float) -> float:
    """The chance that the one-sided t test at `alpha` finds a drop."""
    from scipy.special import nctdtr, ndtr, stdtrit  # noqa: PLC0415 - scipy takes a fifth of a second to load

    if degrees < 1:
        return 0.0
    if standard_error <= 0:
        return 1.0 if drop > 0 else 0.0
    critical = float(stdtrit(degrees, 1 - alpha))
    shift = drop / standard_error
    if shift > 30:  # where nctdtr loses its digits; nothing is missed there but by the tiniest samples
        return float(ndtr(shift - critical * math.sqrt(1 + critical**2 / (2 * degrees))))
    return 1 - float(nctdtr(degrees, shift, critical))


def exact_power(drop: float, discordant: float, pairs: int, alpha: float) -> float:
    """The chance that the one-sided exact McNemar test at `alpha` finds a drop among so many independent pairs."""
    import numpy as np  # noqa: PLC0415
    from scipy.special import bdtr, bdtrc, bdtrik, gammaln, xlog1py, xlogy  # noqa: PLC0415

    if discordant <= 0 or pairs < 1:
        return 0.0
    middle, spread = pairs * discordant, 10 * math.sqrt(pairs * discordant * (1 - discordant)) + 10
    counts = np.arange(max(1, int(middle - spread)), min(pairs, int(middle + spread)) + 1)
    chances = np.exp(
        gammaln(pairs + 1)
        - gammaln(counts + 1)
        - gammaln(pairs - counts + 1)
        + xlogy(counts, discordant)
        + xlog1py(pairs - counts, -discordant)
    )
    # The most losses that the test still takes for chance.
    unproven = np.minimum(counts, np.ceil(bdtrik(1 - alpha, counts, 0.5) - 1e-9))
    unproven = np.where(bdtr(unproven, counts, 0.5) < 1 - alpha, np.minimum(counts, unproven + 1), unproven)
    lost = min(1.0, (discordant + drop) / (2 * discordant))
    return min(1.0, float(chances @ bdtrc(unproven, counts, lost)))


def independent_discordance(rate: float, drop: float) -> float:
    """The share of discordant pairs where two runs agree by chance alone: more than where they share their cases."""
    after = rate - drop
    return rate * (1 - after) + after * (1 - rate)


def cases_needed(drop: float, at: Callable[[int], Design], wanted: float = WANTED_POWER) -> int | None:
    """The fewest cases with which a design tells the drop from none; None where ten million do not."""
    return _fewest(lambda cases: at(cases).power(drop) >= wanted, 2, _MOST_CASES)


def trials_needed(drop: float, at: Callable[[int], Design], wanted: float = WANTED_POWER) -> int | None:
    """The fewest trials of each case with which a design does; None where a thousand do not."""
    return _fewest(lambda trials: at(trials).power(drop) >= wanted, 1, _MOST_TRIALS)


def _fewest(enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """The first number from `least` on that is enough, where all above are too."""
    if enough(least):
        return least
    low, high = least, least * 2
    while not enough(high):
        if high >= most:
            return None
        low, high = high, min(most, high * 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
