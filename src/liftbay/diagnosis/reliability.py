"""pass^k of two runs over the same trials of the same cases."""

from __future__ import annotations

from liftbay.diagnosis.explanation import Reliability
from liftbay.diagnosis.resampling import mean_change
from liftbay.domain.case import Case
from liftbay.scoring.pass_at_k import mean_over_cases, pass_hat_k


class _Passes:
    """Of one case."""

    def __init__(self, cluster: str) -> None:
        self.cluster = cluster
        self.trials = self.base = self.head = 0


class TrialsOfCases:
    """Counts passes by case."""

    def __init__(self) -> None:
        self._cases: dict[tuple[str, str], _Passes] = {}

    def add(self, case: Case, base: bool, head: bool, cluster: str) -> None:
        """Count a pair of decided trials."""
        passes = self._cases.setdefault((case.dataset_type, case.id), _Passes(cluster))
        passes.trials += 1
        passes.base += base
        passes.head += head

    def reliability(self) -> Reliability | None:
        """pass^k as far as every case has trials; None with one trial a case, or a single cluster."""
        cases = list(self._cases.values())
        k = min((passes.trials for passes in cases), default=0)
        if k < 2:
            return None
        clusters: dict[str, list[float]] = {}
        for passes in cases:
            sums = clusters.setdefault(passes.cluster, [0.0, 0])
            sums[0] += pass_hat_k(passes.trials, passes.head, k) - pass_hat_k(passes.trials, passes.base, k)
            sums[1] += 1
        found = mean_change((total, int(size)) for total, size in clusters.values())
        if found is None:
            return None
        base = mean_over_cases((passes.trials, passes.base) for passes in cases)[1]
        head = mean_over_cases((passes.trials, passes.head) for passes in cases)[1]
        return Reliability(len(cases), base, head, found[0])
