"""The power of the gate's test, against scipy, published sample sizes and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from liftbay.scoring.power import (
    cases_needed,
    design,
    exact_power,
    independent_discordance,
    power_of,
    trials_needed,
)


@pytest.mark.parametrize("degrees", [1, 5, 49, 199, 5000])
@pytest.mark.parametrize("shift", [0.0, 0.5, 2.5, 6.0])
@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_it_is_the_noncentral_t(degrees: int, shift: float, alpha: float) -> None:
    expected = stats.nct.sf(stats.t.ppf(1 - alpha, degrees), degrees, shift) if shift else alpha
    assert power_of(shift, 1.0, degrees, alpha) == pytest.approx(expected, abs=1e-6)


def test_beyond_all_doubt() -> None:
    assert power_of(0.5, 0.001, 99, 0.05) == pytest.approx(1.0)
    assert power_of(0.5, 0.0, 99, 0.05) == 1.0
    assert power_of(0.0, 0.0, 99, 0.05) == 0.0
    assert power_of(0.5, 0.1, 0, 0.05) == 0.0


def test_the_published_sample_size_of_the_one_sample_t_test() -> None:
    """Cohen (1988), one-sided at 5 %, power 80 %, d = 0.5: 27 pairs (G*Power 3.1 gives the same)."""
    sizes = [n for n in range(5, 60) if power_of(0.5, 1 / math.sqrt(n), n - 1, 0.05) >= 0.8]
    assert sizes[0] == 27


def test_connors_formula_for_paired_rates() -> None:
    """Connor (1987): n = (z_a sqrt(q) + z_b sqrt(q - d^2))^2 / d^2; the exact test takes some pairs more."""
    q, d = 0.3, 0.1
    connor = (stats.norm.ppf(0.95) * math.sqrt(q) + stats.norm.ppf(0.8) * math.sqrt(q - d * d)) ** 2 / d**2
    found = cases_needed(d, lambda cases: design(cases=cases, discordant=q))
    assert found is not None
    assert connor < found < 1.1 * connor


@pytest.mark.parametrize(("cases", "drop", "discordant"), [(200, 0.1, 0.3), (100, 0.1, 0.15), (400, 0.05, 0.2)])
def test_simulated(cases: int, drop: float, discordant: float) -> None:
    chance = np.random.default_rng(5)
    lost, gained = (discordant + drop) / 2, (discordant - drop) / 2
    values = chance.choice([1, -1, 0], p=[lost, gained, 1 - discordant], size=(4000, cases))
    errors = values.std(1, ddof=1) / math.sqrt(cases)
    found = values.mean(1) > stats.t.ppf(0.95, cases - 1) * errors
    exact = stats.binom.sf((values == 1).sum(1) - 1, (values != 0).sum(1), 0.5) <= 0.05
    found = (found & exact).mean()
    assert design(cases=cases, discordant=discordant).power(drop) == pytest.approx(found, abs=0.03)


@pytest.mark.parametrize(("pairs", "drop", "discordant"), [(200, 0.1, 0.2), (40, 0.1, 0.1), (30, 0.0, 0.5)])
def test_the_exact_power_is_that_of_every_table_that_can_be(pairs: int, drop: float, discordant: float) -> None:
    expected = 0.0
    for count in range(1, pairs + 1):
        lost = np.arange(count + 1)
        proven = stats.binom.sf(lost - 1, count, 0.5) <= 0.05
        share = (discordant + drop) / (2 * discordant)
        expected += stats.binom.pmf(count, pairs, discordant) * stats.binom.pmf(lost, count, share)[proven].sum()
    assert exact_power(drop, discordant, pairs, 0.05) == pytest.approx(expected, abs=1e-9)


def test_trials_help_as_far_as_they_differ() -> None:
    one = design(cases=100, discordant=0.3).power(0.1)
    assert design(cases=100, trials=5, discordant=0.3, correlation=1.0).power(0.1) == pytest.approx(one)
    independent = design(cases=100, trials=5, discordant=0.3, correlation=0.0)
    assert independent.power(0.1) > design(cases=100, trials=5, discordant=0.3).power(0.1) > one
    assert independent.standard_error(0.1) == pytest.approx(math.sqrt((0.3 - 0.01) / 500))


def test_what_is_needed_is_the_least_that_is_enough() -> None:
    needed = cases_needed(0.1, lambda cases: design(cases=cases, discordant=0.3))
    assert needed is not None
    assert design(cases=needed, discordant=0.3).power(0.1) >= 0.8 > design(cases=needed - 3, discordant=0.3).power(0.1)
    drop = design(cases=needed, discordant=0.3).detectable()
    assert drop == pytest.approx(0.1, abs=0.001)
    assert trials_needed(0.05, lambda trials: design(cases=50, trials=trials, discordant=0.3)) is None
    # 1 + (k - 1) / 2 of k trials count: 120 cases are worth the 193 that are needed from k = 4.1 on.
    assert trials_needed(0.1, lambda trials: design(cases=120, trials=trials, discordant=0.3)) == 5


def test_nothing_is_found_by_too_few() -> None:
    assert design(cases=1, discordant=0.5).detectable() is None
    assert cases_needed(1e-6, lambda cases: design(cases=cases, discordant=0.5)) is None


def test_the_discordance_of_chance() -> None:
    assert independent_discordance(0.85, 0.0) == pytest.approx(2 * 0.85 * 0.15)
    assert independent_discordance(1.0, 0.1) == pytest.approx(0.1)
