"""How far the replays of `liftbay diagnose --confirm` are, on standard error."""

from __future__ import annotations

import shlex

from liftbay.cli.ticker import Ticker, say_progress
from liftbay.domain.result import CaseResult, Outcome, RunRecord, RunState
from liftbay.language import tr


class ReplayDisplay:
    """Shows the replays of one module."""

    def __init__(self, name: str, resume: list[str]) -> None:
        """`name` says whose output is put right; `resume` is the command that goes on."""
        self._name = name
        self._resume = resume
        self._done = self._passed = self._planned = 0

    def started(self, record: RunRecord, done: int) -> None:
        """Begin to show progress."""
        self._done, self._planned = done, record.planned
        self._ticker = Ticker(self._state, lambda: self._done, record.planned)
        self._ticker.start()

    def finished(self, result: CaseResult) -> None:
        """Count a replay."""
        self._done += 1
        self._passed += result.outcome is Outcome.PASSED

    def stopped(self, record: RunRecord) -> None:
        """Show the last state; where the replays can go on, say how."""
        self._ticker.stop()
        if record.state is not RunState.FINISHED:
            if record.error:
                say_progress(record.error)
            say_progress(tr("to go on: {command}", command=shlex.join(self._resume)))

    def _state(self) -> str:
        return tr(
            "{name}: {done} of {total} replayed, passed: {passed}",
            name=self._name,
            done=self._done,
            total=self._planned,
            passed=self._passed,
        )
