"""A hotel desk as a Python function that tells OpenTelemetry what it does; it holds nothing of liftbay."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.util.types import Attributes

trace.set_tracer_provider(TracerProvider())
tracer = trace.get_tracer("desk")
said: dict[str, list[str]] = defaultdict(list)


def price(hotel: str, nights: int = 1) -> int:
    """The price of a stay; that it was asked for is noted."""
    with Path("real.log").open("a") as log:
        log.write(f"{hotel}\n")
    if hotel == "Nowhere":
        raise LookupError(hotel)
    return 9000 * nights


def answer(text: str, session_id: str) -> str:
    """The desk's answer: the price of the hotel that is named."""
    root: Attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}
    with tracer.start_as_current_span("invoke_agent desk", attributes=root):
        before = said[session_id]
        memory: Attributes = {"gen_ai.operation.name": "search_memory", "liftbay.memory.rounds": len(before)}
        with tracer.start_as_current_span("search_memory", attributes=memory):
            before.append(text)
        tool: Attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "price"}
        with tracer.start_as_current_span("execute_tool price", attributes=tool) as span:
            span.set_attribute("gen_ai.tool.call.arguments", json.dumps({"hotel": text}))
            found = price(text)
            span.set_attribute("gen_ai.tool.call.result", found)
        return f"{found} yen, after {len(before) - 1} turns"
