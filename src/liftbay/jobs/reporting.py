"""Read a run back from the store and build its report, under its own scope or another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from liftbay.catalog.resolve import resolve, run_plan
from liftbay.domain.plan import RunPlan
from liftbay.domain.result import CaseResult, RunRecord
from liftbay.domain.vocabulary import DatasetType
from liftbay.engine.run import conclude
from liftbay.errors import InputError
from liftbay.jobs.execute import Observer
from liftbay.ports import RunStore
from liftbay.report.build import ReportBuilder
from liftbay.report.report import Report

Read = Callable[[CaseResult], CaseResult]


class Counting:
    """Counts results while a run goes on, and passes everything to the observer that shows it."""

    def __init__(self, observer: Observer, record: RunRecord, plan: RunPlan) -> None:
        self._observer = observer
        # The trials of a case must come one after another, and all of them: else only the store knows the whole.
        self.builder = ReportBuilder(plan, prices=record.request.prices) if record.request.trials == 1 else None

    def started(self, record: RunRecord, done: int) -> None:
        """What the store has already was not counted."""
        if done:
            self.builder = None
        self._observer.started(record, done)

    def finished(self, result: CaseResult) -> None:
        """Count a trial."""
        if self.builder is not None:
            self.builder.add(result)
        self._observer.finished(result)

    def stopped(self, record: RunRecord) -> None:
        """Nothing more comes."""
        self._observer.stopped(record)


class Form(StrEnum):
    """The forms of a report."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    CSV = "csv"


class ByTrial(Protocol):
    """A form that holds every trial."""

    def head(self) -> Iterator[str]:
        """What comes before the trials."""

    def trial(self, result: CaseResult) -> Iterator[str]:
        """One trial, in the order of the store."""

    def tail(self) -> Iterator[str]:
        """What comes after them."""


async def build_report(
    store: RunStore,
    record: RunRecord,
    plan: RunPlan,
    *,
    counted: ReportBuilder | None = None,
    decide_anew: bool = False,
) -> Report:
    """The report of what the store has of a run; with `decide_anew` every verdict is decided again by `plan`.

    `counted` spares reading the results again where it counted as many as the store has. Results of dataset types
    that the plan does not cover are left out.
    """
    if counted is not None and not counted.needs_second_pass and counted.total == await _kept(store, record):
        return counted.report(record, missing_types=_missing(plan, counted.dataset_types))
    builder = await _built(store, record, plan, _reader(record, plan) if decide_anew else _as_stored)
    return builder.report(record, missing_types=_missing(plan, builder.dataset_types))


async def written(store: RunStore, record: RunRecord, form: Form) -> AsyncIterator[bytes]:
    """The report of a run in a form, piece by piece: the run's results stream by, they are never held together."""
    plan = run_plan(resolve(record.request.scope, record.request.dataset_types))
    builder = await _built(store, record, plan, _as_stored)
    report = builder.report(record, missing_types=_missing(plan, builder.dataset_types))
    if (whole := _whole(form, report)) is not None:
        yield whole.encode()
        return
    by_trial = _by_trial(form, report, record)
    for piece in by_trial.head():
        yield piece.encode()
    async for result in store.results(record.id):
        if result.case.dataset_type in plan.metrics:
            for piece in by_trial.trial(builder.as_counted(result)):
                yield piece.encode()
    for piece in by_trial.tail():
        yield piece.encode()


def _by_trial(form: Form, report: Report, record: RunRecord) -> ByTrial:
    """The forms are loaded when they are wanted: a run does not pay for them."""
    if form is Form.HTML:
        from liftbay.report.html.page import Page  # noqa: PLC0415

        return Page(report, record)
    if form is Form.JUNIT:
        from liftbay.report.junit import JUnit  # noqa: PLC0415

        return JUnit(report, record)
    from liftbay.report.csv_rows import CsvRows  # noqa: PLC0415

    return CsvRows(report, record.request.prices)


def _whole(form: Form, report: Report) -> str | None:
    """The forms that hold no list of all trials."""
    if form is Form.TEXT:
        return f"{report}\n"
    if form is Form.JSON:
        return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"
    if form is Form.MARKDOWN:
        from liftbay.report.markdown import report_markdown  # noqa: PLC0415

        return report_markdown(report)
    return None


def _as_stored(result: CaseResult) -> CaseResult:
    return result


def _reader(record: RunRecord, plan: RunPlan) -> Read:
    """What decides every verdict of a result anew; those of a judge stay."""
    return lambda result: conclude(
        plan,
        result.case,
        result.trial,
        result.episode,
        prerequisites=record.request.prerequisites,
        judged={one.metric: one for one in result.verdicts if one.judgement is not None or one.items},
    )


async def _built(store: RunStore, record: RunRecord, plan: RunPlan, read: Read) -> ReportBuilder:
    """A builder that has seen every result, a second time where that is needed."""
    prices = record.request.prices
    builder = await _filled(ReportBuilder(plan, prices=prices), store, record, plan, read)
    if not builder.needs_second_pass:
        return builder
    reported = frozenset(builder.reported)
    return await _filled(ReportBuilder(plan, reported, prices=prices), store, record, plan, read)


async def _kept(store: RunStore, record: RunRecord) -> int:
    return (await store.page(record.id, limit=0)).total


async def rescoped(store: RunStore, record: RunRecord, scope: str) -> Report:
    """A run decided anew under another scope, from what is stored, as far as the data reaches."""
    request = msgspec.structs.replace(record.request, scope=scope, dataset_types=[])
    plan = run_plan(resolve(scope))
    report = await build_report(store, msgspec.structs.replace(record, request=request), plan, decide_anew=True)
    if not report.cases.total:
        raise InputError(
            "the run has no result of a dataset type of the scope {scope}: {types}",
            place=record.id,
            remedy="choose a scope that covers what was run",
            scope=scope,
            types=", ".join(plan.metrics),
        )
    return report


async def _filled(
    builder: ReportBuilder, store: RunStore, record: RunRecord, plan: RunPlan, read: Read
) -> ReportBuilder:
    async for result in store.results(record.id):
        if result.case.dataset_type in plan.metrics:
            builder.add(read(result))
    return builder


def _missing(plan: RunPlan, present: set[DatasetType]) -> Sequence[DatasetType]:
    return [type_ for type_ in plan.metrics if type_ not in present]
