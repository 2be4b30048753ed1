"""Work a run off: what the store has already is skipped, so resuming is the same code as running."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import os
import socket
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

import msgspec

from liftbay.domain.case import Case
from liftbay.domain.plan import RunPlan
from liftbay.domain.result import CaseResult, RunRecord, RunState
from liftbay.domain.spans import SpanCounts
from liftbay.engine.instruments import NONE, Instruments
from liftbay.engine.run import Control, Trial, TrialKey, conclude, run
from liftbay.errors import InputError, LiftbayError
from liftbay.jobs.caveats import caveats
from liftbay.jobs.hot_update import HotUpdate
from liftbay.ports import Agent, RunStore
from liftbay.stores.writer import ResultWriter


class Observer(Protocol):
    """Who watches a run, to show it."""

    def started(self, record: RunRecord, done: int) -> None:
        """Work begins; `done` trials are in the store already."""

    def finished(self, result: CaseResult) -> None:
        """A trial ended."""

    def stopped(self, record: RunRecord) -> None:
        """Work ended, however it ended; every finished trial is in the store."""


class Silent:
    """Shows nothing."""

    def started(self, record: RunRecord, done: int) -> None:
        """Nothing to show."""

    def finished(self, result: CaseResult) -> None:
        """Nothing to show."""

    def stopped(self, record: RunRecord) -> None:
        """Nothing to show."""


def this_process() -> str:
    """What a run is marked with while this process works on it."""
    return f"{socket.gethostname()}:{os.getpid()}"


def is_worked_on(record: RunRecord) -> bool:
    """Whether another process of this host works on the run; of other hosts nothing is known."""
    host, _, process = (record.worker or "").rpartition(":")
    if record.state is not RunState.RUNNING or host != socket.gethostname() or int(process) == os.getpid():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def refuse_if_worked_on(record: RunRecord) -> None:
    """Raise `InputError` where another process works on the run."""
    if is_worked_on(record):
        raise InputError(
            "another process works on this run: {worker}",
            place=record.id,
            remedy="wait until it ends, or stop it",
            worker=record.worker,
        )


def now() -> str:
    """The time in UTC, ISO 8601."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


async def execute(
    record: RunRecord,
    plan: RunPlan,
    cases: Iterable[Case],
    agent: Agent,
    store: RunStore,
    observer: Observer,
    control: Control,
    instruments: Instruments = NONE,
    left_out: Collection[TrialKey] = frozenset(),
) -> RunRecord:
    """Run every trial that is neither in the store nor `left_out`; returns the record as it ended.

    On cancellation of the task, finished trials are kept and the run is marked as interrupted. Raises `StoreError`
    where results cannot be kept, and what the cases raise.
    """
    done = await store.done(record.id)
    record = msgspec.structs.replace(
        record, state=RunState.RUNNING, started=record.started or now(), ended=None, worker=this_process()
    )
    await store.update_run(record)
    prerequisites = record.request.prerequisites

    def concluded(trials: Sequence[Trial]) -> list[CaseResult]:
        results = [
            _without_tool_definitions(
                conclude(plan, one.case, one.trial, one.episode, prerequisites=prerequisites, judged=one.judged)
            )
            for one in trials
        ]
        for result in results:
            observer.finished(result)
        return results

    writer = ResultWriter(store, record.id, concluded)
    update = HotUpdate(agent, plan, record.request, instruments)

    async def keep(trial: Trial) -> None:
        await writer.add(trial)
        update.begin()

    observer.started(record, len(done))
    state, error = RunState.FAILED, None
    warnings = list(record.warnings)
    try:
        await run(
            cases,
            agent,
            record.request,
            keep,
            plan=plan,
            done=done.union(left_out),
            control=control,
            instruments=instruments,
        )
        await writer.close()
        await update.finished()
        if len(done) < record.planned:
            warnings += [one for one in caveats(agent, instruments) if one not in warnings]
        state, error = (RunState.CANCELLED, control.reason) if control.cancelled else (RunState.FINISHED, None)
    except asyncio.CancelledError:
        state = RunState.INTERRUPTED
        raise
    except LiftbayError as failed:
        error = str(failed)
        raise
    finally:
        with contextlib.suppress(LiftbayError):  # where it failed, that is the error on its way
            await writer.close()
        await update.stop()
        record = msgspec.structs.replace(
            record,
            state=state,
            error=error,
            ended=now(),
            worker=None,
            spans=_added(record.spans, instruments),
            warnings=[*warnings, *([update.failure] if update.failure else [])],
            hot_update_latencies_ms=[*record.hot_update_latencies_ms, *update.latencies_ms],
        )
        with contextlib.suppress(LiftbayError):  # a store that failed cannot be told so
            await store.update_run(record)
        observer.stopped(record)
    return record


def _added(before: SpanCounts | None, instruments: Instruments) -> SpanCounts | None:
    """The counts of this start on top of those before it."""
    if instruments.traces is None:
        return before
    counts = instruments.traces.counts
    if before is None:
        return counts
    return SpanCounts(*(getattr(before, name) + getattr(counts, name) for name in counts.__struct_fields__))


def _without_tool_definitions(result: CaseResult) -> CaseResult:
    """The result to keep: tool definitions are the same in every case of a dataset, and large."""
    if result.case.tools is None:
        return result
    return msgspec.structs.replace(result, case=msgspec.structs.replace(result.case, tools=None))
