"""What the main metric makes of a case."""

from __future__ import annotations

from collections.abc import Sequence

from liftbay.domain.result import Outcome
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import VerdictStatus

WHETHER_TO_CALL = "whetherToCall"  # in the `actual` of tool_decision_accuracy


def decide(main_metrics: Sequence[str], verdicts: Sequence[Verdict]) -> tuple[str, Outcome]:
    """The metric that decides, and the outcome.

    `main_metrics` are tried in order: the first that is applicable decides. A ratio passes when it is whole. What
    is excluded, erred or not applicable leaves the case undecided; but where the main metric is about the tools that
    were called and none was, whether to call decides.
    """
    by_metric = {verdict.metric: verdict for verdict in verdicts}
    for metric in main_metrics:
        verdict = by_metric.get(metric)
        if verdict is None:
            continue
        if verdict.status is not VerdictStatus.NOT_APPLICABLE:
            return metric, outcome_of(verdict)
        if isinstance(verdict.actual, dict) and (right := verdict.actual.get(WHETHER_TO_CALL)) is not None:
            return metric, Outcome.PASSED if right else Outcome.FAILED
    return main_metrics[0], Outcome.UNDECIDED


def outcome_of(verdict: Verdict) -> Outcome:
    """The outcome of a case that this verdict decides."""
    if verdict.status is VerdictStatus.PASS:
        return Outcome.PASSED
    if verdict.status is VerdictStatus.FAIL:
        return Outcome.FAILED
    if verdict.status is VerdictStatus.SCORE and verdict.denominator:
        return Outcome.PASSED if verdict.numerator == verdict.denominator else Outcome.FAILED
    return Outcome.UNDECIDED
