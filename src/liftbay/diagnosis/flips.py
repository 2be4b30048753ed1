"""Which paired trials flipped, and to whom each flip is laid."""

from __future__ import annotations

from collections import defaultdict

from liftbay.diagnosis.explanation import Direction, Flip
from liftbay.domain.blame import Blame, Culprit
from liftbay.domain.result import CaseResult, Outcome

_SHOWN = 200


def direction_of(base: CaseResult, head: CaseResult) -> Direction | None:
    """Which way the trial flipped; None where it did not, or where one side is undecided."""
    match base.outcome, head.outcome:
        case Outcome.PASSED, Outcome.FAILED:
            return Direction.LOST
        case Outcome.FAILED, Outcome.PASSED:
            return Direction.GAINED
        case _:
            return None


def flip_of(direction: Direction, failed: CaseResult, blame: Blame) -> Flip:
    """The flip; `failed` is the one of the two trials that failed."""
    case = failed.case
    asked = " ".join(case.rounds[-1].user_input.split())
    return Flip(case.dataset_type, case.id, failed.trial, case.scene_code, direction, asked[:_SHOWN], blame)


def shares_of(blame: Blame) -> dict[tuple[Culprit | None, str | None], float]:
    """To whom a flip is laid, by culprit and metric: shares that add up to 1. Nobody named: unexplained."""
    total = sum(candidate.probability for candidate in blame.candidates)
    if total <= 0:
        return {(None, None): 1.0}
    shares: dict[tuple[Culprit | None, str | None], float] = defaultdict(float)
    for candidate in blame.candidates:
        shares[candidate.culprit, candidate.metric] += candidate.probability / total
    return dict(shares)
