"""Runs, results and answers of judges in memory, for notebooks and tests; gone with the process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from itertools import islice

from liftbay.domain.result import CaseResult, RunRecord, without_spans
from liftbay.ports import ResultPage, ResultRow
from liftbay.stores.faults import no_run, run_exists


class MemoryStore:
    """A `Store` that keeps what it is given, as it is."""

    def __init__(self) -> None:
        self._runs: dict[str, RunRecord] = {}
        self._results: dict[str, dict[tuple[str, str, int], CaseResult]] = {}
        self._answers: dict[str, str] = {}
        self._baselines: dict[str, str] = {}

    async def add_run(self, run: RunRecord) -> None:
        """Keep a new run."""
        if run.id in self._runs:
            raise run_exists(run.id)
        self._runs[run.id] = run
        self._results[run.id] = {}

    async def update_run(self, run: RunRecord) -> None:
        """Replace what is kept of a run."""
        if run.id not in self._runs:
            raise no_run(run.id)
        self._runs[run.id] = run

    async def run(self, run_id: str) -> RunRecord | None:
        """A run, or None."""
        return self._runs.get(run_id)

    async def runs(self, *, limit: int = 50, offset: int = 0) -> list[RunRecord]:
        """Runs, the newest first."""
        oldest_first = sorted(self._runs.values(), key=lambda run: run.submitted)
        return oldest_first[::-1][offset : offset + limit]

    async def remove_run(self, run_id: str) -> bool:
        """Forget a run and its results; False where there was none."""
        self._results.pop(run_id, None)
        self._baselines = {name: run for name, run in self._baselines.items() if run != run_id}
        return self._runs.pop(run_id, None) is not None

    async def add_results(self, run_id: str, results: Iterable[CaseResult]) -> None:
        """Keep finished trials, all or none; a trial that is kept already is left as it is."""
        if run_id not in self._results:
            raise no_run(run_id)
        kept = self._results[run_id]
        for result in results:
            kept.setdefault(result.key, result)

    async def done(self, run_id: str) -> set[tuple[str, str, int]]:
        """The keys of the trials that are kept."""
        return set(self._results.get(run_id, ()))

    async def results(self, run_id: str) -> AsyncIterator[CaseResult]:
        """All results of a run without their spans, in the order of dataset type, case and trial."""
        kept = self._results.get(run_id, {})
        for key in sorted(kept):
            yield without_spans(kept[key])

    async def page(self, run_id: str, *, limit: int = 50, offset: int = 0) -> ResultPage:
        """A page of results."""
        kept = self._results.get(run_id, {})
        rows = [
            ResultRow(*key, result.case.scene_code, result.outcome, result.main_metric)
            for key, result in islice(kept.items(), offset, offset + limit)
        ]
        return ResultPage(rows, len(kept))

    async def result(self, run_id: str, dataset_type: str, case_id: str, trial: int) -> CaseResult | None:
        """One result with its trace and its spans, or None."""
        return self._results.get(run_id, {}).get((dataset_type, case_id, trial))

    async def set_baseline(self, name: str, run_id: str) -> None:
        """Let a name mean a run, in place of what it meant; the run must be there."""
        if run_id not in self._runs:
            raise no_run(run_id)
        self._baselines[name] = run_id

    async def remove_baseline(self, name: str) -> bool:
        """Forget a name; False where there was none. The run stays."""
        return self._baselines.pop(name, None) is not None

    async def baseline(self, name: str) -> str | None:
        """The id of the run that a name means, or None."""
        return self._baselines.get(name)

    async def baselines(self) -> list[tuple[str, str]]:
        """All names with the ids of their runs, ordered by name."""
        return sorted(self._baselines.items())

    async def cached(self, key: str) -> str | None:
        """The answer of a judge that was kept under the key, or None."""
        return self._answers.get(key)

    async def keep(self, key: str, answer: str) -> None:
        """Keep an answer of a judge; what is there already stays."""
        self._answers.setdefault(key, answer)

    async def answers(self) -> AsyncIterator[tuple[str, str]]:
        """All keys with their answers, ordered by key."""
        for key in sorted(self._answers):
            yield key, self._answers[key]

    async def keep_all(self, answers: Iterable[tuple[str, str]]) -> int:
        """Keep answers of judges, all or none; what is there already stays. Returns how many are new."""
        before = len(self._answers)
        self._answers = dict(answers) | self._answers
        return len(self._answers) - before

    async def close(self) -> None:
        """Nothing to give back."""
