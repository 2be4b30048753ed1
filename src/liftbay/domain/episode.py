"""What one trial was: its turns, and the fault that ended it, if one did."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from liftbay.domain.case import Case
from liftbay.domain.spans import Span
from liftbay.domain.trace import EvalTrace


class FaultKind(StrEnum):
    """What went wrong in execution."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    PROTOCOL = "protocol"  # the answer was not what the adapter understands
    CRASH = "crash"  # the agent raised
    HARNESS = "harness"  # liftbay's own fault, or the environment's; never charged to the agent


class Fault(msgspec.Struct, frozen=True):
    """An execution fault that was left after the retries."""

    kind: FaultKind
    message: str
    turn: int  # from 1
    retry_may_help: bool = False
    retry_after: float | None = None  # what the agent asked to wait, in seconds


class Turn(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One exchange; times in milliseconds on the client's clock."""

    round: int
    user_input: str
    answer: str | None = None
    trace: EvalTrace | None = None  # None: the agent is a black box
    response_latency_ms: float | None = None
    time_to_first_token_ms: float | None = None
    trace_id: str | None = None  # of the turn's spans, where any were asked for


class Episode(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One trial of a case."""

    session_id: str
    turns: list[Turn]
    fault: Fault | None = None
    tries: int = 1
    recorded: dict[str, Any] = {}  # what a replayed trajectory says of itself, such as its reward
    spans: list[Span] = []  # raw; lists and reports do without them

    @property
    def finished(self) -> bool:
        """Whether every turn was answered."""
        return self.fault is None


class Evidence(msgspec.Struct, frozen=True):
    """All that a judge sees: the case and one trial of it."""

    case: Case
    episode: Episode

    @property
    def answer(self) -> str:
        """The last answer; empty where there is none."""
        return (self.episode.turns[-1].answer or "") if self.episode.turns else ""

    @property
    def trace(self) -> EvalTrace | None:
        """The trace of the last turn: that of the only one in a single-turn case."""
        return self.episode.turns[-1].trace if self.episode.turns else None
