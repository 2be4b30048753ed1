"""What a run is made of and what it found, as the store keeps it."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from liftbay.domain.blame import Culprit
from liftbay.domain.case import Case
from liftbay.domain.episode import Episode
from liftbay.domain.judging import JudgeSettings, JudgeUse
from liftbay.domain.prices import Prices
from liftbay.domain.spans import SpanCounts
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import DatasetType, EvalMode


class Outcome(StrEnum):
    """What the main metric makes of a case."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"  # the main verdict is EXCLUDED or ERROR, or the trial did not finish


class RunState(StrEnum):
    """Where a run is."""

    SUBMITTED = "submitted"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"
    INTERRUPTED = "interrupted"  # the process ended; it can be resumed


class DatasetVersion(msgspec.Struct, frozen=True, rename="camel"):
    """A dataset as it was used; the version is the SHA-256 of its content."""

    type: DatasetType
    version: str
    cases: int
    sources: list[str]


class Confirms(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Of a run that replays failed trials of another: which, and whose output is put right in it."""

    run: str
    culprit: Culprit | None = None  # None: nothing is; what passes now passes by chance


class RunRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What a user asks for; times in seconds."""

    scope: str
    agent: str  # an agent's specification: python:module:callable, replay:FILE, an agent file
    dataset: list[str] = []  # files and folders; none: those of the project
    dataset_types: list[DatasetType] = []  # narrows the scope; none: all of its types
    eval_mode: EvalMode | None = None
    limit: int | None = None  # cases of each dataset
    trials: int = 1
    concurrency: int = 3
    timeout: float = 120.0  # for a turn
    retries: int = 2
    retry_wait: float = 3.0
    turn_settle: float = 2.0  # wait after a turn of a conversation
    prerequisites: bool = True
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    prices: Prices | None = None
    judge: JudgeSettings | None = None  # None: nobody judges
    confirms: Confirms | None = None  # None: an ordinary run


class RunRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One run; times in UTC, ISO 8601."""

    id: str
    request: RunRequest
    state: RunState
    submitted: str
    started: str | None = None
    ended: str | None = None
    agent_name: str = ""
    agent_version: str | None = None
    agent_file: str | None = None  # the SHA-256 of the agent file, where there is one
    datasets: list[DatasetVersion] = []
    planned: int = 0  # trials
    error: str | None = None
    worker: str | None = None  # the host and process that works on it
    liftbay: str = ""
    spans: SpanCounts | None = None  # None: no spans were asked for
    warnings: list[str] = []  # what a reader of the figures should know
    hot_update_latencies_ms: list[float] = []  # from publishing a changed Skill until it was in effect
    judge: JudgeUse | None = None  # None: nobody judged


class CaseResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One finished trial of one case, with all that a report or another scope needs."""

    case: Case
    trial: int  # from 1
    episode: Episode
    verdicts: list[Verdict]
    main_metric: str
    outcome: Outcome

    @property
    def key(self) -> tuple[str, str, int]:
        """What makes a trial the same when a run is resumed."""
        return self.case.dataset_type.value, self.case.id, self.trial


def without_spans(result: CaseResult) -> CaseResult:
    """The result as lists and reports read it."""
    if not result.episode.spans:
        return result
    return msgspec.structs.replace(result, episode=msgspec.structs.replace(result.episode, spans=[]))
