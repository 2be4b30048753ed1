"""Several trials of a case: pass@k and pass^k, unbiased."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence


def pass_at_k(trials: int, passes: int, k: int) -> float:
    """The chance that at least one of k trials passes, from `passes` among `trials` (Chen et al. 2021)."""
    return 1 - math.comb(trials - passes, k) / math.comb(trials, k)


def pass_hat_k(trials: int, passes: int, k: int) -> float:
    """The chance that all of k trials pass, from `passes` among `trials` (Yao et al. 2024)."""
    return math.comb(passes, k) / math.comb(trials, k)


def mean_over_cases(counts: Iterable[tuple[int, int]]) -> tuple[list[float], list[float]]:
    """pass@k and pass^k for k = 1, 2, …, averaged over cases of (trials, passes).

    k goes as far as every case has trials; a case without a decided trial is left out.
    """
    pairs = [(trials, passes) for trials, passes in counts if trials]
    most = min((trials for trials, _ in pairs), default=0)
    return _means(pairs, most, pass_at_k), _means(pairs, most, pass_hat_k)


def _means(pairs: Sequence[tuple[int, int]], most: int, estimate: Callable[[int, int, int], float]) -> list[float]:
    return [math.fsum(estimate(trials, passes, k) for trials, passes in pairs) / len(pairs) for k in range(1, most + 1)]
