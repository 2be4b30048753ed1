"""What carries each part of a trace."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

import liftbay
from liftbay.domain.spans import Span
from liftbay.domain.trace import (
    Chunk,
    EvalTrace,
    Memory,
    ModelTokens,
    ModelUsage,
    Perception,
    Planning,
    Retrieval,
    ToolCallRecord,
    ToolLoad,
)
from liftbay.domain.vocabulary import Route
from liftbay.scoring.reported_parts import reported_parts
from liftbay.telemetry.assemble import trace_of
from liftbay.telemetry.attributes import Carriers, carried_by

FULL = EvalTrace(
    perception=Perception(True, "booking", "7", ["buy"], 1.0),
    planning=Planning(Route.SKILL_HIT, "search", 1.0),
    memory=Memory(3, 1.0),
    tool_calls=[ToolCallRecord("find", {}, True, latency_ms=1.0)],
    tool_loads=[ToolLoad("mcp", "hotels", True)],
    retrievals=[Retrieval(1, [Chunk("a")], 1.0)],
    model=ModelUsage(1, 10, 5, 1.0, {"m": ModelTokens(1, 10, 5)}),
    hot_update_latency_ms=1.0,
)


def test_every_part_that_can_be_reported_has_its_carriers() -> None:
    parts = reported_parts(FULL)
    assert {"retrievals.chunks", "retrievals.latency_ms", "tool_calls.latency_ms", "perception.skill"} <= parts
    for part in parts:
        carriers = carried_by(part)
        assert isinstance(carriers, Carriers)
        assert carriers.genai
        assert carriers.openinference


def test_every_part_that_a_metric_misses_has_its_carriers() -> None:
    sources = Path(liftbay.__file__).parent.rglob("*.py")
    missed = {part for file in sources for part in re.findall(r'missing="([a-z_.]+)"', file.read_text("utf-8"))}
    assert {"perception.intents", "tool_calls.success"} <= missed
    assert all(carried_by(part) for part in missed)


def test_a_part_that_does_not_exist_has_none() -> None:
    with pytest.raises(KeyError):
        carried_by("perception.mood")


def test_retrievals_without_content() -> None:
    trace = EvalTrace(retrievals=[Retrieval(2)])
    assert reported_parts(trace) == {"retrievals"}
    assert reported_parts(EvalTrace(retrievals=[])) == {"retrievals"}


# Of each attribute that the table names, a span that has it; by the part that it carries.
VALUES: dict[str, dict[str, object]] = {
    "perception.intents": {"liftbay.intent": "buy"},
    "perception.skill": {"gen_ai.skill.name": "booking"},
    "perception.skill_version": {"liftbay.skill.version": "7"},
    "perception.latency_ms": {"liftbay.module": "perception"},
    "planning.route": {"liftbay.route": "SKILL_MISS"},
    "planning.latency_ms": {"liftbay.module": "planning"},
    "memory.rounds": {"liftbay.memory.rounds": 2},
    "memory.latency_ms": {"liftbay.module": "memory"},
    "tool_loads": {"liftbay.tool_load.kind": "mcp", "liftbay.tool_load.name": "hotels"},
    "tool_calls.arguments": {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "t",
        "gen_ai.tool.call.arguments": "{}",
    },
    "tool_calls.success": {"openinference.span.kind": "TOOL", "tool.name": "t"},
    "retrievals.chunks": {"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.content": "a"},
    "model.input_tokens": {"openinference.span.kind": "LLM", "llm.token_count.prompt": 10},
    "model.output_tokens": {"gen_ai.operation.name": "chat", "gen_ai.usage.output_tokens": 5},
    "model.by_model": {"openinference.span.kind": "LLM", "llm.model_name": "m"},
    "model.time_to_first_token_ms": {"gen_ai.operation.name": "chat", "gen_ai.response.time_to_first_chunk": 0.1},
}


@pytest.mark.parametrize("part", VALUES)
def test_what_the_table_names_really_carries_it(part: str) -> None:
    trace = trace_of([Span("t", "s", "n", 0, 1_000_000_000, attributes=VALUES[part])])
    assert trace is not None
    assert part in reported_parts(trace)
    named = " ".join(msgspec.structs.astuple(carried_by(part)))
    carrying = [name for name in VALUES[part] if name not in ("gen_ai.operation.name", "gen_ai.tool.name", "tool.name")]
    assert any(re.sub(r"\.\d+\.", ".N.", name) in named for name in carrying)
