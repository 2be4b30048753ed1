"""One trial: its session, its turns, its time, its trace."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from places import synchronous
from scripted import Clock, ScriptedAgent, calling, conversation, costing, hang, tool_case

from liftbay.domain.case import Case
from liftbay.domain.episode import Episode, FaultKind
from liftbay.engine.drive import drive
from liftbay.engine.pace import Pace
from liftbay.errors import AgentError, AgentProtocol, AgentRefused, AgentTimeout, AgentUnreachable
from liftbay.ports import AgentAnswer


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the trial."""
    held = Clock()
    monkeypatch.setattr("liftbay.engine.drive.asyncio", held.asyncio)
    monkeypatch.setattr("liftbay.engine.drive.time", held.time)
    return held


async def driven(
    agent: ScriptedAgent, case: Case, *, seconds: float = 120, settle: float = 2.0, pace: Pace | None = None
) -> Episode:
    """The episode of one trial."""
    return await drive(agent, case, 3, turn_timeout=seconds, turn_settle=settle, pace=pace or Pace())


@synchronous
async def test_a_single_turn(clock: Clock) -> None:
    agent = ScriptedAgent(calling("search", text="found"))
    case = tool_case(1, "search")
    episode = await driven(agent, case)
    (asked,) = agent.asked
    assert (asked.case, asked.trial, asked.round, asked.user_input, asked.earlier) == (case, 3, 1, "question 1", ())
    assert asked.session_id == episode.session_id
    assert episode.finished
    (turn,) = episode.turns
    assert (turn.round, turn.user_input, turn.answer) == (1, "question 1", "found")
    assert turn.trace == calling("search").trace
    assert (agent.settle_asked, clock.slept) == ([], [])


@synchronous
async def test_every_trial_has_a_session_of_its_own(clock: Clock) -> None:
    agent = ScriptedAgent()
    episodes = [await driven(agent, tool_case(1)) for _ in range(20)]
    assert len({episode.session_id for episode in episodes}) == 20


@synchronous
async def test_a_conversation_stays_in_its_session_and_carries_what_was_said(clock: Clock) -> None:
    replies = [
        AgentAnswer(text="one", trace=costing(1, 1)),
        AgentAnswer(text="two", time_to_first_token_ms=5.0),
        AgentAnswer(text="three", trace=costing(3, 3)),
    ]
    agent = ScriptedAgent(*replies)
    episode = await driven(agent, conversation(3))
    assert {asked.session_id for asked in agent.asked} == {episode.session_id}
    assert [asked.round for asked in agent.asked] == [1, 2, 3]
    assert [asked.user_input for asked in agent.asked] == ["turn 1", "turn 2", "turn 3"]
    assert [[turn.answer for turn in asked.earlier] for asked in agent.asked] == [[], ["one"], ["one", "two"]]
    assert [(turn.round, turn.answer, turn.trace) for turn in episode.turns] == [
        (1, "one", costing(1, 1)),
        (2, "two", None),
        (3, "three", costing(3, 3)),
    ]
    assert [turn.time_to_first_token_ms for turn in episode.turns] == [None, 5.0, None]


@synchronous
async def test_an_agent_that_does_not_say_that_it_has_settled_gets_its_time_between_turns(clock: Clock) -> None:
    agent = ScriptedAgent(settled=False)
    episode = await driven(agent, conversation(4), settle=2.5)
    assert sum(clock.slept) == pytest.approx(7.5)
    assert set(agent.settle_asked) == {episode.session_id}


@synchronous
async def test_an_agent_that_has_settled_is_not_waited_for(clock: Clock) -> None:
    agent = ScriptedAgent(settled=True)
    await driven(agent, conversation(3))
    assert (clock.slept, len(agent.settle_asked)) == ([], 2)


@synchronous
async def test_an_agent_that_cannot_say_whether_it_has_settled_is_at_fault(clock: Clock) -> None:
    agent = ScriptedAgent(settled=AgentUnreachable("gone"))
    episode = await driven(agent, conversation(3))
    assert episode.fault is not None
    assert (episode.fault.kind, episode.fault.turn, len(agent.asked)) == (FaultKind.UNREACHABLE, 2, 1)


@synchronous
async def test_each_turn_has_the_whole_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def timeout(seconds: float) -> asyncio.Timeout:
        given.append(seconds)
        return asyncio.timeout(seconds)

    monkeypatch.setattr("liftbay.engine.drive.asyncio", SimpleNamespace(timeout=timeout, sleep=asyncio.sleep))
    await driven(ScriptedAgent(), conversation(5), seconds=120)
    assert given == [120] * 5


@synchronous
async def test_a_turn_without_an_answer_ends_the_trial(clock: Clock) -> None:
    agent = ScriptedAgent("one", hang)
    episode = await driven(agent, conversation(3), seconds=0.02)
    assert episode.fault is not None
    assert (episode.fault.kind, episode.fault.turn, episode.fault.retry_may_help) == (FaultKind.TIMEOUT, 2, True)
    assert episode.fault.message == "no answer within 0.02 s"
    assert [(turn.round, turn.user_input, turn.answer) for turn in episode.turns] == [
        (1, "turn 1", "one"),
        (2, "turn 2", None),
    ]
    assert episode.turns[1].response_latency_ms is None


@pytest.mark.parametrize(
    ("error", "kind", "retry"),
    [
        (AgentTimeout("why"), FaultKind.TIMEOUT, True),
        (AgentUnreachable("why"), FaultKind.UNREACHABLE, True),
        (AgentProtocol("why"), FaultKind.PROTOCOL, False),
        (AgentRefused("why"), FaultKind.CRASH, False),
    ],
)
@synchronous
async def test_what_the_agent_raises_is_its_fault(
    clock: Clock, error: AgentError, kind: FaultKind, retry: bool
) -> None:
    episode = await driven(ScriptedAgent(error), tool_case(1))
    assert episode.fault is not None
    assert (episode.fault.kind, episode.fault.message, episode.fault.retry_may_help) == (kind, "why", retry)


@synchronous
async def test_latency_is_that_of_the_answer_alone(clock: Clock) -> None:
    async def slow(_turn: object) -> AgentAnswer:
        clock.now += 0.25
        return AgentAnswer(text="slow")

    episode = await driven(ScriptedAgent(slow, settled=False), conversation(2), settle=2)
    assert [turn.response_latency_ms for turn in episode.turns] == [250.0, 250.0]


@synchronous
async def test_every_turn_is_paced_and_paid(clock: Clock) -> None:
    waited = 0

    class Noted(Pace):
        async def wait(self) -> None:
            nonlocal waited
            waited += 1

    pace = Noted(max_tokens=100)
    await driven(ScriptedAgent(AgentAnswer(text="x", trace=costing(10, 5))), conversation(3), pace=pace)
    assert (waited, pace.tokens) == (3, 45)


@synchronous
async def test_what_a_recording_says_of_itself_is_kept(clock: Clock) -> None:
    agent = ScriptedAgent(AgentAnswer(text="a", recorded={"a": 1, "b": 1}), AgentAnswer(text="b", recorded={"b": 2}))
    assert (await driven(agent, conversation(2))).recorded == {"a": 1, "b": 2}


@synchronous
async def test_cancelling_a_trial_cancels_it() -> None:
    task = asyncio.create_task(driven(ScriptedAgent(hang), tool_case(1)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@synchronous
async def test_what_a_failed_turn_has_cost_is_kept_and_counted(clock: Clock) -> None:
    error = AgentProtocol("the model still calls tools")
    error.trace = costing(70, 30)
    pace = Pace(max_tokens=100)
    episode = await driven(ScriptedAgent(error), tool_case(1), pace=pace)
    assert episode.turns[-1].trace == costing(70, 30)
    assert pace.exhausted
