"""How the outcome of trials goes together with single metrics.

That trials fail where a metric fails does not prove that the one is the cause of the other; only a replay with the
fault mended does. It says where to look first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection

import msgspec

from liftbay.domain.result import CaseResult, Outcome
from liftbay.report.observed import measures_a_mock
from liftbay.report.tally import RateTally
from liftbay.scoring.outcomes import outcome_of
from liftbay.scoring.rates import Rate

_LEAST = 5  # trials on either side, below which a difference says nothing


class Association(msgspec.Struct, frozen=True, rename="camel"):
    """The pass rate of trials in which a metric failed, and of those in which it did not, where others decide them."""

    where_failed: Rate
    where_right: Rate
    points: float | None  # of the pass rate, in 0..1, were the difference all of the metric's making

    @property
    def tells(self) -> bool:
        """Whether there are enough trials on either side to set them against each other."""
        return min(self.where_failed.n, self.where_right.n) >= _LEAST


class AssociationTally:
    """Adds up decided trials by the outcome of each metric that points at something to mend."""

    def __init__(self, metrics: Collection[str]) -> None:
        self._metrics = metrics
        self._tallies: dict[tuple[str, Outcome], RateTally] = defaultdict(RateTally)
        self._decided = 0
        self._failed_by: Counter[str] = Counter()  # trials that the metric itself decides, and fails
        self.explained = 0  # failed trials in which one of the metrics failed

    def add(self, result: CaseResult, cluster: str, *, shared: bool) -> None:
        """Count one trial."""
        if result.outcome is Outcome.UNDECIDED:
            return
        self._decided += 1
        passed, explained = float(result.outcome is Outcome.PASSED), False
        for verdict in result.verdicts:
            if verdict.metric not in self._metrics or measures_a_mock(verdict):
                continue
            outcome = outcome_of(verdict)
            if outcome is Outcome.UNDECIDED:
                continue
            explained = explained or outcome is Outcome.FAILED
            if verdict.metric != result.main_metric:
                self._tallies[verdict.metric, outcome].add(cluster, passed, 1, shared=shared)
            elif outcome is Outcome.FAILED:
                self._failed_by[verdict.metric] += 1
        self.explained += explained and not passed

    def of(self, metric: str) -> Association:
        """What was counted of a metric."""
        failed = self._tallies[metric, Outcome.FAILED].rate()
        right = self._tallies[metric, Outcome.PASSED].rate()
        lost = float(self._failed_by[metric])
        found = Association(failed, right, lost / self._decided if lost else None)
        if not found.tells or failed.value is None or right.value is None:
            return found
        lost += failed.n * max(0.0, right.value - failed.value)
        return Association(failed, right, lost / self._decided)
