"""Working through a plan: how many at once, what is skipped, how it stops."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator

import msgspec
import pytest
from places import synchronous
from scripted import ScriptedAgent, calling, conversation, costing, hang, tool_case

from liftbay.catalog.resolve import resolve, run_plan
from liftbay.domain.case import Case
from liftbay.domain.episode import Episode, Fault, FaultKind, Turn
from liftbay.domain.plan import RunPlan
from liftbay.domain.result import CaseResult, Outcome, RunRequest
from liftbay.domain.trace import EvalTrace
from liftbay.domain.vocabulary import DatasetType
from liftbay.engine.run import Control, Sink, Trial, conclude, run
from liftbay.errors import AgentCrash, InputError, StoreError
from liftbay.ports import AgentAnswer, AgentInput

PLAN = run_plan(resolve("TOOL_CALL"))
CASES = [tool_case(number, "search") for number in range(20)]


def a_request(**options: object) -> RunRequest:
    """A request that waits for nothing."""
    return msgspec.structs.replace(RunRequest(scope="TOOL_CALL", agent="scripted", retries=0, turn_settle=0), **options)


async def ran(
    agent: ScriptedAgent,
    cases: Iterable[Case] = CASES,
    *,
    done: Collection[tuple[str, str, int]] = frozenset(),
    control: Control | None = None,
    sink: Sink | None = None,
    **options: object,
) -> list[CaseResult]:
    """The results of a run in the order in which they came."""
    results: list[CaseResult] = []

    async def keep(trial: Trial) -> None:
        results.append(conclude(PLAN, trial.case, trial.trial, trial.episode))

    await run(cases, agent, a_request(**options), sink or keep, plan=PLAN, done=done, control=control)
    return results


@synchronous
async def test_every_trial_of_every_case_once() -> None:
    agent = ScriptedAgent(calling("search"))
    results = await ran(agent, trials=3)
    assert sorted(result.key for result in results) == [
        ("TOOL_CALL", case.id, trial) for case in CASES for trial in (1, 2, 3)
    ]
    assert len({asked.session_id for asked in agent.asked}) == 60
    assert {result.outcome for result in results} == {Outcome.PASSED}


@pytest.mark.parametrize("concurrency", [1, 3, 7, 50])
@synchronous
async def test_never_more_at_once_than_asked_for_and_no_fewer_than_there_are(concurrency: int) -> None:
    under_way, most = 0, 0

    async def slow(_turn: AgentInput) -> AgentAnswer:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        for _ in range(10):
            await asyncio.sleep(0)
        under_way -= 1
        return calling("search")

    assert len(await ran(ScriptedAgent(slow), concurrency=concurrency)) == 20
    assert most == min(concurrency, 20)


@synchronous
async def test_cases_are_read_only_as_they_are_needed() -> None:
    read = 0

    def endless() -> Iterator[Case]:
        nonlocal read
        while True:
            read += 1
            yield tool_case(read)

    control = Control()

    async def stop_at_ten(trial: Trial) -> None:
        if int(trial.case.id[-3:]) >= 10:
            control.cancel("enough")

    await ran(ScriptedAgent(), endless(), control=control, sink=stop_at_ten, concurrency=2)
    assert read <= 12


@synchronous
async def test_a_slow_trial_holds_up_only_its_own_place() -> None:
    release = asyncio.Event()

    async def first_is_slow(turn: AgentInput) -> AgentAnswer:
        if turn.case.id == "case-000":
            await release.wait()
        return calling("search")

    seen: list[str] = []

    async def sink(trial: Trial) -> None:
        seen.append(trial.case.id)
        if len(seen) == 19:
            release.set()

    await ran(ScriptedAgent(first_is_slow), sink=sink, concurrency=2)
    assert seen[-1] == "case-000"
    assert len(seen) == 20


@synchronous
async def test_what_is_done_is_skipped() -> None:
    done = {("TOOL_CALL", "case-003", 1), ("TOOL_CALL", "case-003", 2), ("TOOL_CALL", "case-005", 2)}
    elsewhere = {("MULTI_TURN", "case-007", 1), ("TOOL_CALL", "case-007", 3)}
    agent = ScriptedAgent(calling("search"))
    results = await ran(agent, trials=2, done=done | elsewhere)
    assert {result.key for result in results} == {
        ("TOOL_CALL", case.id, trial) for case in CASES for trial in (1, 2)
    } - done
    assert len(agent.asked) == 37


@synchronous
async def test_nothing_left_to_do_asks_nobody() -> None:
    agent = ScriptedAgent()
    assert await ran(agent, done={("TOOL_CALL", case.id, 1) for case in CASES}) == []
    assert agent.asked == []


@synchronous
async def test_cancelling_keeps_what_is_on_its_way_and_starts_nothing_more() -> None:
    control = Control()
    kept: list[str] = []

    async def sink(trial: Trial) -> None:
        kept.append(trial.case.id)
        if len(kept) == 5:
            control.cancel("the user asked")

    agent = ScriptedAgent(calling("search"))
    await ran(agent, control=control, sink=sink, concurrency=3)
    assert control.cancelled
    assert control.reason == "the user asked"
    assert 5 <= len(kept) <= 7
    assert sorted(kept) == sorted(asked.case.id for asked in agent.asked), "no trial was begun for nothing"


@synchronous
async def test_a_spent_budget_ends_the_run() -> None:
    control = Control()
    agent = ScriptedAgent(AgentAnswer(text="x", trace=costing(30, 10)))
    results = await ran(agent, control=control, max_tokens=100, concurrency=1)
    assert len(results) == 3
    assert control.reason == "the budget of 100 tokens is spent"


@synchronous
async def test_a_budget_does_not_hide_why_the_user_stopped() -> None:
    control = Control()

    async def sink(_trial: Trial) -> None:
        control.cancel("the user asked")

    await ran(ScriptedAgent(AgentAnswer(text="x", trace=costing(200, 0))), control=control, sink=sink, max_tokens=100)
    assert control.reason == "the user asked"


@synchronous
async def test_a_sink_that_fails_stops_the_run() -> None:
    taken = 0

    async def full(_trial: Trial) -> None:
        nonlocal taken
        taken += 1
        if taken == 4:
            raise StoreError("the disk is full")

    async def waits(_turn: AgentInput) -> AgentAnswer:
        await asyncio.sleep(0)
        return calling("search")

    agent = ScriptedAgent(waits)
    with pytest.raises(StoreError, match="the disk is full"):
        await ran(agent, sink=full, concurrency=2)
    assert len(agent.asked) <= 6


@synchronous
async def test_a_sink_that_fails_does_not_wait_for_an_agent_that_hangs() -> None:
    async def hangs_on_the_second(turn: AgentInput) -> AgentAnswer:
        return await hang(turn) if turn.case.id == "case-001" else calling("search")

    async def full(_trial: Trial) -> None:
        raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="the disk is full"):
        await ran(ScriptedAgent(hangs_on_the_second), sink=full, concurrency=2)


@synchronous
async def test_cases_that_became_bad_stop_the_run() -> None:
    def cases() -> Iterator[Case]:
        yield from CASES[:3]
        raise InputError("the file became bad")

    with pytest.raises(InputError, match="the file became bad"):
        await ran(ScriptedAgent(calling("search")), cases(), concurrency=2)


@synchronous
async def test_faults_of_the_agent_are_results() -> None:
    results = await ran(ScriptedAgent(AgentCrash("broken")))
    assert len(results) == 20
    assert {result.outcome for result in results} == {Outcome.UNDECIDED}
    assert {result.episode.tries for result in results} == {1}


class TestConclude:
    @staticmethod
    def of(plan: RunPlan, case: Case, answer: str | None, trace: EvalTrace | None = None) -> CaseResult:
        fault = None if answer is not None else Fault(FaultKind.TIMEOUT, "late", 1)
        return conclude(plan, case, 2, Episode("s", [Turn(1, "?", answer, trace)], fault=fault))

    def test_every_metric_of_the_dataset_type_has_its_verdict(self) -> None:
        result = self.of(PLAN, tool_case(1, "search"), "x", calling("search").trace)
        assert [verdict.metric for verdict in result.verdicts] == [
            metric.id for metric in PLAN.metrics[DatasetType.TOOL_CALL]
        ]
        assert (result.trial, result.main_metric, result.outcome) == (2, "tool_call_accuracy", Outcome.PASSED)
        assert result.key == ("TOOL_CALL", "case-001", 2)

    def test_the_scope_says_what_decides(self) -> None:
        trace = calling("search", "search").trace
        as_tools = self.of(run_plan(resolve("TOOL")), tool_case(1, "search"), "x", trace)
        as_planning = self.of(run_plan(resolve("PLANNING")), tool_case(1, "search"), "x", trace)
        assert (as_tools.main_metric, as_tools.outcome) == ("tool_call_accuracy", Outcome.FAILED)
        assert (as_planning.main_metric, as_planning.outcome) == ("tool_decision_accuracy", Outcome.PASSED)

    @pytest.mark.parametrize(("tools", "outcome"), [((), Outcome.PASSED), (("search",), Outcome.FAILED)])
    def test_in_planning_not_to_call_may_be_right(self, tools: tuple[str, ...], outcome: Outcome) -> None:
        result = self.of(run_plan(resolve("PLANNING")), tool_case(1, *tools), "x", calling().trace)
        assert (result.main_metric, result.outcome) == ("tool_decision_accuracy", outcome)

    def test_a_trial_that_did_not_finish_is_undecided(self) -> None:
        result = self.of(PLAN, tool_case(1, "search"), None)
        assert result.outcome is Outcome.UNDECIDED
        assert {verdict.status.value for verdict in result.verdicts} == {"EXCLUDED"}

    def test_but_under_abnormal_input_an_agent_that_breaks_has_failed(self) -> None:
        plan = run_plan(resolve("ABNORMAL_INPUT"))
        case = Case(id="a", dataset_type=DatasetType.ABNORMAL_INPUT, user_input="")
        assert self.of(plan, case, None).outcome is Outcome.FAILED
        assert self.of(plan, case, "").outcome is Outcome.FAILED
        assert self.of(plan, case, "please say it again").outcome is Outcome.UNDECIDED

    def test_what_needs_a_judge_is_undecided(self) -> None:
        result = self.of(run_plan(resolve("MULTI_TURN")), conversation(2), "x")
        assert (result.main_metric, result.outcome) == ("multi_turn_completion_rate", Outcome.UNDECIDED)
