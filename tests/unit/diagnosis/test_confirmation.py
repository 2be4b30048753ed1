"""What the replays of a run say of each module."""

from __future__ import annotations

import pytest

from liftbay.diagnosis.confirmation import ConfirmationTally, ModuleConfirmation, Replayed
from liftbay.diagnosis.intervention import InterventionPlan
from liftbay.domain.blame import Culprit
from liftbay.domain.result import Outcome

PASSED, FAILED, UNDECIDED = Outcome.PASSED, Outcome.FAILED, Outcome.UNDECIDED


def planning(*pairs: tuple[Outcome, Outcome], not_overridable: int = 0) -> ModuleConfirmation:
    """What is said of planning, which is blamed for as many failed trials among 100 decided ones."""
    tally = ConfirmationTally()
    for number, (outcome, repeated) in enumerate(pairs):
        tally.look_at(Culprit.PLANNING)
        tally.repeat(f"c{number}", repeated)
        tally.replay(Culprit.PLANNING, f"c{number}", Replayed(f"c{number}", 1, True, outcome, repeated))
    for number in range(not_overridable):
        tally.look_at(Culprit.GENERATION)
        tally.leave(InterventionPlan(Culprit.PLANNING, why_not="the case states no route"), f"n{number}")
    failed = len(pairs) + not_overridable
    found = tally.confirmation("run", decided=100, failed=failed, runs={Culprit.PLANNING: "run-planning"}, notes=[])
    assert found.looked_at == failed
    return found.modules[0]


def test_points_are_the_gain_over_merely_repeating() -> None:
    found = planning(*[(PASSED, FAILED)] * 16, *[(PASSED, PASSED)] * 2, *[(FAILED, FAILED)] * 2)
    assert (found.replayed, found.passed, found.passed_repeated) == (20, 18, 2)
    assert found.points.value == pytest.approx(0.16)
    assert found.points.low is not None
    assert found.points.low > 0.1
    assert found.blamed_passed.value == pytest.approx(0.9)
    assert [one.case for one in found.still_failing] == ["c18", "c19"]


def test_what_passes_by_chance_shows_nothing() -> None:
    points = planning(*[(PASSED, PASSED)] * 20).points
    assert points.value == 0
    assert points.low is not None
    assert points.low < 0


def test_what_could_not_be_replayed_or_decided_shows_nothing_either() -> None:
    found = planning(*[(PASSED, FAILED)] * 10, *[(UNDECIDED, FAILED)] * 4, not_overridable=6)
    assert (found.replayed, found.undecided, found.not_overridable) == (14, 4, 6)
    assert found.why_not == {"the case states no route": 6}
    assert found.points.n == 20
    assert found.points.value == pytest.approx(0.10)


def test_nothing_replayed_has_no_points() -> None:
    found = planning(not_overridable=3)
    assert found.points.value is None
    assert found.run is None
