"""Which module the failed and undecided trials are laid to, added up one trial at a time."""

from __future__ import annotations

from collections import defaultdict

import msgspec

from liftbay.diagnosis.first_fault import faults_of
from liftbay.diagnosis.groups import MOST_KEPT, Group, Member, PassingInputs, grouped, member_of
from liftbay.domain.blame import Blame, Culprit
from liftbay.domain.result import CaseResult, Outcome
from liftbay.report.tally import RateTally
from liftbay.scoring.rates import Rate


class CulpritShare(msgspec.Struct, frozen=True, rename="camel"):
    """What is laid to one culprit."""

    trials: int  # of which it is the most probable first fault
    share: Rate  # of all that were looked at
    expected: float  # the sum of its probabilities over all trials


class BlameReport(msgspec.Struct, frozen=True, rename="camel"):
    """The failed and undecided trials by culprit."""

    trials: int  # that were looked at: those failed, and those undecided of which some verdict failed
    by_culprit: dict[Culprit, CulpritShare]  # in causal order; those that nothing is laid to are absent
    unexplained: CulpritShare
    not_judged: int  # undecided trials in which no verdict failed: there is nothing to explain
    groups: list[Group]
    lucky: list[Group]  # of passed trials in which a module failed all the same


class BlameTally:
    """Takes trials in any order, those of one case one after another."""

    def __init__(self) -> None:
        self._counts: dict[Culprit | None, int] = defaultdict(int)
        self._expected: dict[Culprit | None, float] = defaultdict(float)
        self._shares = {culprit: RateTally() for culprit in (*Culprit, None)}
        self._members: list[Member] = []
        self._lucky: list[Member] = []
        self._passing = PassingInputs()
        self._not_judged = 0

    def add(self, result: CaseResult, blame: Blame, cluster: str, *, shared: bool, lucky: bool) -> None:
        """Count one trial; `lucky` where it passed although a module failed."""
        if result.outcome is Outcome.PASSED:
            if lucky:
                self._keep(self._lucky, result, faults_of(result))
            else:
                self._passing.add(result)
            return
        if result.outcome is Outcome.UNDECIDED and not blame.candidates:
            self._not_judged += 1
            return
        self._counts[blame.culprit] += 1
        for candidate in blame.candidates:
            self._expected[candidate.culprit] += candidate.probability
        for culprit, tally in self._shares.items():
            tally.add(cluster, float(culprit is blame.culprit), 1, shared=shared)
        self._keep(self._members, result, blame)

    def report(self) -> BlameReport:
        """What was counted."""
        return BlameReport(
            trials=sum(self._counts.values()),
            by_culprit={culprit: self._share(culprit) for culprit in Culprit if self._expected[culprit]},
            unexplained=self._share(None),
            not_judged=self._not_judged,
            groups=grouped(self._members, self._passing),
            lucky=grouped(self._lucky, self._passing),
        )

    def _share(self, culprit: Culprit | None) -> CulpritShare:
        count = self._counts[culprit]
        expected = float(count) if culprit is None else round(self._expected[culprit], 3)
        return CulpritShare(count, self._shares[culprit].rate(), expected)

    def _keep(self, members: list[Member], result: CaseResult, blame: Blame) -> None:
        if len(members) < MOST_KEPT:
            members.append(member_of(result, blame))
