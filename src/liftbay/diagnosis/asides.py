"""Trials that are in no paired change: decided in one run only, run once only, or of a case that was changed."""

from __future__ import annotations

from collections import Counter

from liftbay.diagnosis.explanation import Apart, Aside, TrialName
from liftbay.domain.result import CaseResult, Outcome

_EXAMPLES = 10


class _Counted:
    """A count with the first examples."""

    def __init__(self) -> None:
        self.trials = 0
        self.examples: list[TrialName] = []

    def add(self, result: CaseResult) -> None:
        self.trials += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(TrialName(result.case.dataset_type, result.case.id, result.trial))

    def aside(self) -> Aside:
        return Aside(self.trials, self.examples)


class Asides:
    """Counts them by kind."""

    def __init__(self) -> None:
        self._became_undecided, self._became_decided, self._undecided = _Counted(), _Counted(), _Counted()
        self._only_base, self._only_head, self._changed = _Counted(), _Counted(), _Counted()
        self._before: Counter[Outcome] = Counter()

    def pair(self, base: CaseResult, head: CaseResult) -> None:
        """Count a pair that a run left undecided."""
        match base.outcome is Outcome.UNDECIDED, head.outcome is Outcome.UNDECIDED:
            case True, True:
                self._undecided.add(head)
            case False, True:
                self._became_undecided.add(head)
                self._before[base.outcome] += 1
            case True, False:
                self._became_decided.add(head)

    def changed(self, head: CaseResult) -> None:
        """Count a trial of a case that is not the same in both runs."""
        self._changed.add(head)

    def only_base(self, result: CaseResult) -> None:
        """Count a trial that the head has not."""
        self._only_base.add(result)

    def only_head(self, result: CaseResult) -> None:
        """Count a trial that the base has not."""
        self._only_head.add(result)

    def apart(self) -> Apart:
        """What was counted."""
        return Apart(
            became_undecided=self._became_undecided.aside(),
            became_decided=self._became_decided.aside(),
            undecided=self._undecided.aside(),
            only_base=self._only_base.aside(),
            only_head=self._only_head.aside(),
            changed=self._changed.aside(),
            lost_to_undecided=dict(self._before),
        )
