"""Bounds, p values and the bootstrap of paired differences, against scipy and a published table."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy import stats

from liftbay.scoring.paired import (
    bootstrap_difference,
    clustered_bounds,
    clustered_difference,
    clustered_p_value,
    mcnemar_exact,
    sign_flip_p_value,
)

SINGLES = [1] * 30 + [-1] * 12 + [0] * 58


def singles() -> list[tuple[int, int]]:
    """Pairs that are clusters of their own."""
    return [(value, 1) for value in SINGLES]


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_one_sided_bounds_are_those_of_the_t_test(alpha: float) -> None:
    bounds = clustered_bounds(singles(), alpha)
    low = stats.ttest_1samp(SINGLES, 0, alternative="greater").confidence_interval(1 - alpha).low
    high = stats.ttest_1samp(SINGLES, 0, alternative="less").confidence_interval(1 - alpha).high
    assert (bounds.low, bounds.high) == pytest.approx((low, high))


def test_the_p_value_is_the_larger_of_the_t_test_and_the_exact_test() -> None:
    assert stats.ttest_1samp(SINGLES, 0).pvalue < mcnemar_exact(30, 12)
    assert clustered_p_value(singles()) == pytest.approx(mcnemar_exact(30, 12))


@pytest.mark.parametrize(("lost", "gained"), [(3, 0), (12, 5), (5, 5), (2, 9), (400, 350)])
def test_turning_single_pairs_round_is_mcnemars_test(lost: int, gained: int) -> None:
    clusters = [(-1, 1)] * lost + [(1, 1)] * gained + [(0, 1)] * 30
    expected = stats.binomtest(lost, lost + gained, alternative="greater").pvalue
    assert sign_flip_p_value(clusters) == pytest.approx(expected)


def test_turning_clusters_round_is_scipys_permutation_test() -> None:
    totals = [-4, -3, 2, -1, -5, 1, 0, -2, 3, -1]
    expected = stats.permutation_test(
        (totals,), np.sum, permutation_type="samples", alternative="less", n_resamples=10_000, vectorized=False
    ).pvalue
    assert sign_flip_p_value([(total, 5) for total in totals]) == pytest.approx(expected)


def test_turning_very_many_round_takes_the_limit() -> None:
    assert sign_flip_p_value([(-1, 1)] * 10_300 + [(1, 1)] * 10_000) == pytest.approx(
        stats.binomtest(10_300, 20_300, alternative="greater").pvalue, rel=0.02
    )


def test_a_significant_difference_is_outside_the_interval() -> None:
    chance = random.Random(7)
    for _ in range(300):
        clusters = [(chance.randint(-size, size), size) for size in (chance.randint(1, 5) for _ in range(12))]
        interval = clustered_difference(clusters)
        assert interval.low is not None
        assert interval.high is not None
        if clustered_p_value(clusters) < 0.05:
            assert interval.low > 0 or interval.high < 0


def test_clusters_that_all_agree() -> None:
    assert clustered_p_value([(0, 3)] * 9) == 1.0
    assert clustered_p_value([(2, 2)] * 6) == pytest.approx(stats.binomtest(6, 6).pvalue)
    assert clustered_p_value([(2, 2)]) == 1.0
    assert clustered_p_value([]) == 1.0
    assert clustered_bounds([(0, 1)] * 50, 0.05).high == pytest.approx(1 - 0.05 ** (1 / 50))


def test_mcnemar_on_the_published_table() -> None:
    """Agresti, Categorical Data Analysis, table 10.1: 150 left the approving, 86 joined them. With the correction for
    continuity chi-squared is 63^2 / 236 = 16.82."""
    exact = mcnemar_exact(150, 86)
    assert exact == pytest.approx(stats.binomtest(86, 236).pvalue)
    assert exact == pytest.approx(stats.chi2.sf(16.82, 1), rel=0.1)


def test_the_bootstrap_agrees_with_scipys() -> None:
    mine = bootstrap_difference(singles(), seed=1)
    theirs = stats.bootstrap(
        (np.array(SINGLES),), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert mine.value == pytest.approx(0.18)
    assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)
    assert mine == bootstrap_difference(singles(), seed=1)


def test_the_bootstrap_draws_whole_clusters() -> None:
    """Fifty clusters that each agree within are worth fifty pairs, not five hundred."""
    one = bootstrap_difference([(1, 1)] * 20 + [(-1, 1)] * 10 + [(0, 1)] * 20, seed=1)
    ten = bootstrap_difference([(10, 10)] * 20 + [(-10, 10)] * 10 + [(0, 10)] * 20, seed=1)
    assert (ten.low, ten.high) == pytest.approx((one.low, one.high))
    assert (one.n, ten.n) == (50, 500)


def test_the_bootstrap_of_nothing_and_of_one_cluster() -> None:
    assert bootstrap_difference([], seed=1).value is None
    assert bootstrap_difference([(1, 2)], seed=1).low == -1.0
