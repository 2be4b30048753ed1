"""What carries each part of an EvalTrace in each dialect: what an agent's owner has to add where a part is missing."""

from __future__ import annotations

import msgspec


class Carriers(msgspec.Struct, frozen=True):
    """Attributes, events or spans, as their conventions name them."""

    genai: str
    openinference: str


def _ours(carrier: str) -> Carriers:
    """No convention has a name for it."""
    return Carriers(carrier, carrier)


def _timed(module: str, genai: str | None = None) -> Carriers:
    named = f"liftbay.module={module}"
    return Carriers(f"{genai}; {named}" if genai else named, named)


def _kind(operation: str, kind: str) -> Carriers:
    return Carriers(f"gen_ai.operation.name={operation}", f"openinference.span.kind={kind}")


_TOOL = _kind("execute_tool", "TOOL")
_MODEL = _kind("chat", "LLM")
_SKILL = Carriers("gen_ai.skill.name; liftbay.route", "gen_ai.skill.name; liftbay.route")
_LOADS = "liftbay.tool_load.kind, liftbay.tool_load.name"

_CARRIERS = {
    "perception": _ours("liftbay.intent; liftbay.intents; gen_ai.skill.name; liftbay.module=perception"),
    "perception.intents": _ours("liftbay.intent; liftbay.intents"),
    "perception.skill": _SKILL,
    "perception.skill_hit": _SKILL,
    "perception.skill_version": _ours("liftbay.skill.version"),
    "perception.latency_ms": _timed("perception"),
    "planning": _ours("liftbay.route; liftbay.module=planning"),
    "planning.route": _ours("liftbay.route"),
    "planning.decision": Carriers(
        "gen_ai.output.messages (gen_ai.operation.name=plan)", "output.value (liftbay.module=planning)"
    ),
    "planning.latency_ms": _timed("planning", "gen_ai.operation.name=plan"),
    "memory": Carriers("gen_ai.operation.name=search_memory; liftbay.memory.rounds", "liftbay.memory.rounds"),
    "memory.rounds": Carriers("gen_ai.memory.record.count; liftbay.memory.rounds", "liftbay.memory.rounds"),
    "memory.latency_ms": _timed("memory", "gen_ai.operation.name=search_memory"),
    "tool_calls": _TOOL,
    "tool_calls.arguments": Carriers("gen_ai.tool.call.arguments", "input.value; tool.parameters"),
    "tool_calls.success": _TOOL,
    "tool_calls.latency_ms": _TOOL,
    "tool_loads": _ours(_LOADS),
    "retrievals": _kind("retrieval", "RETRIEVER"),
    "retrievals.chunks": Carriers("gen_ai.retrieval.documents", "retrieval.documents.N.document.content"),
    "retrievals.latency_ms": _kind("retrieval", "RETRIEVER"),
    "model": _MODEL,
    "model.calls": _MODEL,
    "model.input_tokens": Carriers("gen_ai.usage.input_tokens", "llm.token_count.prompt"),
    "model.output_tokens": Carriers("gen_ai.usage.output_tokens", "llm.token_count.completion"),
    "model.by_model": Carriers("gen_ai.response.model; gen_ai.request.model", "llm.model_name"),
    "model.time_to_first_token_ms": Carriers("gen_ai.response.time_to_first_chunk", "First Token Stream Event"),
    "hot_update_latency_ms": _ours("liftbay.skill.version"),
}


def carried_by(part: str) -> Carriers:
    """The carriers of a part, named as `reported_parts` does; of those that `;` parts, one is enough."""
    return _CARRIERS[part]
