"""Known faults are injected into synthetic runs: the parts add up, and the injected shares lie in their intervals."""

from __future__ import annotations

import math
import random
from functools import cache
from typing import NamedTuple

import pytest
from paired_results import FAILED, PASSED, Pairs, candidate, result_of

from liftbay.diagnosis.explanation import Change, Course, Explanation
from liftbay.domain.blame import Candidate, Culprit

SEEDS = range(30)
INJECTED = {Culprit.PLANNING: 0.17, Culprit.MEMORY: 0.06}
MODULES = (Culprit.PERCEPTION, Culprit.PLANNING, Culprit.MEMORY, Culprit.TOOL, Culprit.GENERATION)
NOISE = 0.04  # of the trials of either run fail for another reason, by no doing of the change
NOBODY = 0.05  # of failures that no verdict explains
UNSURE = 0.2  # of the others with two candidates
SECOND = 0.25  # the probability of the wrong one of the two, which is the tool

# What a part comes to in the long run. The noise is alike in both runs and cancels out; where the base failed already,
# a fault flips nothing.
TRUTH: dict[Culprit | None, float] = {
    culprit: -share * (1 - NOISE) * (1 - NOBODY) * (1 - UNSURE * SECOND) for culprit, share in INJECTED.items()
}
TRUTH[None] = -sum(INJECTED.values()) * (1 - NOISE) * NOBODY
TRUTH[Culprit.TOOL] = -sum(INJECTED.values()) * (1 - NOISE) * (1 - NOBODY) * UNSURE * SECOND


def blame(random_: random.Random, culprit: Culprit) -> list[Candidate]:
    """The culprit, mostly for sure, sometimes beside the tool, seldom nobody."""
    if random_.random() < NOBODY:
        return []
    if culprit is not Culprit.TOOL and random_.random() < UNSURE:
        return [candidate(culprit, 1 - SECOND), candidate(Culprit.TOOL, SECOND)]
    return [candidate(culprit)]


class Simulated(NamedTuple):
    """What was found between two runs, and what had been injected in this very pair of them."""

    found: Explanation
    injected: dict[Culprit, float]

    def part(self, culprit: Culprit | None) -> Change:
        """The part of a culprit."""
        return next(part.change for part in self.found.parts if part.culprit is culprit)


@cache
def simulated(seed: int, cases: int, per_cluster: int, faulty: bool = True) -> Simulated:
    """A healthy run and one with faults; a fault befalls all cases of a conversation, which makes them a cluster."""
    random_ = random.Random(seed)
    pairs = Pairs()
    fault: Culprit | None = None
    injected = dict.fromkeys(INJECTED, 0.0)
    for number in range(cases):
        if number % per_cluster == 0:
            draw = random_.random() if faulty else 1.0
            fault = Culprit.PLANNING if draw < 0.17 else Culprit.MEMORY if draw < 0.23 else None
        noisy = [random_.random() < NOISE for _ in range(2)]
        blames = [blame(random_, culprit) for culprit in (random_.choice(MODULES), fault or random_.choice(MODULES))]
        scene = f"scene-{number // per_cluster % 4}"
        if fault and not noisy[0]:
            injected[fault] -= 1 / cases
        pairs.add(
            result_of(number, FAILED if noisy[0] else PASSED, scene=scene),
            result_of(number, FAILED if fault or noisy[1] else PASSED, scene=scene),
            base_blame=blames[0],
            head_blame=blames[1],
            cluster=f"conversation {number // per_cluster}",
        )
    return Simulated(pairs.explained(), injected)


SIZES = pytest.mark.parametrize(("cases", "per_cluster"), [(200, 1), (400, 1), (600, 3)])


@SIZES
@pytest.mark.parametrize("culprit", INJECTED)
def test_the_injected_share_lies_in_the_interval(culprit: Culprit, cases: int, per_cluster: int) -> None:
    pairs = [simulated(seed, cases, per_cluster) for seed in SEEDS]
    hits = sum(pair.part(culprit).low <= pair.injected[culprit] <= pair.part(culprit).high for pair in pairs)
    assert hits >= 28


def test_the_interval_reaches_what_further_cases_would_show() -> None:
    """The share in the long run lies in 95 % of intervals; of 180, 168 or more with a probability of 91 %."""
    hits = [
        simulated(seed, cases, per_cluster).part(culprit).low
        <= TRUTH[culprit]
        <= simulated(seed, cases, per_cluster).part(culprit).high
        for cases, per_cluster in ((200, 1), (400, 1), (600, 3))
        for culprit in INJECTED
        for seed in SEEDS
    ]
    assert sum(hits) >= 168


def test_the_other_parts_are_covered_too() -> None:
    hits = [
        part.change.low <= TRUTH.get(part.culprit, 0.0) <= part.change.high
        for seed in SEEDS
        for part in simulated(seed, 400, 1).found.parts
    ]
    assert sum(hits) / len(hits) >= 0.93


@SIZES
def test_parts_add_up_to_the_whole(cases: int, per_cluster: int) -> None:
    for seed in SEEDS:
        found = simulated(seed, cases, per_cluster).found
        assert found.change is not None
        assert found.base is not None
        assert found.head is not None
        assert found.change.value == pytest.approx(found.head - found.base, abs=1e-12)
        assert found.change.value == pytest.approx((found.gained - found.lost) / found.n, abs=1e-12)
        assert math.fsum(part.change.value for part in found.parts) == pytest.approx(found.change.value, abs=1e-12)
        assert math.fsum(scene.change.value for scene in found.scenes) == pytest.approx(found.change.value, abs=1e-12)
        for scene in found.scenes:
            inner = math.fsum(part.change.value for part in scene.parts)
            assert inner == pytest.approx(scene.change.value, abs=1e-12)
        assert math.fsum(part.lost for part in found.parts) == pytest.approx(found.lost, abs=1e-9)


def test_a_run_without_a_change_is_seldom_called_one() -> None:
    courses = [simulated(seed, 200, 1, faulty=False).found.course for seed in SEEDS]
    assert sum(course in (Course.WORSE, Course.BETTER) for course in courses) <= 3
    assert Course.OSCILLATES in courses


def test_the_same_pairs_give_the_same_intervals() -> None:
    assert simulated.__wrapped__(7, 200, 1) == simulated(7, 200, 1)
