"""Stands before the tools of an agent: mock data answers in E2E_MOCK, the real tool in E2E_REAL.

One `MockTools` serves a run. A call finds its trial by the context that it is made in, or by the session id where it
comes from another process. A call that no mock answers is a visible fault of its case, never passed on.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from liftbay.domain.case import Case, MockData
from liftbay.domain.trace import ToolCallRecord
from liftbay.domain.vocabulary import EvalMode
from liftbay.mocks.json_form import as_kept
from liftbay.mocks.mock_answers import MockAnswers, unmocked
from liftbay.ports import Intercepted

ENDED = "the trial has ended"


class OpenTrial:
    """The tools of one trial; any thread may ask."""

    def __init__(
        self, session_id: str, case: Case, mocks: MockAnswers | None, endpoint: str | None, mcp_endpoint: str | None
    ) -> None:
        self.session_id = session_id
        self.case = case
        self.endpoint = endpoint
        self.mcp_endpoint = mcp_endpoint
        self.real = case.eval_mode is EvalMode.E2E_REAL
        self._mocks = mocks
        self._lock = threading.Lock()
        self._calls: list[ToolCallRecord] = []
        self._ended = False

    def intercept(self, name: str, arguments: dict[str, Any]) -> Intercepted | None:
        """What the call is answered with; None: ask the real tool.

        After the end of the trial a call is refused, whatever its case: what is left of an agent that timed out
        must not book a hotel.
        """
        if self._ended:
            return Intercepted(error=ENDED)
        if self.real:
            return None
        return unmocked() if self._mocks is None else self._mocks.answer(name, arguments)

    def answer(self, name: str, arguments: dict[str, Any]) -> Intercepted | None:
        """`intercept`, and the call is noted where it was answered; who asks the real tool notes it afterwards."""
        answer = self.intercept(name, arguments)
        if answer is not None:
            self.record(record_of(name, arguments, answer))
        return answer

    def record(self, call: ToolCallRecord) -> None:
        """Note a call that was made, however it was answered; after the end of the trial nobody asks for it."""
        kept = as_kept(call)
        with self._lock:
            if not self._ended:
                self._calls.append(kept)

    def taken(self) -> list[ToolCallRecord]:
        """The calls that were noted since this was last asked, in their order."""
        with self._lock:
            calls, self._calls = self._calls, []
        return calls

    def end(self) -> None:
        """The trial is over."""
        with self._lock:
            self._ended = True
            self._calls = []


def record_of(name: str, arguments: dict[str, Any], answer: Intercepted) -> ToolCallRecord:
    """The record of a call that was answered in place of the real tool; a mock's latency is nobody's."""
    return ToolCallRecord(
        name,
        arguments,
        success=answer.error is None,
        result=answer.result,
        error=answer.error,
        mocked=not answer.unmocked,
        unmocked=answer.unmocked,
    )


class MockTools:
    """The tool interceptor of a run.

    `endpoint` and `mcp_endpoint` are the addresses of the servers for agents in other processes, without the session
    id; they may be set once the servers listen. `unassigned` counts the calls that belonged to no open trial.
    """

    def __init__(
        self, mock_data: Mapping[str, MockData], *, endpoint: str | None = None, mcp_endpoint: str | None = None
    ) -> None:
        self.endpoint = endpoint
        self.mcp_endpoint = mcp_endpoint
        self.unassigned = 0
        self.use(mock_data)
        self._open: dict[str, OpenTrial] = {}
        self._lock = threading.Lock()
        self._current: contextvars.ContextVar[OpenTrial | None] = contextvars.ContextVar("trial", default=None)

    def use(self, mock_data: Mapping[str, MockData]) -> None:
        """Answer from this mock data, by id, from now on."""
        self._mocks = {id_: MockAnswers(data) for id_, data in mock_data.items()}

    @contextmanager
    def open(self, session_id: str, case: Case) -> Iterator[OpenTrial]:
        """The tools of a trial, while it lasts; code that runs in this context finds them."""
        real = case.eval_mode is EvalMode.E2E_REAL
        trial = OpenTrial(
            session_id,
            case,
            self._mocks.get(case.mock_data_id or ""),
            None if real else _of_session(self.endpoint, session_id),  # it has no answers for a case that runs for real
            _of_session(self.mcp_endpoint, session_id),
        )
        with self._lock:
            self._open[session_id] = trial
        token = self._current.set(trial)
        try:
            yield trial
        finally:
            self._current.reset(token)
            with self._lock:
                self._open.pop(session_id, None)
            trial.end()

    def of_session(self, session_id: str) -> OpenTrial | None:
        """The trial of a session, while it is open."""
        with self._lock:
            return self._open.get(session_id)

    def of_context(self) -> OpenTrial | None:
        """The trial in whose context this is asked, even after its end."""
        return self._current.get()

    def only(self) -> OpenTrial | None:
        """The trial that is open, where there is exactly one."""
        trials = self.open_trials()
        return trials[0] if len(trials) == 1 else None

    def open_trials(self) -> list[OpenTrial]:
        """All trials that are open."""
        with self._lock:
            return list(self._open.values())

    def refuse(self) -> None:
        """Count a call that belongs to no open trial."""
        with self._lock:
            self.unassigned += 1

    async def close(self) -> None:
        """Nothing to give back: the servers have their own end."""


def _of_session(address: str | None, session_id: str) -> str | None:
    return None if address is None else f"{address.rstrip('/')}/{session_id}"
