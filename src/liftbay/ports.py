"""The Protocols that the core talks to; wiring chooses who stands behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

import msgspec

from liftbay.domain.case import Case
from liftbay.domain.episode import Evidence, Turn
from liftbay.domain.metric import Metric
from liftbay.domain.override import NOTHING, Overrides
from liftbay.domain.result import CaseResult, Outcome, RunRecord
from liftbay.domain.spans import Span, SpanCounts
from liftbay.domain.trace import EvalTrace, ToolCallRecord
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import DatasetType


class Intercepted(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool call is answered with in place of the real tool."""

    result: Any = None
    error: str | None = None
    latency_ms: float = 0.0  # to wait before the answer is given
    unmocked: bool = False  # no mock answers this call: a visible fault of the case


class TrialTools(Protocol):
    """The tools of one trial: in E2E_MOCK its mock data answers, in E2E_REAL the call passes through."""

    endpoint: str | None  # the address where an agent in another process may have its calls answered
    mcp_endpoint: str | None  # the address of the MCP server that liftbay stands in for

    def intercept(self, name: str, arguments: dict[str, Any]) -> Intercepted | None:
        """What the call is answered with; None: ask the real tool."""

    def record(self, call: ToolCallRecord) -> None:
        """Note a call that was made, however it was answered."""

    def taken(self) -> list[ToolCallRecord]:
        """The calls that were noted since this was last asked, in their order."""


class ToolInterceptor(Protocol):
    """Stands before the tools of an agent."""

    def open(self, session_id: str, case: Case) -> AbstractContextManager[TrialTools]:
        """The tools of a trial, while it lasts; code that runs in this context finds them."""

    unassigned: int  # calls that belonged to no open trial

    async def close(self) -> None:
        """Give back what it holds."""


class TurnSpans(msgspec.Struct, frozen=True):
    """The spans of one turn, and what they say; `trace` is None where there were none."""

    trace: EvalTrace | None
    spans: list[Span]


class TraceSource(Protocol):
    """Where spans arrive and find their trial."""

    endpoint: str | None  # the address for exporters that send traces

    def begin(self, session_id: str, round_: int) -> str:
        """A turn begins: the `traceparent` to send with it."""

    def inside(self, traceparent: str) -> AbstractContextManager[None]:
        """Spans that code in this context starts belong to the turn."""

    async def collect(self, session_id: str) -> list[TurnSpans]:
        """One item a turn, in order, when all spans are there or waiting is over; the session is forgotten."""

    def forget(self, session_id: str) -> None:
        """Nobody will collect this session: the try failed and another is made."""

    @property
    def counts(self) -> SpanCounts:
        """What became of the spans so far."""

    async def close(self) -> None:
        """Stop listening."""


class Judge(Protocol):
    """Decides what the trace alone does not; sees the evidence and nothing else."""

    async def verdict(self, metric: Metric, evidence: Evidence) -> Verdict:
        """The verdict of a metric that asks a judge; ERROR where the judge fails, never an exception for it."""

    async def close(self) -> None:
        """Give back connections."""


class JudgeCache(Protocol):
    """Answers of judges by the content of the question. Raises `StoreError`."""

    async def cached(self, key: str) -> str | None:
        """What was kept under the key, or None."""

    async def keep(self, key: str, answer: str) -> None:
        """Keep an answer; what is there already stays."""


class SpanOrigin(StrEnum):
    """How an agent's spans reach liftbay."""

    NONE = "none"
    IN_PROCESS = "in_process"  # from OpenTelemetry in this process
    OTLP = "otlp"  # exported to the receiver


class AgentInput(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent gets for one turn."""

    session_id: str
    case: Case
    trial: int
    round: int
    user_input: str
    earlier: Sequence[Turn]  # of the same session
    traceparent: str | None = None  # W3C trace context, where spans are asked for
    tools: TrialTools | None = None
    overrides: Overrides = NOTHING  # for an `OverridableAgent`


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
    spans: SpanOrigin

    async def start(self) -> None:
        """Get ready to answer: connect, start a process, wait until it is ready. Called once, before the first turn.

        Raises `AgentError` or `InputError` where that cannot be.
        """

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


@runtime_checkable
class PublishingAgent(Agent, Protocol):
    """An agent that can be told to publish a changed Skill while it runs."""

    publishes_skills: bool  # whether its file says how

    async def hot_update_latency(self, ask: Callable[[str], Awaitable[EvalTrace | None]]) -> float | None:
        """Publish one and ask until it is in effect: milliseconds, or None where it never was.

        `ask` sends a user's input in a new session and returns its trace.
        """


@runtime_checkable
class OverridableAgent(Agent, Protocol):
    """An agent that can be told what to take in the place of a module's output."""

    takes_overrides: bool  # whether its file says how
    overrides_remedy: str  # what to do where it does not, in English


@runtime_checkable
class LoadingAgent(Agent, Protocol):
    """An agent that loads tools from elsewhere when it starts."""

    load_faults: dict[str, str]  # by the name of what could not be loaded: why


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


class Baselines(Protocol):
    """Names of runs that others are held against. Raises `StoreError`."""

    async def set_baseline(self, name: str, run_id: str) -> None:
        """Let a name mean a run, in place of what it meant; the run must be there."""

    async def remove_baseline(self, name: str) -> bool:
        """Forget a name; False where there was none. The run stays."""

    async def baseline(self, name: str) -> str | None:
        """The id of the run that a name means, or None. The name goes with the run."""

    async def baselines(self) -> list[tuple[str, str]]:
        """All names with the ids of their runs, ordered by name."""


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
        """All results of a run with their traces but without spans, streamed, ordered by type, case and trial."""

    async def page(self, run_id: str, *, limit: int = 50, offset: int = 0) -> ResultPage:
        """A page of results."""

    async def result(self, run_id: str, dataset_type: str, case_id: str, trial: int) -> CaseResult | None:
        """One result with its trace and its spans, or None."""

    async def close(self) -> None:
        """Give back connections."""
