"""What a run will do, and how far it is."""

from __future__ import annotations

import shlex
import time

import typer

from liftbay.catalog.words import text_of
from liftbay.cli.ticker import Ticker, duration, say_progress
from liftbay.domain.judging import JudgeSettings
from liftbay.domain.result import CaseResult, Outcome, RunRecord
from liftbay.jobs.estimate import Estimate
from liftbay.jobs.prepare import Prepared
from liftbay.language import tr
from liftbay.report.table import table


def plan_text(prepared: Prepared, expected: Estimate | None) -> str:
    """What a run would cover, datasets, main metrics with reasons, metrics, probes, trials, and what it may take."""
    selection, request = prepared.selection, prepared.record.request
    names = (tr("dataset type"), tr("main metric"), tr("cases"), tr("reason"))
    rows = [
        (type_.value, main.metric, str(prepared.counts[type_]), text_of(main.reason))
        for type_, main in selection.main_metric_by_dataset.items()
    ]
    turns = tr(
        "{trials} trials, {concurrency} at once; a turn may take {timeout:g} s",
        trials=sum(prepared.counts.values()) * request.trials,
        concurrency=request.concurrency,
        timeout=request.timeout,
    )
    return "\n".join(
        (
            f"{request.scope} · {prepared.record.agent_name}",
            table(names, rows, text_columns=2),
            f"{tr('metrics')}: {', '.join(selection.metrics)}",
            f"{tr('probes')}: {', '.join(selection.probes)}",
            turns,
            _judge(request.judge),
            _expectation(expected),
        )
    )


def _judge(judge: JudgeSettings | None) -> str:
    if judge is None:
        return tr("judge: none; metrics that only a judge can decide will be errors")
    where = judge.url or tr("recorded answers in {file}", file=judge.answers)
    return tr("judge: {model}, {where}; votes: {votes}", model=judge.model or "-", where=where, votes=judge.votes)


def _expectation(expected: Estimate | None) -> str:
    if expected is None:
        return tr("time and tokens are not known: this agent has no finished run in the store")
    unknown = tr("not reported")
    return tr(
        "judged by run {run}: about {time}, tokens: {tokens}, cost: {cost}",
        run=expected.earlier_run,
        time=duration(expected.seconds),
        tokens=unknown if expected.tokens is None else f"{expected.tokens:.0f}",
        cost=unknown if expected.cost is None else f"{expected.cost:.4g}",
    )


class RunDisplay:
    """Shows a run on standard error."""

    def __init__(self, prepared: Prepared, store_url: str | None) -> None:
        self._store_url = store_url
        self._missing = prepared.missing
        self._warnings = prepared.warnings
        self._outcomes = dict.fromkeys(Outcome, 0)
        self._faults = 0

    def started(self, record: RunRecord, done: int) -> None:
        """Begin to show progress."""
        self._planned, self._kept = record.planned, done
        self._begun = time.monotonic()
        if self._missing:
            typer.echo(
                f"liftbay: {tr('warning')}: "
                + tr("no cases of these dataset types of the scope: {types}", types=", ".join(self._missing)),
                err=True,
            )
        if self._warnings:
            typer.echo(
                f"liftbay: {tr('warning')}: "
                + tr("{count} doubts about the datasets; liftbay datasets validate lists them", count=self._warnings),
                err=True,
            )
        if done:
            say_progress(tr("{count} trials are in the store already and are skipped", count=done))
        say_progress(tr("run {run}: {count} trials", run=record.id, count=record.planned - done))
        self._ticker = Ticker(self._state, lambda: sum(self._outcomes.values()), record.planned - done)
        self._ticker.start()

    def finished(self, result: CaseResult) -> None:
        """Count a trial."""
        self._outcomes[result.outcome] += 1
        self._faults += not result.episode.finished

    def stopped(self, record: RunRecord) -> None:
        """Show the last state; where the run can go on, say how."""
        self._ticker.stop()
        if record.state.value != "finished":
            if record.error:
                say_progress(record.error)
            store = ("--store", self._store_url) if self._store_url else ()
            words = ["liftbay", "run", "--resume", record.id, *store]
            say_progress(tr("to go on: {command}", command=shlex.join(words)))

    def _state(self) -> str:
        done = sum(self._outcomes.values())
        total = self._planned - self._kept
        rate = done / max(time.monotonic() - self._begun, 1e-9)
        return tr(
            "{done} of {total} trials, {rate:.1f} a second, passed: {passed}, failed: {failed}, "
            "undecided: {undecided}, faults: {faults}, {left} left",
            done=done,
            total=total,
            rate=rate,
            passed=self._outcomes[Outcome.PASSED],
            failed=self._outcomes[Outcome.FAILED],
            undecided=self._outcomes[Outcome.UNDECIDED],
            faults=self._faults,
            left=duration((total - done) / rate) if rate else "?",
        )
