"""The three rates of a metric, and why observations are missing from them."""

from __future__ import annotations

import itertools
import random

import pytest

from liftbay.domain.verdict import Verdict, erred, excluded, failed, not_applicable, passed, scored
from liftbay.domain.vocabulary import VerdictStatus
from liftbay.report.tally import MetricTally, RateTally
from liftbay.scoring.rates import Rate, clustered_rate


def tallied(*verdicts: Verdict) -> MetricTally:
    """A tally of verdicts, each of a case of its own."""
    tally = MetricTally()
    for number, verdict in enumerate(verdicts):
        tally.add(verdict, str(number), shared=False)
    return tally


def shares(tally: MetricTally) -> tuple[tuple[float | None, int], ...]:
    """Value and n of conditional rate, all-cases rate and coverage."""
    rates = (tally.conditional(), tally.all_cases(), tally.coverage())
    return tuple((rate.value, rate.n) for rate in rates)


PASS, FAIL = passed("m"), failed("m", "why")
EXCLUDED, ERROR = excluded("m", "routing fault"), erred("m", "no judge configured")
NOT_APPLICABLE = not_applicable("m", "nothing to decide")


def test_passes_and_fails() -> None:
    assert shares(tallied(PASS, PASS, PASS, FAIL)) == ((0.75, 4), (0.75, 4), (1.0, 4))


@pytest.mark.parametrize("missing", [EXCLUDED, ERROR])
def test_what_is_missing_is_in_all_cases_and_coverage_but_not_in_the_conditional_rate(missing: Verdict) -> None:
    assert shares(tallied(PASS, FAIL, missing, missing)) == ((0.5, 2), (0.25, 4), (0.5, 4))


def test_what_is_not_applicable_is_nowhere() -> None:
    assert shares(tallied(PASS, FAIL, NOT_APPLICABLE)) == ((0.5, 2), (0.5, 2), (1.0, 2))


def test_nothing_decided() -> None:
    assert shares(tallied(ERROR, EXCLUDED)) == ((None, 0), (0.0, 2), (0.0, 2))
    assert shares(tallied(NOT_APPLICABLE)) == ((None, 0), (None, 0), (None, 0))
    assert shares(tallied()) == ((None, 0), (None, 0), (None, 0))
    assert tallied().conditional() == Rate(None, None, None, 0)


def test_ratios_pool_their_n_and_m() -> None:
    tally = tallied(scored("m", 1, 10), scored("m", 2, 2), ERROR)
    assert tally.conditional().value == 3 / 12, "not the mean of 0.1 and 1"
    assert tally.conditional().n == 12
    assert tally.all_cases().value == pytest.approx((0.1 + 1 + 0) / 3), "a case counts once, as its share"
    assert (tally.all_cases().n, tally.coverage().value, tally.coverage().n) == (3, 2 / 3, 3)


def test_counts_by_status_and_reason() -> None:
    other = excluded("m", "no tool was called")
    tally = tallied(PASS, PASS, FAIL, scored("m", 1, 2), EXCLUDED, EXCLUDED, other, ERROR, NOT_APPLICABLE)
    assert tally.statuses == {
        VerdictStatus.PASS: 2,
        VerdictStatus.FAIL: 1,
        VerdictStatus.SCORE: 1,
        VerdictStatus.EXCLUDED: 3,
        VerdictStatus.ERROR: 1,
        VerdictStatus.NOT_APPLICABLE: 1,
    }
    assert tally.reasons == {
        VerdictStatus.EXCLUDED: {"routing fault": 2, "no tool was called": 1},
        VerdictStatus.ERROR: {"no judge configured": 1},
        VerdictStatus.NOT_APPLICABLE: {"nothing to decide": 1},
    }


def test_intervals_are_those_of_the_clusters() -> None:
    tally = MetricTally()
    talks = {"a": [PASS, PASS, FAIL], "b": [FAIL], "c": [PASS, PASS], "d": [ERROR, FAIL]}
    for name, verdicts in talks.items():
        for verdict in verdicts:
            tally.add(verdict, name, shared=True)
    assert tally.conditional() == clustered_rate([(2, 3), (0, 1), (2, 2), (0, 1)])
    assert tally.all_cases() == clustered_rate([(2, 3), (0, 1), (2, 2), (0, 2)])
    assert tally.coverage() == clustered_rate([(3, 3), (1, 1), (2, 2), (1, 2)])


class TestRateTally:
    def test_trials_of_a_case_are_one_cluster(self) -> None:
        tally = RateTally()
        for case, passes in (("a", (1, 1, 1)), ("b", (0, 0, 1)), ("c", (0, 0, 0))):
            for one in passes:
                tally.add(case, one, 1, shared=False)
        assert tally.rate() == clustered_rate([(3, 3), (1, 3), (0, 3)])

    def test_shared_clusters_may_come_in_any_order(self) -> None:
        observations = [("a", 1), ("b", 0), ("a", 0), ("c", 1), ("b", 1), ("c", 1)]
        found = set()
        for order in itertools.islice(itertools.permutations(observations), 0, None, 37):
            tally = RateTally()
            for cluster, passes in order:
                tally.add(cluster, passes, 1, shared=True)
            found.add(tally.rate())
        (rate,) = found
        assert rate == clustered_rate([(1, 2), (1, 2), (2, 2)])

    def test_the_rate_may_be_asked_for_again_and_again(self) -> None:
        tally = RateTally()
        tally.add("a", 1, 1, shared=False)
        tally.add("b", 0, 1, shared=True)
        assert tally.rate() == tally.rate()
        tally.add("a", 0, 1, shared=False)
        assert tally.rate() == clustered_rate([(1, 2), (0, 1)])

    def test_many_clusters_add_up_as_if_they_were_kept(self) -> None:
        chance = random.Random(3)
        clusters = [
            (float(chance.randint(0, size)), float(size)) for size in (chance.randint(1, 5) for _ in range(500))
        ]
        tally = RateTally()
        for number, (passes, size) in enumerate(clusters):
            tally.add(str(number), passes, size, shared=False)
        found, expected = tally.rate(), clustered_rate(clusters)
        assert found.n == expected.n
        assert (found.value, found.low, found.high) == pytest.approx((expected.value, expected.low, expected.high))
