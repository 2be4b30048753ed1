"""The stores that the contract is held against, and results to put into them."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from liftbay.domain.case import Case, ExpectedTool
from liftbay.domain.episode import Episode, Turn
from liftbay.domain.result import CaseResult, Outcome, RunRecord, RunRequest, RunState
from liftbay.domain.trace import EvalTrace, Planning, ToolCallRecord
from liftbay.domain.verdict import passed
from liftbay.domain.vocabulary import DatasetType, Route
from liftbay.ports import RunStore
from liftbay.stores.memory import MemoryStore
from liftbay.stores.open import open_store


class Place:
    """Where one store is; it can be opened several times."""

    def __init__(self, url: str | None) -> None:
        self.url = url
        self._memory = MemoryStore()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[RunStore]:
        """The store, open."""
        store = self._memory if self.url is None else await open_store(self.url)
        try:
            yield store
        finally:
            await store.close()


def synchronous(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that is a coroutine, for pytest."""

    @functools.wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        asyncio.run(test(*arguments, **named))

    return run


def a_run(run_id: str = "run-1", submitted: str = "2026-11-30T00:00:00Z", **changes: Any) -> RunRecord:
    """A run."""
    request = RunRequest(scope="TOOL_CALL", agent="python:agents:answer")
    return RunRecord(**{"id": run_id, "request": request, "state": RunState.RUNNING, "submitted": submitted, **changes})


def a_result(
    number: int,
    *,
    kind: DatasetType = DatasetType.TOOL_CALL,
    trial: int = 1,
    answer: str = "京都のホテルを予約しました。",
    outcome: Outcome = Outcome.PASSED,
    case_id: str | None = None,
) -> CaseResult:
    """A result with its trace, about 1 KB as JSON."""
    arguments = {"city": "京都", "people": number, "name": f"ホテル {number}"}
    trace = EvalTrace(
        planning=Planning(route=Route.SKILL_HIT, latency_ms=3.25),
        tool_calls=[ToolCallRecord("reserve_hotel", arguments, success=True, result={"id": number}, latency_ms=12.5)],
    )
    case = Case(
        id=case_id or f"case-{number:06}",
        dataset_type=kind,
        user_input="京都のホテルを 2 名で予約してください。",
        expected_tools=[ExpectedTool("reserve_hotel", arguments)],
    )
    return CaseResult(
        case=case,
        trial=trial,
        episode=Episode(f"session-{number}-{trial}", [Turn(1, case.user_input or "", answer, trace, 200.0)]),
        verdicts=[passed("tool_call_accuracy", expected=arguments, actual=arguments), passed("routing_accuracy")],
        main_metric="tool_call_accuracy",
        outcome=outcome,
    )
