"""A turn from the message to the answer, stage by stage, with a span for each."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import NamedTuple, Protocol

import msgspec
from opentelemetry.context import Context
from opentelemetry.trace import Span, Status, StatusCode

from liftbay_demo import overrides as given
from liftbay_demo import spans
from liftbay_demo.domain import (
    Chunk,
    Dialogue,
    Material,
    Message,
    Outcome,
    Perceived,
    Plan,
    Step,
    ToolCall,
    Work,
)
from liftbay_demo.memory.turns import turn_of
from liftbay_demo.overrides import Overrides, Results
from liftbay_demo.planning.profile import with_results
from liftbay_demo.stages import Stages
from liftbay_demo.telemetry import tracer
from liftbay_demo.tools.skills import Skill

Emit = Callable[[str], Awaitable[None]]


class TurnInput(msgspec.Struct, frozen=True):
    """What a turn starts from."""

    session: str
    message: str
    biz_code: str | None = None
    gateway: str | None = None
    overrides: Overrides = Overrides()


class Load(NamedTuple):
    """An MCP server or a Skill, and why it could not be loaded."""

    kind: str
    name: str
    error: str | None


class ByRules(Protocol):
    """Plans without a model."""

    def planned(self, message: str, perceived: Perceived, dialogue: Dialogue) -> Plan:
        """What is done about the message, at once."""
        ...


class Surroundings(NamedTuple):
    """What a turn needs beside the stages."""

    version: str
    skills: Callable[[], Mapping[str, Skill]]
    loads: Callable[[], Sequence[Load]]
    replay: Callable[[Sequence[Message]], Dialogue]  # a dialogue from its messages alone
    by_rules: ByRules  # plans what follows from an overridden route


class Pipeline:
    """Runs turns. The stages are built in `agent.py`; a test may put another in the place of each."""

    def __init__(self, stages: Stages, around: Surroundings) -> None:
        self.stages = stages
        self.around = around

    async def turn(self, turn: TurnInput, emit: Emit, parent: Context | None = None) -> str:
        """Answer a message; `emit` gets the answer piece by piece."""
        attributes = {
            spans.OPERATION: "invoke_agent",
            spans.AGENT_NAME: spans.AGENT,
            spans.AGENT_VERSION: self.around.version,
            spans.CONVERSATION: turn.session,
        }
        if turn.biz_code is not None:
            attributes[spans.BIZ_CODE] = turn.biz_code
        name = f"invoke_agent {spans.AGENT}"
        with tracer.start_as_current_span(name, context=parent, attributes=attributes):
            skills = self.around.skills()  # one state of them for the whole turn
            dialogue = await self._recall(turn)
            if not dialogue.rounds:
                self._tell_loads()
            perceived = await self._perceive(turn, dialogue, skills)
            plan = await self._plan(turn, perceived, dialogue, skills)
            results = Results(turn.overrides.tool_results)
            works = tuple([await self._act(turn, step, skills, results) for step in plan.steps])
            material = Material(turn.message, works, dialogue, plan.profile, plan.store, perceived.instruction_ignored)
            answer = await self._generate(material, emit)
            await self._remember(turn, dialogue, plan, works, answer)
            return answer

    async def _recall(self, turn: TurnInput) -> Dialogue:
        attributes = {spans.OPERATION: "search_memory", spans.MODULE: spans.MEMORY}
        with tracer.start_as_current_span("search_memory", attributes=attributes) as span:
            if turn.overrides.history is not None:
                dialogue = self.around.replay(turn.overrides.history)
            else:
                dialogue = await self.stages.short_term.recall(turn.session)
            span.set_attribute(spans.ROUNDS, len(dialogue.turns))
            return dialogue

    def _tell_loads(self) -> None:
        for load in self.around.loads():
            attributes = {spans.LOAD_KIND: load.kind, spans.LOAD_NAME: load.name}
            with tracer.start_as_current_span(f"load {load.kind} {load.name}", attributes=attributes) as span:
                if load.error is not None:
                    _failed(span, load.error)

    async def _perceive(self, turn: TurnInput, dialogue: Dialogue, skills: Mapping[str, Skill]) -> Perceived:
        with tracer.start_as_current_span("perceive", attributes={spans.MODULE: spans.PERCEPTION}) as span:
            perceived = await self.stages.perception.perceive(turn.message, dialogue)
            if turn.overrides.intents is not None:
                perceived = given.relabelled(turn.message, perceived, turn.overrides.intents, skills)
            if turn.overrides.skill is not None:
                perceived = given.with_skill(perceived, turn.overrides.skill)
            intents = turn.overrides.intents or perceived.intents
            span.set_attribute(spans.INTENTS, intents)
            span.set_attribute(spans.INTENT, intents[0])
            return perceived

    async def _plan(
        self, turn: TurnInput, perceived: Perceived, dialogue: Dialogue, skills: Mapping[str, Skill]
    ) -> Plan:
        attributes = {spans.OPERATION: "plan", spans.MODULE: spans.PLANNING}
        with tracer.start_as_current_span("plan", attributes=attributes) as span:
            route, calls = turn.overrides.route, turn.overrides.tool_calls
            if route is None:
                plan = await self.stages.planning.plan(turn.message, perceived, dialogue)
            else:
                plan = self.around.by_rules.planned(turn.message, given.routed(perceived, route), dialogue)
                plan = msgspec.structs.replace(plan, route=route)
            if calls is not None:
                plan = given.with_calls(plan, calls, skills)
            span.set_attribute(spans.ROUTE, plan.route.value)
            decision = [{"role": "assistant", "parts": [{"type": "text", "content": _decision(plan)}]}]
            span.set_attribute(spans.OUTPUT_MESSAGES, spans.text_of(decision))
            return plan

    async def _act(self, turn: TurnInput, step: Step, skills: Mapping[str, Skill], results: Results) -> Work:
        if step.skill is None:
            outcomes = [await self._call(turn, call, results) for call in step.calls]
            found = await self._retrieve(turn, step.query) if step.query is not None else []
            return Work(step, outcomes=tuple(outcomes), chunks=tuple(found))
        skill = skills.get(step.skill)
        attributes = {
            spans.OPERATION: "execute_tool",
            spans.MODULE: spans.TOOL,
            spans.SKILL_NAME: step.skill,
        }
        if skill is not None:
            attributes[spans.SKILL_VERSION] = skill.version
        with tracer.start_as_current_span(f"execute_tool {step.skill}", attributes=attributes):
            outcomes = [await self._call(turn, call, results) for call in step.calls]
        return Work(step, skill.output if skill else (), tuple(outcomes))

    async def _call(self, turn: TurnInput, call: ToolCall, results: Results) -> Outcome:
        attributes = {
            spans.OPERATION: "execute_tool",
            spans.MODULE: spans.TOOL,
            spans.TOOL_NAME: call.name,
            spans.CALL_ID: f"call_{uuid.uuid4().hex[:24]}",
            spans.CALL_ARGUMENTS: spans.text_of(call.arguments),
        }
        with tracer.start_as_current_span(f"execute_tool {call.name}", attributes=attributes) as span:
            outcome = results.take(call) or await self.stages.tools.call(call, turn.gateway)
            if outcome.error is None:
                span.set_attribute(spans.CALL_RESULT, spans.text_of(outcome.result))
            else:
                span.set_attribute(spans.ERROR_TYPE, "tool_error")
                _failed(span, outcome.error)
            return outcome

    async def _retrieve(self, turn: TurnInput, query: str) -> list[Chunk]:
        attributes = {spans.OPERATION: "retrieval", spans.MODULE: spans.MEMORY, spans.QUERY: query}
        with tracer.start_as_current_span("retrieval knowledge", attributes=attributes) as span:
            if turn.overrides.chunks is not None:
                found = given.chunks(turn.overrides.chunks)
            else:
                found = await self.stages.long_term.retrieve(query)
            documents = [{"id": one.id, "score": one.score, "content": one.content} for one in found]
            span.set_attribute(spans.DOCUMENTS, spans.text_of(documents))
            return found

    async def _generate(self, material: Material, emit: Emit) -> str:
        with tracer.start_as_current_span("generate answer", attributes={spans.MODULE: spans.GENERATION}):
            parts = []
            async with aclosing(self.stages.generation.answer(material)) as answer:
                async for piece in answer:
                    parts.append(piece)
                    await emit(piece)
            return "".join(parts)

    async def _remember(
        self, turn: TurnInput, dialogue: Dialogue, plan: Plan, works: Sequence[Work], answer: str
    ) -> None:
        attributes = {spans.OPERATION: "update_memory", spans.MODULE: spans.MEMORY}
        with tracer.start_as_current_span("update_memory", attributes=attributes):
            profile = plan.store
            if plan.store_results:
                profile = with_results(profile, [outcome for work in works for outcome in work.outcomes])
            new = turn_of(turn.message, answer, plan)
            await self.stages.short_term.remember(
                turn.session, Dialogue((*dialogue.turns, new), profile, dialogue.rounds + 1)
            )


def _decision(plan: Plan) -> str:
    """The plan in one line, for whoever reads the trace."""
    parts = [plan.route.value]
    for step in plan.steps:
        parts += [f"call {call.name}" for call in step.calls]
        if step.missing:
            parts.append(f"ask for {', '.join(step.missing)}")
        if step.malformed:
            parts.append(f"point out {', '.join(one.parameter for one in step.malformed)}")
        if step.query is not None:
            parts.append("retrieve")
    return "; ".join(parts)


def _failed(span: Span, why: str) -> None:
    span.set_status(Status(StatusCode.ERROR, why))
