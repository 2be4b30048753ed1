"""Ask a judge about stored results what nobody has decided yet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import cast

import msgspec

from liftbay.catalog.resolve import resolve, run_plan
from liftbay.domain.episode import Evidence
from liftbay.domain.plan import RunPlan
from liftbay.domain.result import CaseResult, RunRecord
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import VerdictStatus
from liftbay.engine.judge import asked
from liftbay.jobs.reporting import rescoped
from liftbay.ports import Judge, ResultPage, RunStore
from liftbay.report.report import Report

_AT_ONCE = 64  # results whose questions are open together


async def rejudged(store: RunStore, record: RunRecord, scope: str, judge: Judge) -> Report:
    """`rescoped`, with a judge for what is not judged yet."""
    results = _JudgedResults(store, record, run_plan(resolve(scope)), judge)
    return await rescoped(cast(RunStore, results), record, scope)  # which only reads the results of the run


class _JudgedResults:
    """The results of a run with the verdicts of a judge on the metrics of another plan; nothing is stored."""

    def __init__(self, store: RunStore, record: RunRecord, plan: RunPlan, judge: Judge) -> None:
        self._store = store
        self._prerequisites = record.request.prerequisites
        self._plan = plan
        self._judge = judge
        self._found: dict[tuple[str, str, int], list[Verdict]] = {}  # a report may read the results twice

    async def page(self, run_id: str, *, limit: int = 50, offset: int = 0) -> ResultPage:
        """A page of the results as they are stored."""
        return await self._store.page(run_id, limit=limit, offset=offset)

    async def results(self, run_id: str) -> AsyncIterator[CaseResult]:
        """The results, streamed, with the judge's verdicts in place of those that failed or were never asked for."""
        waiting: list[CaseResult] = []
        async for result in self._store.results(run_id):
            waiting.append(result)
            if len(waiting) == _AT_ONCE:
                for judged in await self._judged(waiting):
                    yield judged
                waiting = []
        for judged in await self._judged(waiting):
            yield judged

    async def _judged(self, results: Sequence[CaseResult]) -> list[CaseResult]:
        return await asyncio.gather(*map(self._with_verdicts, results))

    async def _with_verdicts(self, result: CaseResult) -> CaseResult:
        type_ = result.case.dataset_type
        if type_ not in self._plan.metrics:
            return result
        kept = [verdict for verdict in result.verdicts if verdict.status is not VerdictStatus.ERROR]
        if result.key not in self._found:
            known = {verdict.metric for verdict in kept if verdict.judgement is not None}
            new = await asked(
                self._judge,
                Evidence(result.case, result.episode),
                [metric for metric in self._plan.metrics[type_] if metric.id not in known],
                main=self._plan.main[type_][0],
                prerequisites=self._prerequisites,
            )
            self._found[result.key] = list(new.values())
        return msgspec.structs.replace(result, verdicts=[*kept, *self._found[result.key]])
