"""The four marks of a trial, which differ in shape, and why one is undecided."""

from __future__ import annotations

from enum import StrEnum

from liftbay.domain.result import CaseResult, Outcome
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import VerdictStatus
from liftbay.scoring.prerequisites import UNFINISHED


class Mark(StrEnum):
    """How a trial ended; the undecided ones apart by whether something broke."""

    PASSED = "passed"
    FAILED = "failed"
    EXCLUDED = "excluded"  # a prerequisite failed upstream, or nothing applied
    ERROR = "error"  # the trial did not finish, or the judge or the harness failed


SIGNS = {Mark.PASSED: "●", Mark.FAILED: "✕", Mark.EXCLUDED: "◌", Mark.ERROR: "△"}


def mark_of(result: CaseResult) -> Mark:
    """The mark of a trial."""
    if result.outcome is Outcome.PASSED:
        return Mark.PASSED
    if result.outcome is Outcome.FAILED:
        return Mark.FAILED
    main = main_verdict(result)
    broken = not result.episode.finished or main is None or main.status is VerdictStatus.ERROR
    return Mark.ERROR if broken else Mark.EXCLUDED


def main_verdict(result: CaseResult) -> Verdict | None:
    """The verdict that decides the trial."""
    return next((verdict for verdict in result.verdicts if verdict.metric == result.main_metric), None)


def why_undecided(result: CaseResult) -> str:
    """Why an undecided trial is so."""
    if result.episode.fault is not None:
        return UNFINISHED[result.episode.fault.kind]
    main = main_verdict(result)
    if main is None:
        return "no main verdict"
    return main.reason or main.status.value
