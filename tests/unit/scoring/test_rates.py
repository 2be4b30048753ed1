"""Rates and paired differences: values worked out otherwise, and intervals that cover."""

from __future__ import annotations

import math
import random

import pytest
from scipy import stats

from liftbay.scoring.paired import clustered_difference, mcnemar_exact
from liftbay.scoring.rates import clustered_rate, t_quantile


def test_independent_cases_give_wilsons_interval_with_students_t() -> None:
    """With one case a cluster, deff is n / (n - 1), so n / deff is n - 1."""
    rate = clustered_rate([(1, 1)] * 70 + [(0, 1)] * 30)
    wilson = _wilson(0.7, 99, float(stats.t.ppf(0.975, 99)))
    assert rate.value == 0.7
    assert rate.n == 100
    assert (rate.low, rate.high) == pytest.approx(wilson)


def _wilson(value: float, size: float, quantile: float) -> tuple[float, float]:
    """The roots of (p - value)^2 = quantile^2 p (1 - p) / size."""
    square = quantile**2
    a, b, c = size + square, -(2 * size * value + square), size * value**2
    root = math.sqrt(b * b - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def test_cases_that_agree_within_clusters_widen_the_interval() -> None:
    alone = clustered_rate([(1, 1)] * 50 + [(0, 1)] * 50)
    together = clustered_rate([(10, 10)] * 5 + [(0, 10)] * 5)
    assert (alone.value, together.value) == (0.5, 0.5)
    assert together.high - together.low > 2 * (alone.high - alone.low)  # type: ignore[operator]


def test_no_observation_is_no_rate() -> None:
    rate = clustered_rate([(0, 0)])
    assert (rate.value, rate.low, rate.high, rate.n) == (None, None, None, 0)


def test_one_cluster_tells_nothing_about_others() -> None:
    rate = clustered_rate([(3, 4)])
    assert (rate.value, rate.low, rate.high) == (0.75, 0.0, 1.0)


@pytest.mark.parametrize("passes", [0, 5])
def test_where_all_agree_the_clusters_are_the_sample(passes: int) -> None:
    rate = clustered_rate([(passes, 5)] * 20)
    low, high = _wilson(passes / 5, 20, float(stats.t.ppf(0.975, 19)))
    assert (rate.low, rate.high) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize(("truth", "cluster", "agreement"), [(0.3, 1, 0.0), (0.7, 5, 0.3), (0.9, 4, 0.5)])
def test_intervals_cover_the_truth_about_as_often_as_they_say(truth: float, cluster: int, agreement: float) -> None:
    """300 cases a sample; within a cluster a share of cases repeats the first one's outcome. Seeded."""
    chance = random.Random(20260101)
    covered = 0
    for _ in range(1000):
        rate = clustered_rate(_sample(chance, truth, cluster, agreement) for _ in range(300 // cluster))
        assert rate.low is not None
        assert rate.high is not None
        covered += rate.low <= truth <= rate.high
    assert 930 <= covered <= 975


def _sample(chance: random.Random, truth: float, size: int, agreement: float) -> tuple[int, int]:
    first = chance.random() < truth
    rest = (first if chance.random() < agreement else chance.random() < truth for _ in range(size - 1))
    return first + sum(rest), size


@pytest.mark.parametrize("degrees", [1, 2, 9, 199, 200, 201, 500, 4245, 100_000])
def test_students_t(degrees: int) -> None:
    assert t_quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=1e-9)


def test_a_paired_difference_of_single_cases_is_the_t_interval() -> None:
    values = [1] * 30 + [-1] * 10 + [0] * 60
    difference = clustered_difference((value, 1) for value in values)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert difference.value == pytest.approx(0.2)
    assert (difference.low, difference.high) == pytest.approx((expected.low, expected.high))


def test_equal_results_still_have_an_interval() -> None:
    difference = clustered_difference([(0, 3)] * 100)
    assert difference.value == 0
    assert difference.high == pytest.approx(1 - 0.05 ** (1 / 100))
    assert difference.low == pytest.approx(-(1 - 0.05 ** (1 / 100)))


def test_no_pair_is_no_difference() -> None:
    assert clustered_difference([]).value is None
    assert clustered_difference([(1, 2)]).low == -1.0


@pytest.mark.parametrize(("one", "other"), [(0, 0), (5, 5), (1, 9), (12, 3), (0, 7), (130, 101)])
def test_mcnemar_is_the_exact_binomial_test(one: int, other: int) -> None:
    expected = stats.binomtest(one, one + other).pvalue if one + other else 1.0
    assert mcnemar_exact(one, other) == pytest.approx(expected)
