"""Work through a plan: bounded concurrency, results as they are ready, cancel, and no trial twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType

import msgspec

from liftbay.domain.case import Case
from liftbay.domain.episode import Episode, Evidence
from liftbay.domain.plan import RunPlan
from liftbay.domain.result import CaseResult, Outcome, RunRequest
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import VerdictStatus
from liftbay.engine.attempt import attempt
from liftbay.engine.collect import collect
from liftbay.engine.instruments import NONE, Instruments
from liftbay.engine.judge import asked, judge
from liftbay.engine.pace import Pace
from liftbay.errors import LiftbayError
from liftbay.ports import Agent
from liftbay.scoring.outcomes import decide


class Trial(msgspec.Struct, frozen=True):
    """A trial that ended; `conclude` makes its result.

    Results are made many at a time: between two answers of the agent that takes twice as long, since the processor's
    caches hold neither the one nor the other.
    """

    case: Case
    trial: int
    episode: Episode
    judged: dict[str, Verdict] = {}  # by metric, what a judge said


MOST_COMPLETING = 2_000  # trials that wait for their spans or a judge at once: more would only take memory
Sink = Callable[[Trial], Awaitable[None]]
TrialKey = tuple[str, str, int]


class Control:
    """Lets another task stop a run, and says why it stopped."""

    def __init__(self) -> None:
        self.reason: str | None = None

    def cancel(self, reason: str) -> None:
        """Start no further trial; trials on their way end and are kept."""
        self.reason = reason

    @property
    def cancelled(self) -> bool:
        """Whether the run was told to stop."""
        return self.reason is not None


async def run(
    cases: Iterable[Case],
    agent: Agent,
    request: RunRequest,
    sink: Sink,
    *,
    plan: RunPlan,
    done: Collection[TrialKey] = frozenset(),
    control: Control | None = None,
    instruments: Instruments = NONE,
) -> None:
    """Run every trial that is not in `done` and give each to `sink` when it has ended.

    A trial waits for its spans and for the judge outside the concurrency: the next one runs meanwhile.

    Raises what `sink` and the source of the cases raise; faults of the agent are results.
    """
    control = control or Control()
    pace = Pace(
        requests_per_minute=request.requests_per_minute,
        tokens_per_minute=request.tokens_per_minute,
        max_tokens=request.max_tokens,
        max_cost=request.max_cost,
        prices=request.prices,
    )
    waiting = _trials(cases, request.trials, done)

    completing = asyncio.Semaphore(MOST_COMPLETING)
    completes = instruments.traces is not None or instruments.judge is not None

    async def completed(trial: Trial) -> None:
        try:
            whole = await _completed(trial, plan, request, instruments, pace)
        finally:
            completing.release()
        await sink(whole)

    async def work() -> None:
        for case, trial in waiting:
            ended = Trial(case, trial, await attempt(agent, case, trial, request, pace, instruments))
            if completes:
                await completing.acquire()
                workers.create_task(completed(ended))
            else:
                await sink(ended)
            if (spent := pace.exhausted) and not control.cancelled:
                control.cancel(spent)
            if control.cancelled:
                return

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(request.concurrency):
                workers.create_task(work())
    except* LiftbayError as failed:
        raise failed.exceptions[0] from None


async def _completed(trial: Trial, plan: RunPlan, request: RunRequest, instruments: Instruments, pace: Pace) -> Trial:
    """The trial with its spans, and with what the judge says of it."""
    episode = trial.episode
    if instruments.traces is not None:
        episode = await collect(episode, instruments.traces)
        for before, after in zip(trial.episode.turns, episode.turns, strict=True):
            if before.trace is None or before.trace.model is None:  # else it was counted with the answer
                pace.used(after.trace)
    judged: dict[str, Verdict] = {}
    if instruments.judge is not None:
        type_ = trial.case.dataset_type
        judged = await asked(
            instruments.judge,
            Evidence(trial.case, episode),
            plan.metrics[type_],
            main=plan.main[type_][0],
            prerequisites=request.prerequisites,
        )
    return msgspec.structs.replace(trial, episode=episode, judged=judged)


def _trials(cases: Iterable[Case], trials: int, done: Collection[TrialKey]) -> Iterator[tuple[Case, int]]:
    for case in cases:
        for trial in range(1, trials + 1):
            if (case.dataset_type.value, case.id, trial) not in done:
                yield case, trial


def conclude(
    plan: RunPlan,
    case: Case,
    trial: int,
    episode: Episode,
    *,
    prerequisites: bool = True,
    judged: Mapping[str, Verdict] = MappingProxyType({}),
) -> CaseResult:
    """The result of one trial: every verdict, and what the main metric makes of the case."""
    main = plan.main[case.dataset_type]
    verdicts = judge(
        Evidence(case, episode),
        plan.metrics[case.dataset_type],
        main=main[0],
        prerequisites=prerequisites,
        judged=judged,
    )
    metric, outcome = decide(main, verdicts)
    decided_despite_fault = any(
        verdict.metric == metric and verdict.status is VerdictStatus.FAIL for verdict in verdicts
    )
    if not episode.finished and not decided_despite_fault:
        outcome = Outcome.UNDECIDED
    return CaseResult(case=case, trial=trial, episode=episode, verdicts=verdicts, main_metric=metric, outcome=outcome)
