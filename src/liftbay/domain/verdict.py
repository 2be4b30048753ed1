"""The outcome of one metric on one trial."""

from __future__ import annotations

from typing import Any

import msgspec

from liftbay.domain.vocabulary import VerdictStatus


class Vote(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One answer of a judge; what it could not decide has an `error`."""

    verdict: str | None  # a word of the prompt's own, such as `pass`
    reasoning: str = ""
    seed: int | None = None
    cached: bool = False
    calls: int = 0  # that were made for it
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: float | None = None  # None where it came from the cache: a cached latency is nobody's
    error: str | None = None


class JudgedItem(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One chunk, knowledge point or round that was decided on its own."""

    label: str  # the passage's id, the point itself, the number of the round
    passed: bool
    reasoning: str = ""
    by_keyword: bool = False  # decided without the judge
    distance: int | None = None  # of a round: to the farthest that it refers to, in rounds


class Judgement(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """How a judge came to its verdict."""

    model: str
    prompt: str  # metric.language@hash
    parameters: dict[str, Any] = {}
    reasoning: str = ""  # of a vote that went with the majority
    votes: list[Vote] = []
    agreement: float | None = None  # the share of the votes that went with the majority; None with one vote

    @property
    def cached(self) -> bool:
        """Whether nothing was asked: every vote came from the cache."""
        return bool(self.votes) and all(vote.cached for vote in self.votes)


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
    items: list[JudgedItem] = []
    judgement: Judgement | None = None  # None: no judge was asked


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
