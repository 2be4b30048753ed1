"""What replaying failed trials with one module's output put right says about that module.

A trial may pass when it is merely repeated: every replayed trial is repeated once with nothing put right, and what
counts is by how much more often it passes with the module's output in place.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import msgspec

from liftbay.diagnosis.intervention import OVERRIDABLE, InterventionPlan
from liftbay.domain.blame import Culprit
from liftbay.domain.result import Outcome
from liftbay.scoring.paired import Difference, clustered_difference
from liftbay.scoring.rates import ClusterSums, Rate


class Replayed(msgspec.Struct, frozen=True, rename="camel"):
    """One trial, and how it ended with this module's output put right, and merely repeated."""

    case: str
    trial: int
    blamed: bool  # whether this module is the most probable first fault
    outcome: Outcome
    repeated: Outcome


class ModuleConfirmation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the replays say of one module."""

    culprit: Culprit
    run: str | None = None  # that holds the replays; None: there was nothing to replay
    replayed: int = 0
    passed: int = 0  # of those replayed
    passed_repeated: int = 0  # of the same trials, merely repeated
    undecided: int = 0  # replays without a verdict, with the output put right or merely repeated
    blamed: int = 0  # trials whose most probable first fault it is
    blamed_replayed: int = 0
    blamed_passed: Rate  # of those replayed and blamed on it
    points: Difference  # of the pass rate that are shown to be lost to it, as a share of 1
    as_expected: int = 0  # trials in which its output was right already
    not_overridable: int = 0
    why_not: dict[str, int] = {}  # of those: why, the most frequent first
    still_failing: list[Replayed] = []  # blamed on it, and failing all the same


class Confirmation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What all replays of a run say. Modules in the order of how many trials are blamed on them."""

    run: str
    decided: int  # trials of the run that the pass rate counts
    failed: int  # of these
    looked_at: int  # of the failed ones
    repeated_run: str | None = None  # that holds the trials that were merely repeated
    repeated: Rate  # how many of them pass
    blamed_elsewhere: dict[str, int] = {}  # trials blamed on what cannot be replaced, or on nothing (`unexplained`)
    modules: list[ModuleConfirmation]
    notes: list[str] = []  # what a reader should know of the replays, in the user's language


class _Counts:
    def __init__(self) -> None:
        self.replayed = self.passed = self.repeated = self.undecided = self.blamed = self.as_expected = 0
        self.why_not: Counter[str] = Counter()
        self.differences: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
        self.blamed_passes: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
        self.still_failing: list[Replayed] = []


class ConfirmationTally:
    """Takes every failed trial that was looked at, once."""

    def __init__(self) -> None:
        self._counts = {culprit: _Counts() for culprit in OVERRIDABLE}
        self._elsewhere: Counter[str] = Counter()
        self._repeated: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
        self._looked_at = 0

    def look_at(self, blamed: Culprit | None) -> None:
        """A failed trial, and what is blamed for it."""
        self._looked_at += 1
        if blamed in self._counts:
            self._counts[blamed].blamed += 1
        else:
            self._elsewhere["unexplained" if blamed is None else blamed.value] += 1

    def repeat(self, cluster: str, outcome: Outcome) -> None:
        """A trial was repeated with nothing put right."""
        if outcome is not Outcome.UNDECIDED:
            _add(self._repeated, cluster, int(outcome is Outcome.PASSED))

    def leave(self, plan: InterventionPlan, cluster: str) -> None:
        """A trial is not replayed with this module's output: it was right already, or cannot be put right."""
        counts = self._counts[plan.culprit]
        _add(counts.differences, cluster, 0)  # nothing is shown
        if plan.as_expected:
            counts.as_expected += 1
        else:
            counts.why_not[plan.why_not or ""] += 1

    def replay(self, culprit: Culprit, cluster: str, replayed: Replayed) -> None:
        """A trial was replayed with this module's output put right."""
        counts = self._counts[culprit]
        counts.replayed += 1
        if Outcome.UNDECIDED in (replayed.outcome, replayed.repeated):
            counts.undecided += 1
            _add(counts.differences, cluster, 0)
            return
        passed, before = replayed.outcome is Outcome.PASSED, replayed.repeated is Outcome.PASSED
        counts.passed += passed
        counts.repeated += before
        _add(counts.differences, cluster, passed - before)
        if replayed.blamed:
            _add(counts.blamed_passes, cluster, int(passed))
            if not passed:
                counts.still_failing.append(replayed)

    def confirmation(
        self, run: str, *, decided: int, failed: int, runs: dict[Culprit | None, str], notes: list[str]
    ) -> Confirmation:
        """What was found; of the failed trials those looked at stand for all. `runs` hold the replays."""
        share = failed / decided if decided else 0.0
        order = sorted(self._counts.items(), key=lambda one: -one[1].blamed)
        return Confirmation(
            run=run,
            decided=decided,
            failed=failed,
            looked_at=self._looked_at,
            repeated_run=runs.get(None),
            repeated=_rate(self._repeated),
            blamed_elsewhere=dict(self._elsewhere.most_common()),
            modules=[_module(culprit, counts, share, runs.get(culprit)) for culprit, counts in order],
            notes=notes,
        )


def _add(clusters: dict[str, tuple[int, int]], cluster: str, value: int) -> None:
    total, size = clusters[cluster]
    clusters[cluster] = total + value, size + 1


def _rate(clusters: dict[str, tuple[int, int]]) -> Rate:
    return ClusterSums().plus(clusters.values()).rate()


def _module(culprit: Culprit, counts: _Counts, failed_share: float, run: str | None) -> ModuleConfirmation:
    blamed_passed = _rate(counts.blamed_passes)
    return ModuleConfirmation(
        culprit=culprit,
        run=run if counts.replayed else None,
        replayed=counts.replayed,
        passed=counts.passed,
        passed_repeated=counts.repeated,
        undecided=counts.undecided,
        blamed=counts.blamed,
        blamed_replayed=blamed_passed.n,
        blamed_passed=blamed_passed,
        points=_points(counts, failed_share),
        as_expected=counts.as_expected,
        not_overridable=counts.why_not.total(),
        why_not=dict(counts.why_not.most_common()),
        still_failing=counts.still_failing,
    )


def _points(counts: _Counts, failed_share: float) -> Difference:
    """The mean gain of the failed trials times their share of the decided ones.

    Trials that could not be replayed, or were left undecided, count as no gain: the points are what was shown.
    """
    if not counts.replayed:
        return Difference(None, None, None, 0)
    gain = clustered_difference(counts.differences.values())
    if gain.value is None or gain.low is None or gain.high is None:
        return gain
    return Difference(gain.value * failed_share, gain.low * failed_share, gain.high * failed_share, gain.n)
