"""Publish a changed Skill while a run is under way, and time how long it takes until it is in effect."""

from __future__ import annotations

import asyncio

from liftbay.domain.case import Case
from liftbay.domain.plan import RunPlan
from liftbay.domain.result import RunRequest
from liftbay.domain.trace import EvalTrace
from liftbay.domain.vocabulary import DatasetType, EvalMode
from liftbay.engine.collect import collect
from liftbay.engine.drive import drive
from liftbay.engine.instruments import Instruments
from liftbay.engine.pace import Pace
from liftbay.errors import AgentError
from liftbay.language import tr
from liftbay.ports import Agent, PublishingAgent

PROBE = "hot_update_latency"


class HotUpdate:
    """One measurement beside a run, begun when the first trial has ended; nothing where the agent has no hook."""

    def __init__(self, agent: Agent, plan: RunPlan, request: RunRequest, instruments: Instruments) -> None:
        self.latencies_ms: list[float] = []
        self.failure: str | None = None
        self._agent = agent
        self._request = request
        self._instruments = instruments
        self._task: asyncio.Task[None] | None = None
        # The hook's own question goes to the real tools: a run that is to leave them alone does without.
        self._wanted = (
            PROBE in plan.probes
            and isinstance(agent, PublishingAgent)
            and agent.publishes_skills
            and request.eval_mode is not EvalMode.E2E_MOCK
        )

    def begin(self) -> None:
        """Start to measure, once."""
        if self._wanted and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._measure())

    async def finished(self) -> None:
        """Wait for the figure."""
        if self._task is not None:
            await self._task

    async def stop(self) -> None:
        """Measure no longer."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _measure(self) -> None:
        assert isinstance(self._agent, PublishingAgent)
        try:
            latency = await self._agent.hot_update_latency(self._ask)
        except AgentError as error:
            self.failure = tr("hot_update_latency was not measured: {why}", why=error)
            return
        if latency is None:
            self.failure = tr("the published Skill was not in effect in time: hot_update_latency is not reported")
        else:
            self.latencies_ms.append(latency)

    async def _ask(self, user_input: str) -> EvalTrace | None:
        case = Case(id=PROBE, dataset_type=DatasetType.TOOL_CALL, user_input=user_input)
        episode = await drive(
            self._agent,
            case,
            1,
            turn_timeout=self._request.timeout,
            turn_settle=0,
            pace=Pace(),
            instruments=self._instruments,
        )
        if self._instruments.traces is not None:
            episode = await collect(episode, self._instruments.traces)
        if episode.fault is not None:
            error = AgentError("{why}", why=episode.fault.message)
            error.retry_may_help = episode.fault.retry_may_help
            raise error
        return episode.turns[-1].trace
