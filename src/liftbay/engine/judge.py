"""Decide every metric of a plan on one trial: prerequisites first, then the trace, then a judge."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Metric
from liftbay.domain.verdict import Verdict, erred, failed, not_applicable, passed
from liftbay.domain.vocabulary import Basis
from liftbay.ports import Judge
from liftbay.scoring.prerequisites import unmet

NO_JUDGE = "no judge configured"
PASSING_REWARD = 1


def judge(
    evidence: Evidence,
    metrics: Sequence[Metric],
    *,
    main: str,
    prerequisites: bool = True,
    judged: Mapping[str, Verdict] = MappingProxyType({}),
) -> list[Verdict]:
    """One verdict a metric, in the order of the metrics.

    `main` is the metric that decides the case: a replayed trajectory that records a reward has decided it already.
    `judged` are the verdicts of a judge, by metric.
    """
    return [
        decided(metric, evidence, main=main, prerequisites=prerequisites)
        or judged.get(metric.id)
        or erred(metric.id, NO_JUDGE)
        for metric in metrics
    ]


async def asked(
    judge: Judge, evidence: Evidence, metrics: Sequence[Metric], *, main: str, prerequisites: bool = True
) -> dict[str, Verdict]:
    """The judge's verdicts on the metrics that nothing else decides, by metric."""
    open_ = [
        metric
        for metric in metrics
        if metric.asks is not None and decided(metric, evidence, main=main, prerequisites=prerequisites) is None
    ]
    verdicts = await asyncio.gather(*(judge.verdict(metric, evidence) for metric in open_))
    return {verdict.metric: verdict for verdict in verdicts}


def decided(metric: Metric, evidence: Evidence, *, main: str, prerequisites: bool = True) -> Verdict | None:
    """The verdict that needs no judge: of a prerequisite, a record, the trace or the basis; None: ask a judge."""
    if verdict := unmet(metric, evidence, enforce=prerequisites):
        return verdict
    if metric.id == main and (recorded := recorded_verdict(metric.id, evidence)):
        return recorded
    if metric.decide is not None and (verdict := metric.decide(evidence)):
        return verdict
    if metric.basis is Basis.HUMAN:
        return not_applicable(metric.id, "a person scores this")
    return None


def recorded_verdict(metric: str, evidence: Evidence) -> Verdict | None:
    """What a trajectory's reward says, or None where it records none."""
    reward = evidence.episode.recorded.get("reward")
    if reward is None:
        return None
    if reward >= PASSING_REWARD:
        return passed(metric, reason="recorded reward", actual=reward)
    return failed(metric, "recorded reward", actual=reward)
