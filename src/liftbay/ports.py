"""The Protocols that the core talks to; wiring chooses who stands behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from liftbay.domain.case import Case
from liftbay.domain.episode import Turn
from liftbay.domain.result import CaseResult, Outcome, RunRecord
from liftbay.domain.trace import EvalTrace
from liftbay.domain.vocabulary import DatasetType


class AgentInput(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent gets for one turn."""

    session_id: str
    case: Case
    trial: int
    round: int
    user_input: str
    earlier: Sequence[Turn]  # of the same session


class AgentAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What an agent answered; `trace` is None for a black box.

    A `replayed` answer took the time that was recorded, or none that anybody knows: never that of reading it.
    """

    text: str
    trace: EvalTrace | None = None
    time_to_first_token_ms: float | None = None
    replayed: bool = False
    response_latency_ms: float | None = None  # as it was recorded, of a replayed answer
    recorded: dict[str, Any] = {}  # what a replayed trajectory says of itself


class Agent(Protocol):
    """The thing under test. Raises `AgentError` for an execution fault."""

    name: str
    version: str | None

    async def answer(self, turn: AgentInput) -> AgentAnswer:
        """Answer one turn of a session."""

    async def settled(self, session_id: str) -> bool:
        """Whether the session is known to be persisted; False means: wait as long as the run says."""

    async def close(self) -> None:
        """Give back what the agent holds."""


@runtime_checkable
class RecordedAgent(Agent, Protocol):
    """An agent that answers from a record, which may bring its own cases."""

    trials: int  # the most that the record has of a case

    def cases(self, dataset_type: DatasetType) -> list[Case] | None:
        """The recorded tasks as cases, or None where a dataset must give them."""


class ResultRow(msgspec.Struct, frozen=True, rename="camel"):
    """One trial in a list."""

    dataset_type: str
    case_id: str
    trial: int
    scene_code: str
    outcome: Outcome
    main_metric: str


class ResultPage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of results without their traces, in the order of finishing."""

    rows: list[ResultRow]
    total: int


class RunStore(Protocol):
    """Where runs and their results are kept. Raises `StoreError`; each call is one unit that holds or does not."""

    async def add_run(self, run: RunRecord) -> None:
        """Keep a new run."""

    async def update_run(self, run: RunRecord) -> None:
        """Replace what is kept of a run."""

    async def run(self, run_id: str) -> RunRecord | None:
        """A run, or None."""

    async def runs(self, *, limit: int = 50, offset: int = 0) -> list[RunRecord]:
        """Runs, the newest first."""

    async def remove_run(self, run_id: str) -> bool:
        """Forget a run and its results; False where there was none."""

    async def add_results(self, run_id: str, results: Iterable[CaseResult]) -> None:
        """Keep finished trials, all or none; a trial that is kept already is left as it is."""

    async def done(self, run_id: str) -> set[tuple[str, str, int]]:
        """The keys of the trials that are kept."""

    def results(self, run_id: str) -> AsyncIterator[CaseResult]:
        """All results of a run with their traces, streamed, in the order of dataset type, case and trial."""

    async def page(self, run_id: str, *, limit: int = 50, offset: int = 0) -> ResultPage:
        """A page of results."""

    async def result(self, run_id: str, dataset_type: str, case_id: str, trial: int) -> CaseResult | None:
        """One result with its trace, or None."""

    async def close(self) -> None:
        """Give back connections."""
