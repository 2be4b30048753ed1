"""The 50 spans of one turn, as `trace.py` sends them: 5 of generative AI with content, 45 of HTTP and databases."""

from __future__ import annotations

import json
import os
import random
import time
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

SPANS = 50
TOOL = "search_hotel"
ARGUMENTS = {"city": "札幌", "station": "さっぽろ", "wifi": "有り"}
MODEL_CALLS = 2
TOKENS = (812, 64)  # of each model call, in and out
_PROSE = (
    "札幌駅 の 近く で Wi-Fi が 使える ホテル を 探して います 朝食 付き 禁煙 の 部屋 を 希望 し 到着 は 夕方 です "
    "the hotel near Sapporo station has free wifi and breakfast is included from seven in the morning"
)
_WORDS = _PROSE.split()


def _text(words: random.Random, size: int) -> str:
    """Prose of so many bytes."""
    found = ""
    while len(found.encode()) < size:
        found += words.choice(_WORDS) + " "
    return found


def _messages(words: random.Random, role: str) -> str:
    content = _text(words, words.randint(1_000, 2_000))
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": content}]}], ensure_ascii=False)


def _generative(words: random.Random) -> list[tuple[str, dict[str, Any]]]:
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "bench-model",
        "gen_ai.response.model": "bench-model-2026-11-01",
        "gen_ai.request.temperature": 0.2,
        "gen_ai.usage.input_tokens": TOKENS[0],
        "gen_ai.usage.output_tokens": TOKENS[1],
        "server.address": "api.example.com",
    }
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": TOOL,
        "gen_ai.tool.call.id": f"call_{words.getrandbits(64):016x}",
        "gen_ai.tool.call.arguments": json.dumps(ARGUMENTS, ensure_ascii=False),
        "gen_ai.tool.call.result": _text(words, words.randint(1_000, 2_000)),
    }
    documents = [{"id": f"doc-{n}", "score": 0.9 - n / 10, "content": _text(words, 400)} for n in range(3)]
    retrieval = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": "hotels",
        "gen_ai.retrieval.query.text": _text(words, 100),
        "gen_ai.retrieval.documents": json.dumps(documents, ensure_ascii=False),
    }
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "concierge", "gen_ai.agent.version": "1.4"}
    chats = [
        (
            "chat bench-model",
            chat
            | {"gen_ai.response.id": f"chatcmpl-{words.getrandbits(64):016x}"}
            | {f"gen_ai.{way}.messages": _messages(words, role) for way, role in _WAYS},
        )
        for _ in range(MODEL_CALLS)
    ]
    return [
        ("invoke_agent concierge", agent),
        chats[0],
        ("retrieval hotels", retrieval),
        (f"execute_tool {TOOL}", tool),
        chats[1],
    ]


_WAYS = (("input", "user"), ("output", "assistant"))


def _other(words: random.Random, number: int) -> tuple[str, dict[str, Any]]:
    """A request over HTTP or to a database; 6 to 10 attributes, two of which are the same in no other span."""
    key = words.getrandbits(48)
    if number % 3:
        return "GET", {
            "http.request.method": "GET",
            "url.full": f"https://inventory.example.com/v2/hotels/{key}?fields=name,price",
            "server.address": "inventory.example.com",
            "server.port": 443,
            "http.response.status_code": 200,
            "network.protocol.version": "1.1",
            "http.response.body.size": words.randint(200, 90_000),
            "user_agent.original": "aiohttp/3.14",
            **({"network.peer.address": "10.0.3.17", "network.peer.port": 443} if number % 2 else {}),
        }
    return "SELECT hotels", {
        "db.system.name": "postgresql",
        "db.namespace": "inventory",
        "db.operation.name": "SELECT",
        "db.query.text": f"SELECT id, name, price FROM hotels WHERE city = $1 AND id > {key} ORDER BY price LIMIT 20",
        "server.address": "db.internal",
        "db.response.returned_rows": words.randint(0, 20),
    }


def _value(value: Any) -> AnyValue:
    match value:
        case str():
            return AnyValue(string_value=value)
        case int():
            return AnyValue(int_value=value)
    return AnyValue(double_value=value)


def _attributes(attributes: dict[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_value(value)) for key, value in attributes.items()]


class Turns:
    """Requests that export the spans of a turn; no two have the same ids, and few the same content."""

    def __init__(self, kinds: int = 50, seed: int = 4) -> None:
        self._made = [self._make(random.Random(seed + number)) for number in range(kinds)]
        self._next = 0

    @staticmethod
    def _make(words: random.Random) -> ExportTraceServiceRequest:
        request = ExportTraceServiceRequest()
        exported = request.resource_spans.add()
        resource = {"service.name": "concierge", "service.version": "1.4.0", "telemetry.sdk.language": "python"}
        exported.resource.attributes.extend(_attributes(resource))
        generative = _generative(words)
        others = [_other(words, number) for number in range(SPANS - len(generative))]
        for scope, spans in (("concierge", generative), ("opentelemetry.instrumentation", others)):
            scoped = exported.scope_spans.add()
            scoped.scope.name = scope
            for name, attributes in spans:
                scoped.spans.add(name=name, kind=Span.SPAN_KIND_CLIENT, attributes=_attributes(attributes))
        return request

    def request(self, traceparent: str) -> bytes:
        """The request for the turn that `traceparent` was sent with, in protobuf; children before their parents."""
        _, trace_id, sent, _ = traceparent.split("-")
        request = self._made[self._next % len(self._made)]
        self._next += 1
        trace, root = bytes.fromhex(trace_id), os.urandom(8)
        now = time.time_ns()
        for scoped in request.resource_spans[0].scope_spans:
            for number, span in enumerate(scoped.spans):
                is_root = span.name.startswith("invoke_agent")
                span.trace_id = trace
                span.span_id = root if is_root else os.urandom(8)
                span.parent_span_id = bytes.fromhex(sent) if is_root else root
                span.start_time_unix_nano = now - 40_000_000 + (0 if is_root else number * 700_000)
                span.end_time_unix_nano = now if is_root else span.start_time_unix_nano + 600_000
        return bytes(request.SerializeToString())
