"""The sample agent in this process, with faults; its spans and its mocked tools take no detour over the network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from liftbay.domain.trace import ToolCallRecord
from liftbay.mocks.interceptor import MockTools
from liftbay.ports import AgentAnswer, AgentInput, SpanOrigin
from liftbay_demo.agent import Agent, Settings
from liftbay_demo.domain import Outcome, ToolCall
from liftbay_demo.faults.faulty import under_faults
from liftbay_demo.faults.setting import Fault
from liftbay_demo.overrides import Overrides
from liftbay_demo.pipeline import Pipeline, TurnInput
from liftbay_demo.stages import Tools


class InProcess:
    """An agent of liftbay's whose turns are those of the sample agent. `faults` may be set between runs."""

    def __init__(self, folder: Path, tools: MockTools) -> None:
        self.name = "product-centre"
        self.version: str | None = None
        self.spans = SpanOrigin.IN_PROCESS
        self.faults: Sequence[Fault] = ()
        self.overrides: Callable[[AgentInput], Overrides] = lambda turn: Overrides()
        self._agent = Agent(Settings(data=folder))
        self._tools = tools

    async def start(self) -> None:
        """Start the sample agent."""
        await self._agent.start()
        sound = self._agent.pipeline
        stages = replace(sound.stages, tools=_Mocked(sound.stages.tools, self._tools))
        self._pipeline = Pipeline(stages, sound.around)

    async def answer(self, turn: AgentInput) -> AgentAnswer:
        """One turn."""
        given = TurnInput(turn.session_id, turn.user_input, turn.case.biz_code, overrides=self.overrides(turn))
        pipeline = under_faults(self._pipeline, self.faults, given)
        return AgentAnswer(text=await pipeline.turn(given, _nowhere))

    async def settled(self, session_id: str) -> bool:
        """Nothing is lost in one process."""
        return True

    async def close(self) -> None:
        """Stop it."""
        await self._agent.close()


class _Mocked:
    """The tools, or the mock data of the trial in whose context they are called."""

    def __init__(self, sound: Tools, mocks: MockTools) -> None:
        self._sound = sound
        self._mocks = mocks

    async def call(self, call: ToolCall, gateway: str | None) -> Outcome:
        """The outcome of the call."""
        trial = self._mocks.of_context()
        if trial is not None and not trial.real:
            answer = trial.answer(call.name, call.arguments)
            assert answer is not None
            return Outcome(call, answer.result, answer.error)
        outcome = await self._sound.call(call, gateway)
        if trial is not None:
            record = ToolCallRecord(call.name, call.arguments, outcome.error is None, outcome.result, outcome.error)
            trial.record(record)
        return outcome


async def _nowhere(piece: str) -> None:
    """The answer is taken as a whole."""
