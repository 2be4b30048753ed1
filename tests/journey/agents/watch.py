"""Runs agents one after another, each under a public instrumentation, and writes the spans that were made.

    python watch.py FILE.json < TASKS

TASKS is a JSON list of `{agent, instrumentation, question, streams}`. The file gets one item a task:
`{answer, spans}`, spans as an exporter would send them: OTLP, protobuf, here as base64.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import json
import sys
from pathlib import Path
from typing import Any

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

# Each is turned on with a tracer provider, and gives back how it is turned off.
INSTRUMENTORS = {
    "agents_genai": ("opentelemetry.instrumentation.openai_agents", "OpenAIAgentsInstrumentor"),
    "agents_openinference": ("openinference.instrumentation.openai_agents", "OpenAIAgentsInstrumentor"),
    "openai_genai": ("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor"),
    "openai_openinference": ("openinference.instrumentation.openai", "OpenAIInstrumentor"),
    "langchain_openinference": ("openinference.instrumentation.langchain", "LangChainInstrumentor"),
}


def instrumented(name: str, provider: TracerProvider) -> Any:
    """Turn one instrumentation on; what has to be turned off again, if anything has."""
    if name == "pydantic_ai":
        pydantic_ai = importlib.import_module("pydantic_ai")
        pydantic_ai.Agent.instrument_all(pydantic_ai.InstrumentationSettings(tracer_provider=provider))
        return None
    if name.startswith("agents_"):
        importlib.import_module("agents").set_trace_processors([])  # else it sends its own traces to its maker
    module, attribute = INSTRUMENTORS[name]
    found = getattr(importlib.import_module(module), attribute)()
    found.instrument(tracer_provider=provider, skip_dep_check=True)
    return found


async def watched(task: dict[str, Any]) -> dict[str, Any]:
    """The answer and the spans of one task."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    on = [instrumented(name, provider) for name in task["instrumentation"].split("+")]
    try:
        agent = importlib.import_module(task["agent"])
        answer = await agent.answer(task["question"], streams=task.get("streams", False))
    finally:
        for one in on:
            if one is not None:
                one.uninstrument()
    sent = encode_spans(exporter.get_finished_spans()).SerializeToString()
    return {"answer": answer, "spans": base64.b64encode(sent).decode()}


async def worked_through(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What came of each task."""
    return [await watched(task) for task in tasks]


def main() -> None:
    """Work through the tasks."""
    done = asyncio.run(worked_through(json.load(sys.stdin)))
    Path(sys.argv[1]).write_text(json.dumps(done, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
