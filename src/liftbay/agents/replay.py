"""`replay:FILE`: answers that were recorded earlier, in place of a live agent.

Three kinds of file, told apart by their first record:

- trajectories, `[{"task_id", "trial", "reward", "traj": [messages]}]`, as JSON or JSON Lines;
- results of a run of liftbay, as `liftbay runs export` writes them;
- results of JMultiWOZ-TC, `{"data_id", "tool_calls", "error"?}`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from liftbay.domain.case import Case, Message
from liftbay.domain.episode import Turn
from liftbay.domain.result import CaseResult
from liftbay.domain.toolcall import ToolCall
from liftbay.domain.trace import EvalTrace, ModelUsage, ToolCallRecord
from liftbay.domain.vocabulary import DatasetType
from liftbay.errors import AgentCrash, AgentError, AgentProtocol, AgentTimeout, AgentUnreachable, InputError, at
from liftbay.ports import AgentAnswer, AgentInput, SpanOrigin

_FAULTS = {"timeout": AgentTimeout, "unreachable": AgentUnreachable, "protocol": AgentProtocol}


class Trajectory(msgspec.Struct, frozen=True):
    """One recorded trial of a task."""

    task_id: str | int
    reward: float
    traj: list[Message]
    trial: int = 0

    def answer(self) -> AgentAnswer:
        """The whole trajectory as one answer: the last text, every tool call with its result."""
        texts = [message.content for message in self.traj if message.role == "assistant" and message.content]
        return AgentAnswer(
            text=texts[-1] if texts else "", trace=self._trace(), replayed=True, recorded={"reward": self.reward}
        )

    def _trace(self) -> EvalTrace:
        results = {message.tool_call_id: message.content for message in self.traj if message.role == "tool"}
        calls = [
            _call(call, results)
            for message in self.traj
            if message.role == "assistant"
            for call in message.tool_calls or ()
        ]
        asked = sum(message.role == "assistant" for message in self.traj)
        return EvalTrace(tool_calls=calls, model=ModelUsage(calls=asked))

    def case(self, dataset_type: DatasetType) -> Case:
        """The task as a case."""
        first = next((message.content for message in self.traj if message.role == "user"), None)
        return Case(id=str(self.task_id), dataset_type=dataset_type, user_input=first or "")


def _call(call: dict[str, Any], results: dict[str | None, str | None]) -> ToolCallRecord:
    function = call.get("function", call)
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except json.JSONDecodeError:
            arguments = None
    result = results.get(call.get("id"))
    failed = result is not None and result.lstrip().lower().startswith("error")
    return ToolCallRecord(
        name=str(function.get("name", "")),
        arguments=arguments if isinstance(arguments, dict) else None,
        success=None if result is None else not failed,
        result=result,
        error=result if failed else None,
    )


class _JMultiWOZResult(msgspec.Struct, frozen=True):
    data_id: str
    tool_calls: list[ToolCall]
    error: Any = None

    def answer(self) -> AgentAnswer:
        if self.error is not None:
            raise AgentProtocol("{error}", error=self.error)
        calls = [ToolCallRecord(name=call.name, arguments=call.arguments) for call in self.tool_calls]
        return AgentAnswer(text="", trace=EvalTrace(tool_calls=calls), replayed=True)


Answer = Callable[[int], AgentAnswer]  # of a round, from 1


class ReplayFile(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="replay", forbid_unknown_fields=True):
    """An agent file of the kind `replay`."""

    file: str
    name: str | None = None
    version: str | None = None


class ReplayAgent:
    """Answers from a file; a case or a trial that is not in it is a fault of the case."""

    version: str | None = None
    spans = SpanOrigin.NONE

    def __init__(self, path: Path) -> None:
        """Reads the file. Raises `InputError` where it is not one of the three kinds."""
        self.path = path
        self.name = path.name
        self._answers: dict[tuple[str, int], Answer] = {}
        self._tasks: dict[str, Trajectory] = {}
        self._trials: Counter[str] = Counter()
        self.trials = 1
        records = list(_records(path))
        if not records:
            raise InputError("the file holds no record", place=at(path))
        add = self._reader_of(records[0][1])
        for number, record in records:
            try:
                add(record)
            except msgspec.ValidationError as error:
                raise InputError("this is not a record of its kind: {why}", place=at(path, number), why=error) from None

    def cases(self, dataset_type: DatasetType) -> list[Case] | None:
        """The tasks of a trajectory file as cases; None for other files, which need a dataset."""
        if not self._tasks:
            return None
        return [trajectory.case(dataset_type) for trajectory in self._tasks.values()]

    async def start(self) -> None:
        """Nothing to get ready."""

    async def answer(self, turn: AgentInput) -> AgentAnswer:
        """The recorded answer of this case, trial and turn."""
        answer = self._answers.get((turn.case.id, turn.trial))
        if answer is None:
            raise AgentProtocol("the file holds no trial {trial} of {case}", trial=turn.trial, case=turn.case.id)
        return answer(turn.round)

    async def settled(self, session_id: str) -> bool:
        """A file is settled."""
        return True

    async def close(self) -> None:
        """Nothing to give back."""

    def _reader_of(self, record: Any) -> Callable[[Any], None]:
        if isinstance(record, dict):
            for key, reader in (
                ("traj", self._add_trajectory),
                ("episode", self._add_result),
                ("data_id", self._add_jmultiwoz),
            ):
                if key in record:
                    return reader
        raise InputError(
            "this is nothing that can be replayed",
            place=at(self.path),
            remedy="give trajectories, the export of a run, or a result file of JMultiWOZ-TC",
        )

    def _add_trajectory(self, record: Any) -> None:
        trajectory = msgspec.convert(record, Trajectory)
        task = str(trajectory.task_id)
        self._tasks.setdefault(task, trajectory)
        self._trials[task] += 1
        trial = self._trials[task]  # numbered as they come, wherever the file starts to count
        self.trials = max(self.trials, trial)
        recorded = trajectory.answer()
        self._answers[task, trial] = lambda _round: recorded

    def _add_result(self, record: Any) -> None:
        result = msgspec.convert(record, CaseResult)
        turns = {turn.round: turn for turn in result.episode.turns}
        self.trials = max(self.trials, result.trial)

        def answer(round_: int) -> AgentAnswer:
            return _replayed(result, turns.get(round_))

        self._answers[result.case.id, result.trial] = answer

    def _add_jmultiwoz(self, record: Any) -> None:
        result = msgspec.convert(record, _JMultiWOZResult)
        self._answers[result.data_id, 1] = lambda _round: result.answer()


def replay_agent_of(file: ReplayFile, folder: Path) -> ReplayAgent:
    """The agent of an agent file; the record is looked for in its folder."""
    agent = ReplayAgent(folder / file.file)
    agent.name = file.name or agent.name
    agent.version = file.version
    return agent


def _replayed(result: CaseResult, turn: Turn | None) -> AgentAnswer:
    fault = result.episode.fault
    if turn is None or turn.answer is None:
        message = fault.message if fault else "the recorded trial has no such turn"
        kind: type[AgentError] = _FAULTS.get(fault.kind.value, AgentCrash) if fault else AgentProtocol
        error = kind("{message}", message=message)
        error.retry_may_help = False  # a file answers the same again
        raise error
    return AgentAnswer(
        text=turn.answer,
        trace=turn.trace,
        time_to_first_token_ms=turn.time_to_first_token_ms,
        replayed=True,
        response_latency_ms=turn.response_latency_ms,
        recorded=result.episode.recorded,
    )


def _records(path: Path) -> Iterator[tuple[int, Any]]:
    """The records with their line numbers (of a JSON list: their positions from 1)."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError("the file cannot be read: {why}", place=at(path), why=error.strerror) from None
    if content.lstrip()[:1] == b"[":
        yield from enumerate(_decode(content, at(path)), start=1)
        return
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            yield number, _decode(line, at(path, number))


def _decode(content: bytes, place: str) -> Any:
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        raise InputError("invalid JSON: {why}", place=place, why=error) from None
