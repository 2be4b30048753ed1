"""Confirm causes: replay the failed trials of a run with the output of one module put right, and once as they were.

Each module's replays are a run of their own in the store, named after the run and the module, and so are the trials
that are merely repeated. What is there already is not run again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

import msgspec

import liftbay
from liftbay.catalog.metrics import METRICS
from liftbay.diagnosis.confirmation import Confirmation, ConfirmationTally, Replayed
from liftbay.diagnosis.first_fault import blame_of
from liftbay.diagnosis.intervention import OVERRIDABLE, InterventionPlan, interventions_of
from liftbay.diagnosis.known_facts import KnownFacts
from liftbay.domain.blame import Culprit
from liftbay.domain.case import Case, MockData
from liftbay.domain.episode import Turn
from liftbay.domain.judging import JudgeSettings
from liftbay.domain.metric import Metric
from liftbay.domain.override import NOTHING, GivenResult, Intervention, Overrides
from liftbay.domain.result import CaseResult, Confirms, Outcome, RunRecord, RunState
from liftbay.domain.toolcall import ToolCall
from liftbay.domain.vocabulary import Basis, EvalMode, Module
from liftbay.engine.run import TrialKey
from liftbay.errors import InputError
from liftbay.jobs.execute import now, refuse_if_worked_on
from liftbay.jobs.prepare import Prepared
from liftbay.language import tr
from liftbay.mocks.mock_answers import MockAnswers
from liftbay.ports import Agent, OverridableAgent, RunStore
from liftbay.report.blame_words import culprit_name
from liftbay.report.observed import cluster_of
from liftbay.report.wording import full_name

REPEATED = "repeated"  # in place of a module's name


class FailedTrial(msgspec.Struct, frozen=True):
    """A failed trial that is looked at, with its plans and whether each is worth a replay."""

    key: TrialKey
    main_metric: str
    cluster: str
    blamed: Culprit | None
    plans: list[tuple[InterventionPlan, bool]]

    @property
    def interventions(self) -> dict[Culprit, Intervention]:
        """What is put right in its replays, by module."""
        return {plan.culprit: plan.intervention for plan, worth in self.plans if worth and plan.intervention}


class Chosen(msgspec.Struct, frozen=True):
    """The failed trials that are looked at."""

    trials: list[FailedTrial]
    decided: int  # trials of the run
    failed: int  # of these

    def arms(self) -> Iterator[Arm]:
        """The trials to repeat, then those to replay by module: the one that is blamed most first."""
        again = [one.key for one in self.trials if one.interventions]
        if again:
            yield Arm(None, dict.fromkeys(again, Intervention()))
        blamed = {culprit: sum(one.blamed is culprit for one in self.trials) for culprit in OVERRIDABLE}
        for culprit in sorted(OVERRIDABLE, key=lambda one: -blamed[one]):
            found = {one.key: one.interventions[culprit] for one in self.trials if culprit in one.interventions}
            if found:
                yield Arm(culprit, found)


class Arm(msgspec.Struct, frozen=True):
    """The replays with one module's output put right, or with none."""

    culprit: Culprit | None
    interventions: dict[TrialKey, Intervention]

    def overrides(self, case: Case, trial: int, earlier: Sequence[Turn]) -> Overrides:
        """What replaces modules' outputs in the turn after `earlier`."""
        found = self.interventions.get((case.dataset_type.value, case.id, trial))
        return NOTHING if found is None else found.at(case, earlier)

    def cases(self, prepared: Prepared) -> Iterator[Case]:
        """The cases of the replays, whole as the datasets have them."""
        wanted = {key[:2] for key in self.interventions}
        return (case for case in prepared.cases() if (case.dataset_type.value, case.id) in wanted)

    def left_out(self, trials: int) -> set[TrialKey]:
        """The trials of the same cases that did not fail."""
        cases = {key[:2] for key in self.interventions}
        every = {(type_, id_, trial) for type_, id_ in cases for trial in range(1, trials + 1)}
        return every - self.interventions.keys()


def refuse_without_overrides(agent: Agent, place: str) -> None:
    """Raise `InputError` where nothing can be put in the place of a module's output in this agent."""
    if isinstance(agent, OverridableAgent):
        if agent.takes_overrides:
            return
        raise InputError(
            "this agent takes no overrides: nothing can be put in the place of a module's output",
            place=place,
            remedy=agent.overrides_remedy,
        )
    raise InputError(
        "an agent of this kind takes no overrides: nothing can be put in the place of a module's output",
        place=place,
        remedy="confirm causes with an agent of the kind http or python",
    )


def refuse_replays(record: RunRecord) -> None:
    """Raise `InputError` where the run is itself one of replays."""
    if record.request.confirms is not None:
        raise InputError(
            "this run replays failed trials of the run {run}",
            place=record.id,
            remedy="diagnose that run",
            run=record.request.confirms.run,
        )


async def choose(store: RunStore, record: RunRecord, prepared: Prepared, *, limit: int | None) -> Chosen:
    """The failed trials of the run and how each is replayed; with `limit` so many of them, drawn evenly.

    A larger limit takes in those of a smaller one, so that their replays still count.
    """
    known = KnownFacts(_mocked(prepared))
    drawn: list[tuple[bytes, TrialKey]] = []
    decided = failed = 0
    async for result in store.results(record.id):
        known.add(result)
        decided += result.outcome is not Outcome.UNDECIDED
        if result.outcome is Outcome.FAILED:
            failed += 1
            drawn.append((hashlib.sha256(repr(result.key).encode()).digest(), result.key))
    wanted = {key for _, key in sorted(drawn)[:limit]}
    trials = []
    async for result in store.results(record.id):
        if result.key in wanted:
            trials.append(_looked_at(result, known))
    return Chosen(trials, decided, failed)


def _looked_at(result: CaseResult, known: KnownFacts) -> FailedTrial:
    first = next(iter(blame_of(result).candidates), None)
    return FailedTrial(
        result.key,
        result.main_metric,
        cluster_of(result)[0],
        None if first is None else first.culprit,
        interventions_of(result, first, known),
    )


def _mocked(prepared: Prepared) -> Callable[[Case, ToolCall], GivenResult | None]:
    answers: dict[str, MockAnswers] = {}
    data: dict[str, MockData] = dict(prepared.mock_data)

    def answer(case: Case, call: ToolCall) -> GivenResult | None:
        id_ = case.mock_data_id
        if case.eval_mode is not EvalMode.E2E_MOCK or id_ is None or id_ not in data:
            return None
        if id_ not in answers:
            answers[id_] = MockAnswers(data[id_])
        found = answers[id_].answer(call.name, call.arguments)
        return None if found.unmocked or found.error is not None else GivenResult(call.name, found.result)

    return answer


async def replay_record(
    store: RunStore, record: RunRecord, arm: Arm, *, concurrency: int | None, judge: JudgeSettings | None
) -> RunRecord:
    """The run that holds the replays of an arm: as it is kept, or a new one that is not kept yet.

    Raises `InputError` where another process works on it, or where it was judged in another way.
    """
    request = msgspec.structs.replace(
        record.request,
        judge=judge,
        concurrency=concurrency or record.request.concurrency,
        confirms=Confirms(record.id, arm.culprit),
    )
    kept = await store.run(_run_id(record, arm.culprit))
    if kept is None:
        return RunRecord(
            id=_run_id(record, arm.culprit),
            request=request,
            state=RunState.SUBMITTED,
            submitted=now(),
            agent_name=record.agent_name,
            datasets=record.datasets,
            planned=len(arm.interventions),
            liftbay=liftbay.__version__,
        )
    refuse_if_worked_on(kept)
    if _judged_by(kept.request.judge) != _judged_by(judge):
        raise InputError(
            "replays of this run are there that were judged in another way",
            place=kept.id,
            remedy="remove them with liftbay runs rm, or leave the options of the judge out",
        )
    return msgspec.structs.replace(kept, request=request, planned=len(arm.interventions))


async def is_done(store: RunStore, replay: RunRecord, arm: Arm) -> bool:
    """Whether every replay of the arm is kept."""
    return await store.run(replay.id) is not None and arm.interventions.keys() <= await store.done(replay.id)


async def confirmation_of(store: RunStore, record: RunRecord, chosen: Chosen) -> Confirmation:
    """What the replays in the store say; a trial whose replay is not there is undecided."""
    tally = ConfirmationTally()
    outcomes: dict[Culprit | None, dict[TrialKey, Outcome]] = {}
    runs: dict[Culprit | None, str] = {}
    notes: dict[str, None] = {}
    for arm in chosen.arms():
        runs[arm.culprit] = id_ = _run_id(record, arm.culprit)
        outcomes[arm.culprit] = {one.key: one.outcome async for one in store.results(id_)}
        notes |= dict.fromkeys(_notes(record, await store.run(id_)))
        notes |= dict.fromkeys(_circles(arm, chosen))
    for trial in chosen.trials:
        tally.look_at(trial.blamed)
        repeated = outcomes.get(None, {}).get(trial.key, Outcome.UNDECIDED)
        if trial.interventions:
            tally.repeat(trial.cluster, repeated)
        for plan, worth in trial.plans:
            if not worth:
                tally.leave(plan, trial.cluster)
                continue
            outcome = outcomes[plan.culprit].get(trial.key, Outcome.UNDECIDED)
            _, case, number = trial.key
            replayed = Replayed(case, number, trial.blamed is plan.culprit, outcome, repeated)
            tally.replay(plan.culprit, trial.cluster, replayed)
    return tally.confirmation(record.id, decided=chosen.decided, failed=chosen.failed, runs=runs, notes=list(notes))


def _circles(arm: Arm, chosen: Chosen) -> Iterator[str]:
    """What passes only because it measures what was put in place."""
    metrics = {one.main_metric for one in chosen.trials if one.key in arm.interventions}
    for id_ in sorted(metrics):
        metric = METRICS[id_]
        if arm.culprit is not None and metric.basis is Basis.TRACE and arm.culprit.value in _measured_by(metric):
            yield tr(
                "{metric} measures what was put in the place of {module}: these replays show that the agent takes it, "
                "and no more",
                metric=full_name(id_),
                module=culprit_name(arm.culprit),
            )


def _measured_by(metric: Metric) -> set[str]:
    """The modules whose output the metric looks at: which tools are called is decided by the planning."""
    return {metric.module.value, *([Module.PLANNING.value] if metric.module is Module.TOOL else [])}


def _notes(record: RunRecord, replay: RunRecord | None) -> Iterator[str]:
    if replay is None:
        return
    if replay.agent_version != record.agent_version:
        yield tr(
            "the agent had the version {before} in the run and {after} in the replays",
            before=record.agent_version or "-",
            after=replay.agent_version or "-",
        )
    if _judged_by(replay.request.judge) != _judged_by(record.request.judge):
        yield tr("the replays were judged in another way than the run")
    if replay.state is not RunState.FINISHED:
        yield tr("{run} is not finished: it is {state}", run=replay.id, state=replay.state.value)
    yield from replay.warnings


def _judged_by(judge: JudgeSettings | None) -> object:
    return judge and (judge.model, judge.language, judge.votes, judge.parameters)


def _run_id(record: RunRecord, culprit: Culprit | None) -> str:
    return f"{record.id}-{REPEATED if culprit is None else culprit.value}"
