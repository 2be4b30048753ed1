"""Counts of verdicts, added up one result at a time in memory that does not grow with the cases.

A cluster is a conversation or a source document that several cases share; a case that shares none is a cluster of
its own, whose trials follow one another. Such a cluster is summed up as soon as the next begins.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import VerdictStatus
from liftbay.scoring.rates import ClusterSums, Rate

_MEASURED = {VerdictStatus.PASS, VerdictStatus.FAIL, VerdictStatus.SCORE}


class RateTally:
    """Passes and observations by cluster; numbers need not be whole."""

    def __init__(self) -> None:
        self._sums = ClusterSums()
        self._shared: dict[str, tuple[float, float]] = {}
        self._own: tuple[str, float, float] | None = None

    def add(self, cluster: str, passes: float, size: float, *, shared: bool) -> None:
        """Add observations of a cluster; `shared` where its cases may come in any order."""
        if shared:
            before = self._shared.get(cluster, (0.0, 0.0))
            self._shared[cluster] = (before[0] + passes, before[1] + size)
        elif self._own is not None and self._own[0] == cluster:
            self._own = (cluster, self._own[1] + passes, self._own[2] + size)
        else:
            if self._own is not None:
                self._sums.add(*self._own[1:])
            self._own = (cluster, passes, size)

    def rate(self) -> Rate:
        """The pooled rate with its interval."""
        return self._sums.plus(self._open()).rate()

    def _open(self) -> Iterator[tuple[float, float]]:
        yield from self._shared.values()
        if self._own is not None:
            yield self._own[1:]


class _Counts:
    """What one cluster adds to the three rates."""

    __slots__ = ("cases", "measured", "passes", "share", "size")

    def __init__(self) -> None:
        self.passes = self.size = self.share = 0.0
        self.cases = self.measured = 0

    def take(self, other: _Counts) -> None:
        self.passes += other.passes
        self.size += other.size
        self.share += other.share
        self.cases += other.cases
        self.measured += other.measured


class _Sums:
    """The three rates of clusters that are whole."""

    def __init__(self) -> None:
        self.conditional, self.all_cases, self.coverage = ClusterSums(), ClusterSums(), ClusterSums()

    def add(self, counts: _Counts) -> None:
        self.conditional.add(counts.passes, counts.size)
        self.all_cases.add(counts.share, counts.cases)
        self.coverage.add(counts.measured, counts.cases)

    def take(self, other: _Sums) -> None:
        self.conditional.take(other.conditional)
        self.all_cases.take(other.all_cases)
        self.coverage.take(other.coverage)


class MetricTally:
    """Everything counted of one metric: the three rates, and why observations are missing from them."""

    def __init__(self) -> None:
        self.statuses: Counter[VerdictStatus] = Counter()
        self.reasons: dict[VerdictStatus, Counter[str]] = {
            status: Counter() for status in (VerdictStatus.EXCLUDED, VerdictStatus.ERROR, VerdictStatus.NOT_APPLICABLE)
        }
        self._sums = _Sums()
        self._shared: defaultdict[str, _Counts] = defaultdict(_Counts)
        self._cluster: str | None = None  # the cluster of its own whose trials are coming
        self._own = _Counts()

    def add(self, verdict: Verdict, cluster: str, *, shared: bool) -> None:
        """Count one verdict."""
        status = verdict.status
        self.statuses[status] += 1
        measured = status in _MEASURED
        if not measured:
            self.reasons[status][verdict.reason or ""] += 1
            if status is VerdictStatus.NOT_APPLICABLE:
                return
        counts = self._shared[cluster] if shared else self._own_counts(cluster)
        counts.cases += 1
        if measured:
            passes, size = _ratio(verdict)
            counts.measured += 1
            counts.passes += passes
            counts.size += size
            counts.share += passes / size if size else 0.0

    def take(self, other: MetricTally) -> None:
        """Add what another tally counted, of other cases."""
        self.statuses += other.statuses
        for status, reasons in other.reasons.items():
            self.reasons[status] += reasons
        self._sums.take(other._sums)
        self._sums.add(other._own)
        for cluster, counts in other._shared.items():
            self._shared[cluster].take(counts)

    def conditional(self) -> Rate:
        """Passes over what was decided; ratios pool their n and m."""
        return self._all().conditional.rate()

    def all_cases(self) -> Rate:
        """Passes over all applicable cases; a ratio counts as its share."""
        return self._all().all_cases.rate()

    def coverage(self) -> Rate:
        """What was decided over all applicable cases."""
        return self._all().coverage.rate()

    def _own_counts(self, cluster: str) -> _Counts:
        if cluster != self._cluster:
            self._sums.add(self._own)
            self._cluster, self._own = cluster, _Counts()
        return self._own

    def _all(self) -> _Sums:
        whole = _Sums()
        whole.take(self._sums)
        for counts in (*self._shared.values(), self._own):
            whole.add(counts)
        return whole


def merged(tallies: Iterable[MetricTally]) -> MetricTally:
    """The tally of all their cases together."""
    whole = MetricTally()
    for tally in tallies:
        whole.take(tally)
    return whole


def _ratio(verdict: Verdict) -> tuple[float, float]:
    if verdict.status is VerdictStatus.SCORE:
        return verdict.numerator or 0.0, verdict.denominator or 0.0
    return float(verdict.status is VerdictStatus.PASS), 1.0
