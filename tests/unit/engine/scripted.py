"""An agent that answers by script, a clock that does not run by itself, and cases to ask."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from liftbay.domain.case import Case, ConversationRound, ExpectedTool
from liftbay.domain.trace import EvalTrace, ModelUsage, ToolCallRecord
from liftbay.domain.vocabulary import DatasetType
from liftbay.ports import AgentAnswer, AgentInput, SpanOrigin

Reply = str | AgentAnswer | BaseException | Callable[[AgentInput], Any]


async def hang(_turn: AgentInput) -> AgentAnswer:
    """A reply that never comes."""
    await asyncio.Event().wait()
    raise AssertionError


class ScriptedAgent:
    """Gives its replies one after another, the last of them for ever; remembers what it was asked."""

    name = "scripted"
    version: str | None = None
    spans = SpanOrigin.NONE

    def __init__(self, *replies: Reply, settled: bool | BaseException = True) -> None:
        self._replies = replies or ("ok",)
        self._settled = settled
        self.asked: list[AgentInput] = []
        self.settle_asked: list[str] = []
        self.closed = False

    async def start(self) -> None:
        """Nothing to get ready."""

    async def answer(self, turn: AgentInput) -> AgentAnswer:
        """The next reply."""
        self.asked.append(turn)
        reply = self._replies[min(len(self.asked), len(self._replies)) - 1]
        if isinstance(reply, BaseException):
            raise reply
        if isinstance(reply, str):
            return AgentAnswer(text=reply)
        if isinstance(reply, AgentAnswer):
            return reply
        found: AgentAnswer = await reply(turn)
        return found

    async def settled(self, session_id: str) -> bool:
        """Whether the session is persisted."""
        self.settle_asked.append(session_id)
        if isinstance(self._settled, BaseException):
            raise self._settled
        return self._settled

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


class Clock:
    """Stands still but for the sleeps of the code under test."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        """Move on at once."""
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

    @property
    def time(self) -> SimpleNamespace:
        """In place of the module `time`."""
        return SimpleNamespace(monotonic=lambda: self.now, perf_counter=lambda: self.now)

    @property
    def asyncio(self) -> SimpleNamespace:
        """In place of the module `asyncio`."""
        return SimpleNamespace(sleep=self.sleep, timeout=asyncio.timeout)


def tool_case(number: int, *tools: str) -> Case:
    """A TOOL_CALL case that expects these tools."""
    return Case(
        id=f"case-{number:03}",
        dataset_type=DatasetType.TOOL_CALL,
        user_input=f"question {number}",
        expected_tools=[ExpectedTool(name) for name in tools],
    )


def conversation(rounds: int, dataset_type: DatasetType = DatasetType.MULTI_TURN) -> Case:
    """A conversation of so many rounds."""
    chain = [ConversationRound(round=number, user_input=f"turn {number}") for number in range(1, rounds + 1)]
    return Case(id="talk", dataset_type=dataset_type, conversation_chain=chain)


def calling(*tools: str, text: str = "done") -> AgentAnswer:
    """An answer whose trace reports calls of these tools."""
    return AgentAnswer(text=text, trace=EvalTrace(tool_calls=[ToolCallRecord(name, {}, True) for name in tools]))


def costing(input_tokens: int | None, output_tokens: int | None) -> EvalTrace:
    """A trace that reports tokens."""
    return EvalTrace(model=ModelUsage(1, input_tokens, output_tokens))
