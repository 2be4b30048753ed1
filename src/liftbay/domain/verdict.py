"""The outcome of one metric on one trial."""

from __future__ import annotations

from typing import Any

import msgspec

from liftbay.domain.vocabulary import VerdictStatus


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One decision: its status, what it rests on, and why where it is not a plain pass.

    `numerator` and `denominator` belong to SCORE as a ratio (pooled over cases, never averaged), and may stand
    beside PASS and FAIL as the ratio that decided. `missing` names the part of the trace that was not reported
    where that is why the metric is NOT_APPLICABLE.
    """

    metric: str
    status: VerdictStatus
    reason: str | None = None
    numerator: float | None = None
    denominator: float | None = None
    missing: str | None = None
    expected: Any = None
    actual: Any = None


def passed(metric: str, *, expected: Any = None, actual: Any = None, reason: str | None = None) -> Verdict:
    """A PASS."""
    return Verdict(metric, VerdictStatus.PASS, reason, expected=expected, actual=actual)


def failed(metric: str, reason: str, *, expected: Any = None, actual: Any = None) -> Verdict:
    """A FAIL."""
    return Verdict(metric, VerdictStatus.FAIL, reason, expected=expected, actual=actual)


def scored(metric: str, numerator: float, denominator: float, *, expected: Any = None, actual: Any = None) -> Verdict:
    """A ratio n/m; 0/0 is not applicable and must not come here."""
    return Verdict(
        metric,
        VerdictStatus.SCORE,
        numerator=numerator,
        denominator=denominator,
        expected=expected,
        actual=actual,
    )


def excluded(metric: str, reason: str) -> Verdict:
    """An EXCLUDED: a prerequisite failed upstream."""
    return Verdict(metric, VerdictStatus.EXCLUDED, reason)


def not_applicable(metric: str, reason: str, *, missing: str | None = None) -> Verdict:
    """A NOT_APPLICABLE; `missing` names the unreported part of the trace, if that is why."""
    return Verdict(metric, VerdictStatus.NOT_APPLICABLE, reason, missing=missing)


def erred(metric: str, reason: str) -> Verdict:
    """An ERROR of the judge or the harness."""
    return Verdict(metric, VerdictStatus.ERROR, reason)
