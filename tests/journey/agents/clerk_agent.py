"""A hotel clerk behind HTTP whose tool is one of an MCP server, as its maker would write it: nothing of liftbay.

    MCP_URL=... python clerk_agent.py PORT

A request may name another MCP server. Its spans go where the environment says, if it does.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from aiohttp import web
from mcp import Client
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

tracer = trace.get_tracer("clerk")


async def chat(request: web.Request) -> web.Response:
    """Look the price up, and tell it."""
    asked: dict[str, Any] = await request.json()
    address = asked.get("mcp") or os.environ["MCP_URL"]
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"}
    with tracer.start_as_current_span("invoke_agent clerk", extract(request.headers), attributes=attributes):
        async with Client(address) as client:
            name = "add" if "add" in asked["message"] else "price"
            arguments = {"a": 1, "b": 2} if name == "add" else {"hotel": asked["message"]}
            result = await client.call_tool(name, arguments)
    text = "".join(getattr(part, "text", "") for part in result.content)
    return web.json_response({"answer": text, "failed": result.is_error})


def main() -> None:
    """Serve until told to end."""
    provider = TracerProvider()
    if "OTEL_EXPORTER_OTLP_ENDPOINT" in os.environ:
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), schedule_delay_millis=50))
    trace.set_tracer_provider(provider)
    app = web.Application()
    app.add_routes([web.post("/chat", chat)])
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)


if __name__ == "__main__":
    main()
