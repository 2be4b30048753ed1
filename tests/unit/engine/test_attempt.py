"""Retries: for execution faults only, each a whole new trial."""

from __future__ import annotations

import pytest
from places import synchronous
from scripted import Clock, ScriptedAgent, calling, conversation, hang, tool_case

from liftbay.domain.episode import Episode, FaultKind
from liftbay.domain.result import RunRequest
from liftbay.engine.attempt import attempt
from liftbay.engine.pace import Pace
from liftbay.errors import AgentCrash, AgentError, AgentProtocol, AgentRefused, AgentTimeout, AgentUnreachable


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock between tries."""
    held = Clock()
    monkeypatch.setattr("liftbay.engine.attempt.asyncio", held.asyncio)
    return held


async def tried(agent: ScriptedAgent, **options: float) -> Episode:
    """The episode of a single-turn case."""
    request = RunRequest(scope="TOOL_CALL", agent="scripted", turn_settle=0, **options)  # type: ignore[arg-type]
    return await attempt(agent, tool_case(1, "search"), 1, request, Pace())


@synchronous
async def test_an_answer_is_asked_for_once_however_wrong_it_is(clock: Clock) -> None:
    agent = ScriptedAgent(calling("other"))
    episode = await tried(agent)
    assert (episode.finished, episode.tries, len(agent.asked), clock.slept) == (True, 1, 1, [])


@pytest.mark.parametrize("fault", [AgentTimeout("late"), AgentUnreachable("gone"), AgentCrash("broken")])
@synchronous
async def test_an_execution_fault_is_tried_again(clock: Clock, fault: AgentError) -> None:
    agent = ScriptedAgent(fault, fault, "fine")
    episode = await tried(agent)
    assert episode.finished
    assert episode.turns[-1].answer == "fine"
    assert (episode.tries, clock.slept) == (3, [3.0, 3.0])


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (AgentTimeout("late"), FaultKind.TIMEOUT),
        (AgentUnreachable("gone"), FaultKind.UNREACHABLE),
        (AgentCrash("broken"), FaultKind.CRASH),
    ],
)
@synchronous
async def test_what_is_left_after_the_retries_stands_in_the_episode(
    clock: Clock, fault: AgentError, kind: FaultKind
) -> None:
    agent = ScriptedAgent(fault)
    episode = await tried(agent)
    assert episode.fault is not None
    assert (episode.fault.kind, episode.fault.message, episode.fault.turn) == (kind, str(fault), 1)
    assert (episode.tries, len(agent.asked), clock.slept) == (3, 3, [3.0, 3.0])


@pytest.mark.parametrize(
    ("fault", "kind"), [(AgentProtocol("nonsense"), FaultKind.PROTOCOL), (AgentRefused("no"), FaultKind.CRASH)]
)
@synchronous
async def test_what_would_come_again_is_not_asked_again(clock: Clock, fault: AgentError, kind: FaultKind) -> None:
    agent = ScriptedAgent(fault)
    episode = await tried(agent)
    assert episode.fault is not None
    assert (episode.fault.kind, episode.tries, len(agent.asked), clock.slept) == (kind, 1, 1, [])


@synchronous
async def test_a_turn_without_an_answer_in_time_is_tried_again(clock: Clock) -> None:
    agent = ScriptedAgent(hang, "fine")
    episode = await tried(agent, timeout=0.02)
    assert (episode.finished, episode.tries, clock.slept) == (True, 2, [3.0])


@pytest.mark.parametrize(("retries", "wait"), [(0, 3.0), (1, 0.0), (4, 0.5)])
@synchronous
async def test_the_run_says_how_often_and_how_far_apart(clock: Clock, retries: int, wait: float) -> None:
    agent = ScriptedAgent(AgentCrash("broken"))
    episode = await tried(agent, retries=retries, retry_wait=wait)
    assert (episode.tries, clock.slept) == (retries + 1, [wait] * retries)


@synchronous
async def test_the_agent_may_say_how_long_to_wait(clock: Clock) -> None:
    busy = AgentUnreachable("busy", retry_after=7.5)
    at_once = AgentUnreachable("busy", retry_after=0.0)
    await tried(ScriptedAgent(busy, at_once, "fine"))
    assert clock.slept == [7.5, 0.0]


@synchronous
async def test_a_retry_begins_the_conversation_anew_in_a_new_session(clock: Clock) -> None:
    agent = ScriptedAgent("one", AgentTimeout("late"), "one again", "two", "three")
    request = RunRequest(scope="MULTI_TURN", agent="scripted", turn_settle=0)
    episode = await attempt(agent, conversation(3), 2, request, Pace())
    assert [turn.answer for turn in episode.turns] == ["one again", "two", "three"]
    assert [asked.round for asked in agent.asked] == [1, 2, 1, 2, 3]
    assert {asked.trial for asked in agent.asked} == {2}
    first, *_ = sessions = [asked.session_id for asked in agent.asked]
    assert sessions == [first] * 2 + [episode.session_id] * 3
    assert first != episode.session_id
    assert [turn.answer for turn in agent.asked[2].earlier] == []
