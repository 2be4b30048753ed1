"""The change between two runs, taken apart."""

from __future__ import annotations

import pytest
from paired_results import FAILED, PASSED, UNDECIDED, Pairs, a_turn, candidate, result_of

from liftbay.diagnosis.explanation import Course, Direction, Shift
from liftbay.domain.blame import Culprit
from liftbay.report.explain_wording import apportioned

PROBES = ("input_tokens", "response_latency", "planning_latency", "retrieval_latency")
PERCEPTION, PLANNING, MEMORY, TOOL = Culprit.PERCEPTION, Culprit.PLANNING, Culprit.MEMORY, Culprit.TOOL


def test_a_loss_is_laid_to_the_head_and_a_gain_to_the_base() -> None:
    pairs = Pairs()
    pairs.add(result_of(1, PASSED), result_of(1, FAILED), head_blame=[candidate(PLANNING, 0.7), candidate(TOOL, 0.3)])
    pairs.add(result_of(2, FAILED), result_of(2, PASSED), base_blame=[candidate(MEMORY)])
    pairs.add(result_of(3, PASSED), result_of(3, FAILED))
    pairs.add(result_of(4, PASSED), result_of(4, PASSED))
    found = pairs.explained()
    assert found.change is not None
    assert (found.n, found.lost, found.gained) == (4, 2, 1)
    assert found.change.value == pytest.approx(-0.25)
    assert {part.culprit: part.change.value for part in found.parts} == pytest.approx(
        {PLANNING: -0.175, TOOL: -0.075, MEMORY: 0.25, None: -0.25}
    )
    assert found.parts[-1].culprit is None
    assert [flip.direction for flip in found.flips] == [Direction.LOST, Direction.GAINED, Direction.LOST]
    assert found.metric == "task_completion_rate"


def test_trials_of_one_case_are_one_cluster() -> None:
    pairs = Pairs()
    for number in range(30):
        for trial in (1, 2, 3):
            lost = number < 10
            pairs.add(
                result_of(number, PASSED, trial=trial),
                result_of(number, FAILED if lost else PASSED, trial=trial),
                head_blame=[candidate(PLANNING)] if lost else [],
            )
    found = pairs.explained()
    assert found.change is not None
    assert (found.n, found.clusters) == (90, 30)
    assert found.change.low < -0.48  # of 90 independent trials the interval would end near -0.43
    assert found.reliability is not None
    assert found.reliability.base == [1.0, 1.0, 1.0]
    assert found.reliability.head == pytest.approx([2 / 3] * 3)
    assert found.reliability.change.clear


def test_modules_that_move_against_each_other_are_named() -> None:
    pairs = Pairs()
    for number in range(100):
        if number < 20:
            pairs.add(result_of(number, PASSED), result_of(number, FAILED), head_blame=[candidate(MEMORY)])
        elif number < 40:
            pairs.add(result_of(number, FAILED), result_of(number, PASSED), base_blame=[candidate(PLANNING)])
        else:
            pairs.add(result_of(number, PASSED), result_of(number, PASSED))
    found = pairs.explained()
    assert (found.improved, found.worsened) == ([PLANNING], [MEMORY])
    assert found.course is Course.OSCILLATES
    assert found.p == 1.0


@pytest.mark.parametrize(
    ("lost", "gained", "course"),
    [
        (0, 0, Course.SAME),
        (25, 5, Course.WORSE),
        (5, 25, Course.BETTER),
        (6, 7, Course.OSCILLATES),
        (1, 1, Course.CANNOT_TELL),
        (4, 0, Course.CANNOT_TELL),
    ],
)
def test_the_course(lost: int, gained: int, course: Course) -> None:
    pairs = Pairs()
    for number in range(100):
        base = FAILED if lost <= number < lost + gained else PASSED
        pairs.add(result_of(number, base), result_of(number, FAILED if number < lost else PASSED))
    assert pairs.explained().course is course


def test_what_is_not_paired_stands_apart() -> None:
    pairs = Pairs()
    pairs.add(result_of(1, PASSED), result_of(1, UNDECIDED))
    pairs.add(result_of(2, UNDECIDED), result_of(2, FAILED))
    pairs.add(result_of(3, UNDECIDED), result_of(3, UNDECIDED))
    pairs.decomposition.asides.only_head(result_of(4, PASSED))
    pairs.decomposition.asides.only_base(result_of(5, PASSED))
    pairs.decomposition.asides.changed(result_of(6, PASSED))
    found = pairs.explained()
    apart = found.apart
    assert (found.n, found.change, found.course) == (0, None, Course.CANNOT_TELL)
    asides = (apart.became_undecided, apart.became_decided, apart.undecided, apart.only_base, apart.only_head)
    assert [aside.trials for aside in asides] == [1, 1, 1, 1, 1]
    assert apart.changed.examples[0].case_id == "case-00006"
    assert apart.lost_to_undecided == {PASSED: 1}


def test_a_fault_that_moved_to_another_module_changes_no_rate() -> None:
    pairs = Pairs()
    pairs.add(
        result_of(1, FAILED), result_of(1, FAILED), base_blame=[candidate(MEMORY)], head_blame=[candidate(PLANNING)]
    )
    pairs.add(result_of(2, FAILED), result_of(2, FAILED), base_blame=[candidate(TOOL)], head_blame=[candidate(TOOL)])
    found = pairs.explained()
    assert found.shifts == [Shift(MEMORY, PLANNING, 1)]
    assert found.parts == []


def test_what_lost_trials_have_in_common_is_grouped() -> None:
    pairs = Pairs()
    for number in range(10):
        pairs.add(result_of(number, PASSED), result_of(number, FAILED), head_blame=[candidate(PLANNING)])
    (group,) = pairs.explained().groups
    assert (group.culprit, group.trials, group.metric) == (PLANNING, 10, "routing_accuracy")


def test_slower_and_dearer_at_equal_quality() -> None:
    pairs = Pairs(PROBES)
    for number in range(40):
        jitter = number % 5
        before = a_turn(latency=500.0 + jitter, retrieval=50.0 + jitter, tokens=1000 + jitter)
        after = a_turn(latency=900.0 + jitter, retrieval=430.0 + 2 * jitter, tokens=1300)
        pairs.add(result_of(number, PASSED, turn=before), result_of(number, PASSED, turn=after))
    found = pairs.explained()
    changes = {one.probe: one for one in found.probes}
    assert changes["input_tokens"].change.value == pytest.approx(298)
    assert changes["retrieval_latency"].change.clear
    assert not changes["planning_latency"].change.clear
    assert set(found.equal_quality) == {"input_tokens", "response_latency", "retrieval_latency"}
    assert found.latency is not None
    assert found.latency.change.value == pytest.approx(400)
    assert sum(part.change.value for part in found.latency.parts) == pytest.approx(400)
    assert [part.probe for part in found.latency.parts] == ["retrieval_latency", "planning_latency", None]


def test_a_probe_that_one_run_does_not_report_is_no_change() -> None:
    pairs = Pairs(PROBES)
    for number in range(5):
        traced = a_turn(latency=500.0, retrieval=50.0, tokens=100)
        pairs.add(result_of(number, PASSED), result_of(number, PASSED, turn=traced))
    found = pairs.explained()
    assert found.probes == []
    assert found.latency is None
    assert found.one_sided_probes == ["input_tokens", "response_latency", "planning_latency", "retrieval_latency"]


@pytest.mark.parametrize(
    ("values", "total", "shown"),
    [
        ([-16.6, -6.4, -1.6], -24.6, [-17, -6, -2]),
        ([1.4, 1.4, 1.4], 4.2, [2, 1, 1]),
        ([-0.4, -0.4], -0.8, [-1, 0]),
        ([], 0.0, []),
    ],
)
def test_rounded_parts_add_up_to_the_rounded_whole(values: list[float], total: float, shown: list[float]) -> None:
    found = apportioned(values, total, 0)
    assert sum(found) == (round(total) if values else 0)
    assert sorted(found) == sorted(shown)
