"""Puts faults between the stages of an agent that is otherwise sound."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from liftbay_demo import spans
from liftbay_demo.domain import Chunk, Dialogue, Material, Outcome, Perceived, Plan, ToolCall
from liftbay_demo.faults import generation, held_out, memory, perception, planning, tool
from liftbay_demo.faults.kinds import KINDS
from liftbay_demo.faults.setting import Fault
from liftbay_demo.generation.offline import pieces
from liftbay_demo.pipeline import ByRules, Load, Pipeline, Surroundings, TurnInput
from liftbay_demo.stages import Generation, LongTerm, Perception, Planning, ShortTerm, Stages, Tools
from liftbay_demo.telemetry import tracer

NAMES = frozenset(kind.name for kind in (*KINDS, *held_out.HELD_OUT))
_SLOW_SECONDS = 0.05
_DEAR: dict[str, str | int] = {
    spans.OPERATION: "chat",
    spans.REQUEST_MODEL: "dear",
    spans.INPUT_TOKENS: 4000,
    spans.OUTPUT_TOKENS: 800,
}

Change = TypeVar("Change")


def under_faults(pipeline: Pipeline, faults: Sequence[Fault], turn: TurnInput) -> Pipeline:
    """The pipeline for this turn, with those of the faults that strike it.

    Memory that is given with the request is whole, so that what memory does wrong is not done.
    """
    whole = turn.overrides.history is not None
    struck = [
        fault for fault in faults if fault.strikes(turn.message) and not (whole and fault.kind in memory.OF_SHORT_TERM)
    ]
    if not struck:
        return pipeline
    stages, around = pipeline.stages, pipeline.around
    gone: set[str] = set()
    for fault in struck:
        if fault.kind == "skill_not_loaded":
            gone |= tool.not_loaded(fault.seed, list(around.skills()))
    return Pipeline(
        Stages(
            _Perception(stages.perception, struck, tuple(around.skills()), gone),
            _Planning(stages.planning, struck),
            _ShortTerm(stages.short_term, struck),
            _LongTerm(stages.long_term, struck),
            _Tools(stages.tools, struck),
            _Generation(stages.generation, struck),
        ),
        _surroundings(around, struck, gone),
    )


def _of(table: dict[str, Change], struck: Sequence[Fault]) -> list[Change]:
    return [table[fault.kind] for fault in struck if fault.kind in table]


def _has(kind: str, struck: Sequence[Fault]) -> bool:
    return any(fault.kind == kind for fault in struck)


def _surroundings(around: Surroundings, struck: Sequence[Fault], gone: set[str]) -> Surroundings:
    around = around._replace(by_rules=_ByRules(around.by_rules, struck))
    down = {tool.down(fault.seed) for fault in struck if fault.kind == "mcp_down"} | gone
    if not down:
        return around
    skills = {name: skill for name, skill in around.skills().items() if name not in gone}
    loads = [Load(one.kind, one.name, "not available" if one.name in down else one.error) for one in around.loads()]
    return around._replace(skills=lambda: skills, loads=lambda: loads)


@dataclass(frozen=True)
class _ByRules:
    """Where a request gives the route, planning is not to blame; what comes after it still is."""

    sound: ByRules
    struck: Sequence[Fault]

    def planned(self, message: str, perceived: Perceived, dialogue: Dialogue) -> Plan:
        plan = self.sound.planned(message, perceived, dialogue)
        for table in (memory.ASKING, tool.MAPPING):
            for change in _of(table, self.struck):
                plan = change(plan)
        return plan


@dataclass(frozen=True)
class _Perception:
    sound: Perception
    struck: Sequence[Fault]
    skills: tuple[str, ...]
    gone: set[str]

    async def perceive(self, message: str, dialogue: Dialogue) -> Perceived:
        changes = _of(held_out.PERCEPTION, self.struck)
        sound = self.sound.perceive
        perceived = await (changes[0](message, dialogue, sound) if changes else sound(message, dialogue))
        if _has("dear_module", self.struck):
            with tracer.start_as_current_span("chat dear", attributes=_DEAR):
                pass
        if self.gone:
            perceived = tool.without_skills(perceived, self.gone)
        for misunderstood in _of(perception.PERCEPTION, self.struck):
            perceived = misunderstood(perceived, self.skills)
        return perceived


@dataclass(frozen=True)
class _Planning:
    sound: Planning
    struck: Sequence[Fault]

    async def plan(self, message: str, perceived: Perceived, dialogue: Dialogue) -> Plan:
        for cling in _of(memory.CLINGING, self.struck):
            perceived = cling(message, perceived, dialogue)
        if _has("slow_module", self.struck):
            await asyncio.sleep(_SLOW_SECONDS)
        plan = await self.sound.plan(message, perceived, dialogue)
        for table in (planning.PLANNING, held_out.PLANNING, memory.ASKING, tool.MAPPING):
            for change in _of(table, self.struck):
                plan = change(plan)
        return plan


@dataclass(frozen=True)
class _ShortTerm:
    sound: ShortTerm
    struck: Sequence[Fault]

    async def recall(self, session: str) -> Dialogue:
        dialogue = await self.sound.recall(session)
        for change in _of(memory.RECALL, self.struck):
            dialogue = change(dialogue)
        return dialogue

    async def remember(self, session: str, dialogue: Dialogue) -> None:
        # what is kept stays whole: a fault of recalling is one each time anew
        whole = await self.sound.recall(session)
        kept = msgspec.structs.replace(dialogue, turns=(*whole.turns, *dialogue.turns[-1:]))
        await self.sound.remember(session, kept if _of(memory.RECALL, self.struck) else dialogue)


@dataclass(frozen=True)
class _LongTerm:
    sound: LongTerm
    struck: Sequence[Fault]

    async def retrieve(self, query: str) -> list[Chunk]:
        changes = _of(memory.RETRIEVAL | held_out.RETRIEVAL, self.struck)
        return await (changes[0](query, self.sound.retrieve) if changes else self.sound.retrieve(query))


@dataclass(frozen=True)
class _Tools:
    sound: Tools
    struck: Sequence[Fault]

    async def call(self, call: ToolCall, gateway: str | None) -> Outcome:
        for fault in self.struck:
            if error := tool.refusal(fault.kind, fault.seed, call):
                return Outcome(call, error=error)
        outcome = await self.sound.call(call, gateway)
        for change in _of(tool.OUTCOMES | held_out.OUTCOMES, self.struck):
            outcome = change(outcome)
        return outcome


@dataclass(frozen=True)
class _Generation:
    sound: Generation
    struck: Sequence[Fault]

    async def answer(self, material: Material) -> AsyncGenerator[str, None]:
        text = "".join([piece async for piece in self.sound.answer(material)])
        if generation.tells_findings(material):
            for change in _of(generation.GENERATION | held_out.GENERATION, self.struck):
                text = change(text)
        for piece in pieces(text):
            yield piece
