"""From the spans of a turn to its EvalTrace.

Each span is read by the dialect that knows it, and what the spans say is put together in the order in which they
started. Of what is decided once in a turn (Skill, intents, route, decision, history) the first span that speaks
counts: what later ones say is of nested agents, or of Skills that a Skill uses. The route SKILL_MISS says too that
no Skill was hit.

When "none" may be said
-----------------------

A part that no span speaks of is None. An empty list says that something would have been seen, and was not there:

- `tool_calls` is the spans of tools; what a model asked for is the same call, and gives arguments that the span
  lacks. Without any span of a tool, it is the calls that the models asked for, if the trace shows all of those: then
  the arguments are known, the success is not. If none was asked for, it is empty where the trace shows an agent (a
  root of a framework, a module that is timed), which would show its tools too, or where every answer of a model
  shows that it asked for none. Where answers show calls, by what they hold or why they ended, but not all answers
  show theirs, it is None: the list would have holes
- `retrievals` is the spans of retrievals. Without any, it is empty where the trace shows an agent; answers of models
  say nothing of it
- `tool_loads` is never empty: nothing tells whether an agent that loads none would have shown it
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec

from liftbay.domain.spans import Span
from liftbay.domain.trace import EvalTrace, Memory, Perception, Planning, Retrieval, ToolCallRecord, ToolLoad
from liftbay.domain.vocabulary import Module, Route
from liftbay.telemetry.dialects.liftbay import remarks
from liftbay.telemetry.dialects.table import readers
from liftbay.telemetry.lineage import KnownSpan, Lineage
from liftbay.telemetry.model_usage import usage_of
from liftbay.telemetry.reading import Kind, Reading
from liftbay.telemetry.requested_calls import with_arguments
from liftbay.telemetry.seen_twice import Work, pieces_of_work

_MODULES = {Kind.PLAN: Module.PLANNING, Kind.MEMORY: Module.MEMORY}  # of the latencies that an EvalTrace holds


def trace_of(spans: Sequence[Span]) -> EvalTrace | None:
    """What the spans of one turn say, in any order; None where no dialect knows any of them."""
    by_id = {span.span_id: span for span in spans}  # a span that came twice is one
    known = {one.span.span_id: one for one in _known(by_id.values())}
    if not known:
        return None
    lineage = Lineage(by_id, known)
    ordered = sorted(known.values(), key=lambda one: (one.span.start_ns, -one.span.end_ns))
    models = pieces_of_work(_of_kind(ordered, Kind.MODEL), lineage)
    agent_seen = any(
        (one.reading is not None and one.reading.kind is Kind.AGENT) or (one.remarks is not None and one.remarks.module)
        for one in ordered
    )
    return EvalTrace(
        perception=_perception(ordered, lineage),
        planning=_planning(ordered, lineage),
        memory=_memory(ordered, lineage),
        tool_calls=_tool_calls(pieces_of_work(_of_kind(ordered, Kind.TOOL), lineage), models, agent_seen),
        tool_loads=_tool_loads(ordered) or None,
        retrievals=_retrievals(pieces_of_work(_of_kind(ordered, Kind.RETRIEVAL), lineage), agent_seen),
        model=usage_of(models),
    )


def _known(spans: Iterable[Span]) -> Iterator[KnownSpan]:
    dialects = readers()
    for span in spans:
        reading = next((found for read in dialects if (found := read(span)) is not None), None)
        spoken = remarks(span)
        if reading is not None or spoken is not None:
            named = spoken.module if spoken is not None else None
            module = named or (_MODULES.get(reading.kind) if reading is not None else None)
            yield KnownSpan(span, reading, spoken, module)


def _of_kind(spans: Iterable[KnownSpan], kind: Kind) -> Iterator[tuple[KnownSpan, Reading]]:
    return ((one, one.reading) for one in spans if one.reading is not None and one.reading.kind is kind)


def _latency(spans: Iterable[KnownSpan], module: Module, lineage: Lineage) -> float | None:
    """The sum over the spans of the module; of those in one another only the outermost counts."""
    times = [one.latency_ms for one in spans if one.module is module and module not in lineage.modules_above(one)]
    return sum(times) if times else None


Part = TypeVar("Part", bound=msgspec.Struct)


def _said(part: Part) -> Part | None:
    """The part; None where it says nothing."""
    return part if any(getattr(part, name) is not None for name in part.__struct_fields__) else None


Value = TypeVar("Value")


def _first(values: Iterable[Value | None]) -> Value | None:
    return next((value for value in values if value is not None), None)


def _perception(spans: Sequence[KnownSpan], lineage: Lineage) -> Perception | None:
    spoken = [one.remarks for one in spans if one.remarks is not None]
    skill = _first(remark.skill for remark in spoken)
    route = _first(remark.route for remark in spoken)
    return _said(
        Perception(
            skill_hit=True if skill is not None else None if route is None else route is Route.SKILL_HIT,
            skill=skill,
            skill_version=_first(remark.skill_version for remark in spoken),
            intents=_first(remark.intents for remark in spoken),
            latency_ms=_latency(spans, Module.PERCEPTION, lineage),
        )
    )


def _planning(spans: Sequence[KnownSpan], lineage: Lineage) -> Planning | None:
    return _said(
        Planning(
            route=_first(one.remarks.route for one in spans if one.remarks is not None),
            decision=_first(reading.text for _, reading in _of_kind(spans, Kind.PLAN)),
            latency_ms=_latency(spans, Module.PLANNING, lineage),
        )
    )


def _memory(spans: Sequence[KnownSpan], lineage: Lineage) -> Memory | None:
    rounds = _first(one.remarks.rounds for one in spans if one.remarks is not None)
    if rounds is None:
        rounds = _first(reading.count for _, reading in _of_kind(spans, Kind.MEMORY))
    return _said(Memory(rounds, _latency(spans, Module.MEMORY, lineage)))


def _tool_calls(tools: Sequence[Work], models: Sequence[Work], agent_seen: bool) -> list[ToolCallRecord] | None:
    answers = [work.readings for work in models]
    asked = [_first(reading.requested for reading in readings) for readings in answers]
    requested = [call for calls in asked if calls is not None for call in calls]
    if tools:
        return with_arguments([_call(work) for work in tools], requested)
    failed = [any(reading.error is not None for reading in readings) for readings in answers]
    all_shown = all(calls is not None or no_answer for calls, no_answer in zip(asked, failed, strict=True))
    if requested:
        return [ToolCallRecord(call.name, call.arguments) for call in requested] if all_shown else None
    if any(reading.hides_calls for readings in answers for reading in readings):
        return None
    return [] if agent_seen or (models and all_shown) else None


def _call(work: Work) -> ToolCallRecord:
    readings = work.readings
    error = _error(work)
    return ToolCallRecord(
        name=_first(reading.name for reading in readings) or work.outer.span.name,
        arguments=_first(reading.arguments for reading in readings),
        success=error is None,
        result=_first(reading.result for reading in readings),
        error=error,
        latency_ms=work.outer.latency_ms,
    )


def _error(work: Work) -> str | None:
    """Why the call failed: if the outermost span says that it did, or all the innermost, of which one may try again."""
    ends = [one.reading.error for one in (work.outer, *work.inner) if one.reading is not None]
    if ends[0] is None and None in ends[1:]:
        return None
    return next((error for error in ends if error), "")


def _retrievals(searches: Sequence[Work], agent_seen: bool) -> list[Retrieval] | None:
    found = [
        Retrieval(
            _first(reading.count for reading in work.readings),
            _first(reading.chunks for reading in work.readings),
            work.outer.latency_ms,
        )
        for work in searches
    ]
    return found if found or agent_seen else None


def _tool_loads(spans: Iterable[KnownSpan]) -> list[ToolLoad]:
    return [
        ToolLoad(said.load_kind, said.load_name or one.span.name, one.span.error is None)
        for one in spans
        if (said := one.remarks) is not None and said.load_kind is not None
    ]
