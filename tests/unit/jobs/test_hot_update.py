"""The measurement of a hot update beside a run: when it is made, and what becomes of faults."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from places import synchronous
from scripted import Reply, ScriptedAgent

from liftbay.catalog.resolve import resolve, run_plan
from liftbay.domain.result import RunRequest
from liftbay.domain.trace import EvalTrace, Perception
from liftbay.domain.vocabulary import EvalMode
from liftbay.engine.instruments import NONE
from liftbay.errors import AgentCrash, AgentError, AgentRefused
from liftbay.jobs.hot_update import HotUpdate
from liftbay.ports import AgentAnswer

TRACE = EvalTrace(perception=Perception(skill_version="7"))


class Publisher(ScriptedAgent):
    """An agent with a hook, that asks once and notes what it is told."""

    publishes_skills = True

    def __init__(self, *replies: Reply, latency: float | None = 40.0) -> None:
        super().__init__(*replies)
        self.told: list[EvalTrace | AgentError | None] = []
        self._latency = latency

    async def hot_update_latency(self, ask: Callable[[str], Awaitable[EvalTrace | None]]) -> float | None:
        """The latency that it was made with."""
        try:
            self.told.append(await ask("hello"))
        except AgentError as error:
            self.told.append(error)
            if not error.retry_may_help:
                raise
        return self._latency


async def measured(agent: ScriptedAgent, scope: str = "TOOL", mode: EvalMode | None = None) -> HotUpdate:
    """A measurement that is over."""
    request = RunRequest(scope=scope, agent="scripted", eval_mode=mode, timeout=5)
    update = HotUpdate(agent, run_plan(resolve(scope)), request, NONE)
    update.begin()
    update.begin()
    await update.finished()
    return update


@synchronous
async def test_it_is_made_once_with_a_question_of_its_own() -> None:
    agent = Publisher(AgentAnswer(text="hi", trace=TRACE))
    update = await measured(agent)
    assert (update.latencies_ms, update.failure) == ([40.0], None)
    assert agent.told == [TRACE]
    (asked,) = agent.asked
    assert (asked.user_input, asked.case.eval_mode) == ("hello", EvalMode.E2E_REAL)


@pytest.mark.parametrize(
    ("agent", "scope", "mode"),
    [
        (Publisher(), "PLANNING", None),  # the scope does not ask for it
        (Publisher(), "TOOL", EvalMode.E2E_MOCK),  # the real tools are to be left alone
        (ScriptedAgent(), "TOOL", None),  # no hook at all
    ],
)
@synchronous
async def test_it_is_not_made(agent: ScriptedAgent, scope: str, mode: EvalMode | None) -> None:
    update = await measured(agent, scope, mode)
    assert (update.latencies_ms, update.failure, agent.asked) == ([], None, [])


@synchronous
async def test_a_version_that_never_shows_is_said() -> None:
    update = await measured(Publisher(latency=None))
    assert update.latencies_ms == []
    assert update.failure == "the published Skill was not in effect in time: hot_update_latency is not reported"


@synchronous
async def test_a_fault_of_a_turn_reaches_the_measurement_as_an_error() -> None:
    busy = Publisher(AgentCrash("the agent raised {why}", why="busy"))
    assert (await measured(busy)).latencies_ms == [40.0], "another try may help: it went on"
    (error,) = busy.told
    assert (str(error), isinstance(error, AgentError)) == ("the agent raised busy", True)
    gone = await measured(Publisher(AgentRefused("no")))
    assert (gone.latencies_ms, gone.failure) == ([], "hot_update_latency was not measured: no")


@synchronous
async def test_it_ends_with_the_run_that_is_stopped() -> None:
    async def hangs(_turn: object) -> AgentAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    request = RunRequest(scope="TOOL", agent="scripted")
    update = HotUpdate(Publisher(hangs), run_plan(resolve("TOOL")), request, NONE)
    update.begin()
    await asyncio.sleep(0)
    await update.stop()
    assert (update.latencies_ms, update.failure) == ([], None)
