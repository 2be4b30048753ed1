"""What abnormal_input_handling_rate decides without a judge."""

from __future__ import annotations

import pytest
from one_trial import BLACK_BOX, trial

from liftbay.domain.episode import FaultKind
from liftbay.metrics.abnormal_input_handling_rate import decide


@pytest.mark.parametrize("kind", FaultKind)
def test_an_agent_that_breaks_fails_and_a_fault_of_the_harness_is_an_error(kind: FaultKind) -> None:
    verdict = decide(trial(BLACK_BOX, fault=kind))
    assert verdict is not None
    assert verdict.status == ("ERROR" if kind is FaultKind.HARNESS else "FAIL")


@pytest.mark.parametrize("answer", ["", " \n"])
def test_an_empty_answer_fails(answer: str) -> None:
    verdict = decide(trial(BLACK_BOX, answer=answer))
    assert verdict is not None
    assert verdict.status == "FAIL"


def test_any_other_answer_is_for_a_judge() -> None:
    assert decide(trial(BLACK_BOX)) is None
