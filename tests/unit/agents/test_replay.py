"""Recorded answers in place of a live agent: three kinds of file, and what is wrong with others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from places import a_result, synchronous

from liftbay.agents.replay import ReplayAgent
from liftbay.domain.case import Case
from liftbay.domain.episode import Episode, Fault, FaultKind, Turn
from liftbay.domain.result import CaseResult
from liftbay.domain.toolcall import ToolCall
from liftbay.domain.trace import EvalTrace, ModelUsage, ToolCallRecord
from liftbay.domain.vocabulary import DatasetType
from liftbay.errors import AgentCrash, AgentError, AgentProtocol, AgentTimeout, AgentUnreachable, InputError
from liftbay.ports import AgentAnswer, AgentInput, RecordedAgent

TALK = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "cancel my order"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "find", "arguments": '{"order": 7}'}},
            {"id": "2", "type": "function", "function": {"name": "cancel", "arguments": "{broken"}},
        ],
    },
    {"role": "tool", "tool_call_id": "1", "name": "find", "content": '{"state": "open"}'},
    {"role": "tool", "tool_call_id": "2", "name": "cancel", "content": "Error: not allowed"},
    {"role": "assistant", "content": "I tried."},
    {"role": "user", "content": "and now?"},
    {
        "role": "assistant",
        "content": "It cannot be cancelled.",
        "tool_calls": [{"name": "note", "arguments": {"x": 1}}],
    },
]


def trajectory(task: str | int, trial: int, reward: float, talk: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """A record of a trajectory file."""
    messages = TALK if talk is None else talk
    return {"task_id": task, "trial": trial, "reward": reward, "traj": messages, "info": {"more": "fields"}}


def written(path: Path, records: list[Any], *, lines: bool = True) -> ReplayAgent:
    """The agent of a file of these records."""
    content = "\n".join(map(json.dumps, records)) if lines else json.dumps(records, indent=1)
    path.write_text(content, encoding="utf-8")
    return ReplayAgent(path)


def asked(case_id: str, trial: int = 1, round_: int = 1) -> AgentInput:
    """A turn of a case."""
    case = Case(id=case_id, dataset_type=DatasetType.TOOL_CALL, user_input="?")
    return AgentInput(session_id="s", case=case, trial=trial, round=round_, user_input="?", earlier=())


class TestTrajectories:
    @pytest.mark.parametrize("lines", [True, False])
    @synchronous
    async def test_the_whole_trajectory_is_one_answer(self, tmp_path: Path, lines: bool) -> None:
        agent = written(tmp_path / "t.json", [trajectory(5, 0, 1.0)], lines=lines)
        found = await agent.answer(asked("5"))
        assert found == AgentAnswer(
            text="It cannot be cancelled.",
            trace=EvalTrace(
                tool_calls=[
                    ToolCallRecord("find", {"order": 7}, True, '{"state": "open"}'),
                    ToolCallRecord("cancel", None, False, "Error: not allowed", "Error: not allowed"),
                    ToolCallRecord("note", {"x": 1}),
                ],
                model=ModelUsage(calls=3),
            ),
            replayed=True,
            recorded={"reward": 1.0},
        )

    def test_each_task_is_a_case(self, tmp_path: Path) -> None:
        agent = written(tmp_path / "t.jsonl", [trajectory("b", 0, 1), trajectory(3, 0, 1, []), trajectory("b", 1, 0)])
        cases = agent.cases(DatasetType.BASIC_FUNCTION)
        assert cases == [
            Case(id="b", dataset_type=DatasetType.BASIC_FUNCTION, user_input="cancel my order"),
            Case(id="3", dataset_type=DatasetType.BASIC_FUNCTION, user_input=""),
        ]

    @pytest.mark.parametrize("numbers", [(0, 1, 2), (1, 2, 3), (7, 7, 7)])
    @synchronous
    async def test_trials_are_numbered_as_they_come(self, tmp_path: Path, numbers: tuple[int, ...]) -> None:
        records = [trajectory("a", number, position / 10) for position, number in enumerate(numbers)]
        agent = written(tmp_path / "t.jsonl", [*records, trajectory("b", 0, 1)])
        assert agent.trials == 3
        rewards = [(await agent.answer(asked("a", trial))).recorded["reward"] for trial in (1, 2, 3)]
        assert rewards == [0.0, 0.1, 0.2]
        with pytest.raises(AgentProtocol, match="the file holds no trial 2 of b"):
            await agent.answer(asked("b", 2))

    @synchronous
    async def test_a_trajectory_in_which_the_agent_says_nothing(self, tmp_path: Path) -> None:
        found = await written(tmp_path / "t.jsonl", [trajectory("a", 0, 0, [])]).answer(asked("a"))
        assert found.text == ""
        assert found.trace == EvalTrace(tool_calls=[], model=ModelUsage(calls=0))


class TestResultsOfARun:
    @staticmethod
    def exported(*results: CaseResult) -> list[Any]:
        return [msgspec.to_builtins(result) for result in results]

    @synchronous
    async def test_each_turn_answers_as_it_did(self, tmp_path: Path) -> None:
        first = a_result(1, case_id="a")
        turns = [Turn(1, "?", "one", EvalTrace(tool_calls=[]), 5.0, 2.5), Turn(2, "?", "two")]
        second = msgspec.structs.replace(
            a_result(1, case_id="a", trial=2), episode=Episode("s", turns, recorded={"reward": 1})
        )
        agent = written(tmp_path / "r.jsonl", self.exported(first, second))
        assert agent.trials == 2
        assert agent.cases(DatasetType.TOOL_CALL) is None
        found = await agent.answer(asked("a", 1))
        assert (found.text, found.trace) == (first.episode.turns[0].answer, first.episode.turns[0].trace)
        one, two = await agent.answer(asked("a", 2, 1)), await agent.answer(asked("a", 2, 2))
        assert one == AgentAnswer(
            text="one",
            trace=EvalTrace(tool_calls=[]),
            time_to_first_token_ms=2.5,
            replayed=True,
            response_latency_ms=5.0,
            recorded={"reward": 1},
        )
        assert (two.text, two.trace) == ("two", None)

    @pytest.mark.parametrize(
        ("kind", "error"),
        [
            (FaultKind.TIMEOUT, AgentTimeout),
            (FaultKind.UNREACHABLE, AgentUnreachable),
            (FaultKind.PROTOCOL, AgentProtocol),
            (FaultKind.CRASH, AgentCrash),
        ],
    )
    @synchronous
    async def test_a_recorded_fault_is_that_fault_again_and_is_not_retried(
        self, tmp_path: Path, kind: FaultKind, error: type[AgentError]
    ) -> None:
        turns = [Turn(1, "?", "one"), Turn(2, "?")]
        episode = Episode("s", turns, fault=Fault(kind, "it was {late}", 2, retry_may_help=True))
        agent = written(
            tmp_path / "r.jsonl", self.exported(msgspec.structs.replace(a_result(1, case_id="a"), episode=episode))
        )
        assert (await agent.answer(asked("a"))).text == "one"
        with pytest.raises(error) as caught:
            await agent.answer(asked("a", round_=2))
        assert (str(caught.value), caught.value.retry_may_help) == ("it was {late}", False)

    @synchronous
    async def test_a_turn_that_was_not_recorded_is_a_fault(self, tmp_path: Path) -> None:
        agent = written(tmp_path / "r.jsonl", self.exported(a_result(1, case_id="a")))
        with pytest.raises(AgentProtocol, match="the recorded trial has no such turn"):
            await agent.answer(asked("a", round_=2))


class TestResultsOfJmultiwozTc:
    @synchronous
    async def test_calls_are_the_trace(self, tmp_path: Path) -> None:
        call = {"name": "find_hotel", "arguments": {"city": "京都"}}
        agent = written(
            tmp_path / "r.jsonl",
            [{"data_id": "1", "dialogue_id": "d", "tool_calls": [call]}, {"data_id": "2", "tool_calls": []}],
        )
        calls = [ToolCallRecord("find_hotel", {"city": "京都"})]
        assert await agent.answer(asked("1")) == AgentAnswer(text="", trace=EvalTrace(tool_calls=calls), replayed=True)
        assert await agent.answer(asked("2")) == AgentAnswer(text="", trace=EvalTrace(tool_calls=[]), replayed=True)
        assert (agent.trials, agent.cases(DatasetType.TOOL_CALL)) == (1, None)
        assert ToolCall("find_hotel", {"city": "京都"}).arguments == calls[0].arguments

    @synchronous
    async def test_an_error_record_is_a_fault(self, tmp_path: Path) -> None:
        agent = written(tmp_path / "r.jsonl", [{"data_id": "1", "tool_calls": [], "error": "Time{out}Error"}])
        with pytest.raises(AgentProtocol) as caught:
            await agent.answer(asked("1"))
        assert (str(caught.value), caught.value.retry_may_help) == ("Time{out}Error", False)

    @synchronous
    async def test_there_is_one_trial(self, tmp_path: Path) -> None:
        agent = written(tmp_path / "r.jsonl", [{"data_id": "1", "tool_calls": []}])
        with pytest.raises(AgentProtocol, match="the file holds no trial 2 of 1"):
            await agent.answer(asked("1", 2))


@synchronous
async def test_a_case_that_is_not_recorded_is_a_fault_that_is_not_retried(tmp_path: Path) -> None:
    agent = written(tmp_path / "t.jsonl", [trajectory("a", 0, 1)])
    with pytest.raises(AgentProtocol, match="the file holds no trial 1 of b") as caught:
        await agent.answer(asked("b"))
    assert not caught.value.retry_may_help


@synchronous
async def test_it_is_a_recorded_agent_that_is_settled_and_holds_nothing(tmp_path: Path) -> None:
    agent = written(tmp_path / "some name.jsonl", [trajectory("a", 0, 1)])
    assert isinstance(agent, RecordedAgent)
    assert (agent.name, agent.version) == ("some name.jsonl", None)
    assert await agent.settled("s")
    await agent.close()


@pytest.mark.parametrize(
    ("content", "cause", "place"),
    [
        ("", "the file holds no record", ""),
        ("\n \n", "the file holds no record", ""),
        ("[]", "the file holds no record", ""),
        ("{", "invalid JSON", ":1"),
        ('[{"task_id"', "invalid JSON", ""),
        ('{"data_id": "1", "tool_calls": []}\n\nnonsense', "invalid JSON", ":3"),
        ("3", "this is nothing that can be replayed", ""),
        ('{"other": 1}', "this is nothing that can be replayed", ""),
        ('[["a"]]', "this is nothing that can be replayed", ""),
        ('{"task_id": "a", "traj": []}', "this is not a record of its kind", ":1"),
        ('{"data_id": "1", "tool_calls": []}\n{"data_id": "2"}', "this is not a record of its kind", ":2"),
        ('[{"task_id": 1, "reward": 1, "traj": []}, {"task_id": 2, "reward": "x", "traj": []}]', "of its kind", ":2"),
        ('{"data_id": "1", "tool_calls": []}\n{"task_id": 2, "reward": 1, "traj": []}', "of its kind", ":2"),
        ('{"episode": {"sessionId": "s"}}', "this is not a record of its kind", ":1"),
    ],
)
def test_a_bad_file(tmp_path: Path, content: str, cause: str, place: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(content)
    with pytest.raises(InputError, match=cause) as caught:
        ReplayAgent(path)
    assert caught.value.place == f"{path}{place}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the file cannot be read: No such file or directory"):
        ReplayAgent(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="the file cannot be read: Is a directory"):
        ReplayAgent(tmp_path)
