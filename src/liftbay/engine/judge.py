"""Decide every metric of a plan on one trial: prerequisites first, then the trace, then a judge."""

from __future__ import annotations

from collections.abc import Sequence

from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Metric
from liftbay.domain.verdict import Verdict, erred, failed, not_applicable, passed
from liftbay.domain.vocabulary import Basis
from liftbay.scoring.prerequisites import unmet

NO_JUDGE = "no judge configured"
PASSING_REWARD = 1


def judge(evidence: Evidence, metrics: Sequence[Metric], *, main: str, prerequisites: bool = True) -> list[Verdict]:
    """One verdict a metric, in the order of the metrics.

    `main` is the metric that decides the case: a replayed trajectory that records a reward has decided it already.
    """
    return [_decide(metric, evidence, main, prerequisites) for metric in metrics]


def _decide(metric: Metric, evidence: Evidence, main: str, prerequisites: bool) -> Verdict:
    if verdict := unmet(metric, evidence, enforce=prerequisites):
        return verdict
    if metric.id == main and (recorded := recorded_verdict(metric.id, evidence)):
        return recorded
    if metric.decide is not None and (verdict := metric.decide(evidence)):
        return verdict
    if metric.basis is Basis.HUMAN:
        return not_applicable(metric.id, "a person scores this")
    return erred(metric.id, NO_JUDGE)


def recorded_verdict(metric: str, evidence: Evidence) -> Verdict | None:
    """What a trajectory's reward says, or None where it records none."""
    reward = evidence.episode.recorded.get("reward")
    if reward is None:
        return None
    if reward >= PASSING_REWARD:
        return passed(metric, reason="recorded reward", actual=reward)
    return failed(metric, "recorded reward", actual=reward)
