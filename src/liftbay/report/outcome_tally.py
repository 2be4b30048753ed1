"""How trials ended, added up one at a time, and the first of those that deserve a look."""

from __future__ import annotations

from collections import Counter, defaultdict

from liftbay.domain.blame import Blame
from liftbay.domain.result import CaseResult, Outcome
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import DatasetType, VerdictStatus
from liftbay.report.case_line import case_line, example_of
from liftbay.report.marks import Mark, mark_of, why_undecided
from liftbay.report.report import CaseCounts, CaseLine
from liftbay.report.tally import RateTally
from liftbay.scoring.pass_at_k import mean_over_cases
from liftbay.scoring.rates import Rate

_LISTED_CASES = 50


class OutcomeTally:
    """Takes trials in any order, those of one case one after another."""

    def __init__(self) -> None:
        self._passes = RateTally()
        self._scene_passes: dict[str, RateTally] = defaultdict(RateTally)
        self._outcomes: Counter[tuple[DatasetType, Outcome]] = Counter()
        self._marks: Counter[tuple[DatasetType, Mark]] = Counter()
        self._undecided: Counter[str] = Counter()
        self._examples: dict[str, str] = {}
        self._case: tuple[str, int, int] = ("", 0, 0)  # the case whose trials are coming: key, decided, passed
        self._trials: Counter[tuple[int, int]] = Counter()  # cases by (decided trials, passed trials)
        self.scene_names: dict[str, str] = {}
        self.lucky: list[CaseLine] = []
        self.lucky_total = 0
        self.failed: list[CaseLine] = []

    @property
    def total(self) -> int:
        """How many trials were added."""
        return self._outcomes.total()

    @property
    def dataset_types(self) -> set[DatasetType]:
        """The dataset types of what was added."""
        return {dataset_type for dataset_type, _ in self._outcomes}

    def add(
        self, result: CaseResult, blame: Blame, failed_in_modules: list[Verdict], cluster: str, *, shared: bool
    ) -> None:
        """Count one trial; of one that passed, `failed_in_modules` says what failed in it all the same."""
        case, outcome = result.case, result.outcome
        self._outcomes[case.dataset_type, outcome] += 1
        self._marks[case.dataset_type, mark_of(result)] += 1
        self.scene_names.setdefault(case.scene_code, case.scene_name)
        if outcome is Outcome.UNDECIDED:
            self._undecided[why_undecided(result)] += 1
            self._examples.setdefault(why_undecided(result), example_of(result))
        else:
            passed = float(outcome is Outcome.PASSED)
            self._passes.add(cluster, passed, 1, shared=shared)
            self._scene_passes[case.scene_code].add(cluster, passed, 1, shared=shared)
        key = f"{case.dataset_type}/{case.id}"
        if key != self._case[0]:
            self._close_case()
            self._case = (key, 0, 0)
        _, decided, passes = self._case
        self._case = (key, decided + (outcome is not Outcome.UNDECIDED), passes + (outcome is Outcome.PASSED))
        if failed_in_modules:
            self.lucky_total += 1
            if len(self.lucky) < _LISTED_CASES:
                self.lucky.append(case_line(result, failed_in_modules))
        if outcome is Outcome.FAILED and len(self.failed) < _LISTED_CASES:
            why = [
                one
                for one in result.verdicts
                if one.status is VerdictStatus.FAIL
                or one.metric == result.main_metric  # a ratio, say, that is not whole
            ]
            self.failed.append(case_line(result, why, blame))

    def _close_case(self) -> None:
        if self._case[1]:
            self._trials[self._case[1:]] += 1

    def pass_rate(self) -> Rate:
        """Passes over decided trials."""
        return self._passes.rate()

    def by_scene(self) -> dict[str, Rate]:
        """The pass rate of each scene."""
        return {scene: tally.rate() for scene, tally in sorted(self._scene_passes.items())}

    def over_trials(self) -> tuple[list[float] | None, list[float] | None]:
        """pass@k and pass^k, k = 1 first."""
        self._close_case()
        self._case = ("", 0, 0)
        return mean_over_cases(self._trials.elements())

    def counts(self) -> CaseCounts:
        """How the trials ended."""
        by_outcome: Counter[Outcome] = Counter()
        by_dataset: dict[DatasetType, dict[Outcome, int]] = {}
        for (dataset_type, outcome), count in sorted(self._outcomes.items()):
            by_outcome[outcome] += count
            by_dataset.setdefault(dataset_type, {})[outcome] = count
        marks: dict[DatasetType, dict[Mark, int]] = {}
        for (dataset_type, mark), count in sorted(self._marks.items()):
            marks.setdefault(dataset_type, {})[mark] = count
        return CaseCounts(
            total=by_outcome.total(),
            passed=by_outcome[Outcome.PASSED],
            failed=by_outcome[Outcome.FAILED],
            undecided=by_outcome[Outcome.UNDECIDED],
            undecided_by_reason=dict(self._undecided.most_common()),
            undecided_examples=self._examples,
            by_dataset=by_dataset,
            marks=marks,
        )
