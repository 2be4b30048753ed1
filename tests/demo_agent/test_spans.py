"""The spans of a turn, as they arrive at a collector."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

trace_service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")

Serve = Callable[..., AbstractContextManager[str]]

P = "1005006120457665"
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


def test_spans_of_all_modules_continue_the_callers_trace(serve: Serve) -> None:
    spans = asyncio.run(_spans(serve, f"{P} の韓国の在庫を教えて。あと SKU の上限は何件?"))
    mine = [span for span in spans if span.trace_id.hex() == TRACE]
    by_name = {span.name: span for span in mine}
    said = {name: _attributes(span) for name, span in by_name.items()}

    root = by_name["invoke_agent product-centre"]
    assert root.parent_span_id.hex() == PARENT
    assert said[root.name]["gen_ai.conversation.id"] == "traced"
    assert {one.get("liftbay.module") for one in said.values()} >= {
        "perception",
        "planning",
        "memory",
        "tool",
        "generation",
    }
    assert said["perceive"]["liftbay.intents"] == ["stock-query", "knowledge_qa"]
    assert said["plan"]["liftbay.route"] == "SKILL_HIT"
    assert said["search_memory"]["liftbay.memory.rounds"] == 0
    skill = said["execute_tool stock-query"]
    assert (skill["gen_ai.skill.name"], skill["liftbay.skill.version"]) == ("stock-query", "1.0.0")
    call = said["execute_tool query_stock"]
    assert json.loads(call["gen_ai.tool.call.arguments"]) == {"productId": P, "country": "KR"}
    assert json.loads(call["gen_ai.tool.call.result"])["success"] is True
    documents = json.loads(said["retrieval knowledge"]["gen_ai.retrieval.documents"])
    assert documents[0]["id"] == "kb-sku#2"
    loads = {one["liftbay.tool_load.name"] for one in said.values() if "liftbay.tool_load.name" in one}
    assert {"product", "operations", "stock-query"} <= loads


async def _spans(serve: Serve, message: str) -> list[Any]:
    spans: list[Any] = []

    async def collect(request: web.Request) -> web.Response:
        batch = trace_service.ExportTraceServiceRequest.FromString(await request.read())
        spans.extend(span for one in batch.resource_spans for scope in one.scope_spans for span in scope.spans)
        return web.Response(content_type="application/x-protobuf")

    app = web.Application()
    app.router.add_post("/v1/traces", collect)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    endpoint = f"http://127.0.0.1:{runner.addresses[0][1]}"
    agent = serve(env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint})
    address = await asyncio.to_thread(agent.__enter__)
    headers = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
    async with aiohttp.ClientSession() as client:
        body = {"session": "traced", "message": message}
        async with client.post(f"{address}/chat", json=body, headers=headers) as response:
            assert response.status == 200
    await asyncio.to_thread(agent.__exit__, None, None, None)  # what is left is sent at the end
    await runner.cleanup()
    return spans


def _attributes(span: Any) -> dict[str, Any]:
    return {one.key: _value(one.value) for one in span.attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(one) for one in value.array_value.values] if kind == "array_value" else getattr(value, kind)
