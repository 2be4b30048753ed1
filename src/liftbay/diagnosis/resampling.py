"""Intervals for parts of a paired change: a bootstrap over clusters, and a closed form for means.

The bootstrap draws whole clusters (conversations, source documents, else cases). Most of them are alike, so kinds of
clusters are counted and their counts are drawn from one multinomial distribution: the same draws, in memory that
grows with the flips and not with the cases. The interval is the wider, on each side, of two: that of the plain
percentiles, which does well where few trials flip, and the bias-corrected and accelerated one (Efron 1987), which does
well where nearly all flip the same way. Both take Student's t for the normal quantile, since for few clusters they
would be too narrow (Hesterberg 2015).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

from liftbay.diagnosis.explanation import Change
from liftbay.scoring.rates import CONFIDENCE, t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

K = TypeVar("K")
_SEED = 20261130
_DRAWS = 4000
_CELLS_AT_ONCE = 2_000_000


class ClusterSums(Generic[K]):
    """Sums of parts by cluster, and the sizes of the clusters."""

    def __init__(self) -> None:
        self._sizes: Counter[str] = Counter()
        self._parts: dict[str, dict[K, float]] = {}

    def add(self, cluster: str, parts: Mapping[K, float]) -> None:
        """Count one paired trial with what it gives to each part; most give nothing."""
        self._sizes[cluster] += 1
        if parts:
            sums = self._parts.setdefault(cluster, {})
            for part, value in parts.items():
                sums[part] = sums.get(part, 0.0) + value

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return len(self._sizes)

    def changes(self) -> dict[K, Change]:
        """Each part's sum over all trials, with its interval."""
        kinds: Counter[tuple[int, frozenset[tuple[K, float]]]] = Counter(
            (size, frozenset(self._parts.get(cluster, {}).items())) for cluster, size in self._sizes.items()
        )
        parts = list(dict.fromkeys(part for sums in self._parts.values() for part in sums))
        return dict(zip(parts, _changes(kinds, parts), strict=True)) if parts else {}


def no_change(clusters: int) -> Change:
    """The change where not one trial flipped: as many clusters could still hide a share of some."""
    half = _unseen(clusters)
    return Change(0.0, -half, half)


def _unseen(clusters: int) -> float:
    """The largest share of deviating clusters that so many would show none of in 5 % of samples."""
    return 1 - (1 - CONFIDENCE) ** (1 / clusters) if clusters > 1 else 1.0


def _changes(kinds: Counter[tuple[int, frozenset[tuple[K, float]]]], parts: list[K]) -> Iterator[Change]:
    import numpy as np  # noqa: PLC0415 - a tenth of a second to load

    column = {part: position for position, part in enumerate(parts)}
    counts = np.fromiter(kinds.values(), np.int64, len(kinds))
    sizes = np.fromiter((size for size, _ in kinds), np.float64, len(kinds))
    sums = np.zeros((len(kinds), len(parts)))
    for row, (_, found) in enumerate(kinds):
        for part, value in found:
            sums[row, column[part]] = value
    clusters, n = int(counts.sum()), float(counts @ sizes)
    values = counts @ sums / n
    if clusters == 1:
        yield from (Change(float(value), -1.0, 1.0) for value in values)
        return
    drawn = np.sort(_drawn(counts, sizes, sums), axis=0)
    influence = sums - np.outer(sizes, values)
    squares, cubes = counts @ influence**2, counts @ influence**3
    for position, value in enumerate(values):
        if squares[position] < 1e-18:  # every cluster agrees: their spread says nothing
            half = _unseen(clusters)
            yield Change(float(value), max(-1.0, float(value) - half), min(1.0, float(value) + half))
        else:
            acceleration = cubes[position] / (6 * squares[position] ** 1.5)
            yield _corrected(drawn[:, position], float(value), float(acceleration), clusters)


def _drawn(counts: NDArray[np.int64], sizes: Floats, sums: Floats) -> Floats:
    """The parts in each resample."""
    import numpy as np  # noqa: PLC0415

    random = np.random.default_rng(_SEED)
    clusters = int(counts.sum())
    at_once = max(1, min(_DRAWS, _CELLS_AT_ONCE // len(counts)))
    pieces = []
    for start in range(0, _DRAWS, at_once):
        weights = random.multinomial(clusters, counts / clusters, min(at_once, _DRAWS - start)).astype(np.float64)
        pieces.append(weights @ sums / (weights @ sizes)[:, None])
    return np.concatenate(pieces)


def _corrected(drawn: Floats, value: float, acceleration: float, clusters: int) -> Change:
    """The interval from sorted resamples; the acceleration is that of the linearised influence of each cluster."""
    from scipy.special import ndtr, ndtri  # noqa: PLC0415 - scipy takes a fifth of a second to load

    below = drawn.searchsorted(value - 1e-12, "left") + drawn.searchsorted(value + 1e-12, "right")
    bias = float(ndtri(min(max(below / 2 / len(drawn), 0.5 / len(drawn)), 1 - 0.5 / len(drawn))))
    reach = math.sqrt(clusters / (clusters - 1)) * t_quantile(clusters - 1)

    def ends(quantile: float) -> tuple[float, float]:
        moved = bias + quantile
        room = 1 - acceleration * moved
        corrected = float(ndtr(bias + moved / room)) if room > 0 else float(moved > 0)
        plain, other = (float(drawn[round(share * (len(drawn) - 1))]) for share in (float(ndtr(quantile)), corrected))
        return plain, other

    return Change(value, min(value, *ends(-reach)), max(value, *ends(reach)))


def mean_change(clusters: Iterable[tuple[float, int]]) -> tuple[Change, int] | None:
    """The mean difference over clusters of (sum, number), and the number; None without two clusters.

    The variance is the linearised one between clusters, the quantile Student's t.
    """
    pairs = [(total, size) for total, size in clusters if size]
    n = sum(size for _, size in pairs)
    if len(pairs) < 2:
        return None
    value = math.fsum(total for total, _ in pairs) / n
    between = math.fsum((total - value * size) ** 2 for total, size in pairs)
    half = t_quantile(len(pairs) - 1) * math.sqrt(len(pairs) / (len(pairs) - 1) * between) / n
    return Change(value, value - half, value + half), n
