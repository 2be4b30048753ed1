"""Retention as a curve over the rounds of a dialogue, and over the distance to what a round refers to."""

from __future__ import annotations

from collections import defaultdict

import msgspec

from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import VerdictStatus
from liftbay.report.tally import RateTally
from liftbay.scoring.rates import Rate

CURVES = ("memory_decay_curve", "short_term_retention_rate")
_DECIDED = (VerdictStatus.PASS, VerdictStatus.FAIL, VerdictStatus.SCORE)


class CurvePoint(msgspec.Struct, frozen=True, rename="camel"):
    """Retention at one round or distance; the interval is its band."""

    at: int
    rate: Rate


class DecayCurve(msgspec.Struct, frozen=True, rename="camel"):
    """Both curves of a metric."""

    by_round: list[CurvePoint]
    by_distance: list[CurvePoint]


class DecayTally:
    """Adds up the rounds that verdicts decided."""

    def __init__(self) -> None:
        self._rounds: dict[str, dict[int, RateTally]] = defaultdict(lambda: defaultdict(RateTally))
        self._distances: dict[str, dict[int, RateTally]] = defaultdict(lambda: defaultdict(RateTally))

    def add(self, verdict: Verdict, cluster: str, *, shared: bool) -> None:
        """Count the rounds of one verdict."""
        if verdict.metric not in CURVES or verdict.status not in _DECIDED:
            return
        for item in verdict.items:
            passes = float(item.passed)
            if item.label.isdecimal():
                self._rounds[verdict.metric][int(item.label)].add(cluster, passes, 1, shared=shared)
            if item.distance is not None:
                self._distances[verdict.metric][item.distance].add(cluster, passes, 1, shared=shared)

    def curves(self) -> dict[str, DecayCurve]:
        """The curves of every metric that has one."""
        return {
            metric: DecayCurve(_points(self._rounds[metric]), _points(self._distances[metric]))
            for metric in CURVES
            if metric in self._rounds or metric in self._distances
        }


def _points(tallies: dict[int, RateTally]) -> list[CurvePoint]:
    return [CurvePoint(at, tally.rate()) for at, tally in sorted(tallies.items())]
