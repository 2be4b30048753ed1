"""The receiver over HTTP, as exporters speak to it and as nobody should."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import logging
import zlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import aiohttp
import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from places import synchronous

from liftbay.domain.spans import Span, SpanCounts
from liftbay.telemetry.assemble import trace_of
from liftbay.telemetry.collector import SpanCollector
from liftbay.telemetry.receiver import routes
from liftbay.transport.local_server import LocalServer

PROTOBUF, JSON = "application/x-protobuf", "application/json"


@asynccontextmanager
async def receiving() -> AsyncIterator[tuple[SpanCollector, str, aiohttp.ClientSession]]:
    """A collector, the address of its receiver, and a client."""
    collector = SpanCollector(trace_of, quiet=0.02, at_most=5)
    server = LocalServer(routes(collector))
    await server.start()
    try:
        async with aiohttp.ClientSession() as client:
            yield collector, server.address, client
    finally:
        await server.close()


def request(traceparent: str, spans: int = 3, text: str = "") -> ExportTraceServiceRequest:
    _, trace, parent, _ = traceparent.split("-")
    found = ExportTraceServiceRequest()
    scoped = found.resource_spans.add().scope_spans.add()
    for number in range(spans):
        span = scoped.spans.add(
            trace_id=bytes.fromhex(trace),
            span_id=(number + 1).to_bytes(8),
            parent_span_id=bytes.fromhex(parent),
            name=f"span-{number}",
        )
        if text:
            span.attributes.add(key="text").value.string_value = text
    return found


def as_json(traceparent: str, spans: int = 3, text: str = "") -> bytes:
    _, trace, parent, _ = traceparent.split("-")
    made = [
        {
            "traceId": trace,
            "spanId": f"{number + 1:016x}",
            "parentSpanId": parent,
            "name": f"span-{number}",
            "attributes": [{"key": "text", "value": {"stringValue": text}}],
        }
        for number in range(spans)
    ]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": made}]}]}).encode()


async def post(
    client: aiohttp.ClientSession, url: str, body: bytes, content_type: str, encoding: str | None = None
) -> tuple[int, str, bytes]:
    headers = {"Content-Type": content_type} | ({} if encoding is None else {"Content-Encoding": encoding})
    async with client.post(url, data=io.BytesIO(body), headers=headers) as response:
        return response.status, response.content_type, await response.read()


@pytest.mark.parametrize("content_type", [PROTOBUF, JSON, "application/json; charset=utf-8"])
@pytest.mark.parametrize("encoding", [None, "identity", "gzip", "GZIP"])
@synchronous
async def test_spans_are_taken_and_the_answer_is_in_the_encoding_of_the_request(
    content_type: str, encoding: str | None
) -> None:
    async with receiving() as (collector, address, client):
        parent = collector.begin("s", 1)
        body = request(parent).SerializeToString() if content_type == PROTOBUF else as_json(parent)
        if encoding and encoding.lower() == "gzip":
            body = gzip.compress(body)
        status, answered, answer = await post(client, f"{address}/v1/traces", body, content_type, encoding)
        assert status == 200
        assert answered == content_type.split(";", maxsplit=1)[0]
        if answered == JSON:
            assert json.loads(answer) == {}
        else:
            assert ExportTraceServiceResponse.FromString(answer) == ExportTraceServiceResponse()
        (turn,) = await collector.collect("s")
        assert [span.name for span in turn.spans] == ["span-0", "span-1", "span-2"]


PARENT = f"00-{1:032x}-{1:016x}-01"
GOOD = request(PARENT).SerializeToString()
PACKED = gzip.compress(GOOD)
BAD: dict[str, tuple[bytes, str, str | None, int]] = {
    "bytes that are no protobuf": (b"\xff" * 40, PROTOBUF, None, 400),
    "protobuf that is cut": (GOOD[:-3], PROTOBUF, None, 400),
    "bytes that are no JSON": (b"{", JSON, None, 400),
    "protobuf that says it is JSON": (GOOD, JSON, None, 400),
    "nothing as JSON": (b"", JSON, None, 400),
    "what is not packed": (GOOD, PROTOBUF, "gzip", 400),
    "gzip that is cut": (PACKED[:-9], PROTOBUF, "gzip", 400),
    "gzip with a wrong sum": (PACKED[:-8] + b"\0" * 8, PROTOBUF, "gzip", 400),
    "gzip with something behind it": (PACKED + b"more", PROTOBUF, "gzip", 400),
    "no gzip but zlib": (zlib.compress(GOOD), PROTOBUF, "gzip", 400),
    "nothing as gzip": (b"", PROTOBUF, "gzip", 400),
    "another packing": (zlib.compress(GOOD), PROTOBUF, "deflate", 415),
    "several packings": (gzip.compress(PACKED), PROTOBUF, "gzip, gzip", 415),
    "another content type": (GOOD, "text/plain", None, 415),
    "the content type of gRPC": (GOOD, "application/grpc", None, 415),
    "a body that is too big": (b"\0" * ((16 << 20) + 1), PROTOBUF, None, 413),
    "a body that is too big unpacked": (gzip.compress(b"\0" * ((64 << 20) + 1), 1), PROTOBUF, "gzip", 413),
}


@pytest.mark.parametrize("name", BAD)
@synchronous
async def test_what_is_no_request_is_refused_and_the_next_one_is_taken(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    body, content_type, encoding, expected = BAD[name]
    async with receiving() as (collector, address, client):
        status, _, answer = await post(client, f"{address}/v1/traces", body, content_type, encoding)
        assert status == expected
        assert answer
        assert collector.counts == SpanCounts()
        assert (await post(client, f"{address}/v1/traces", GOOD, PROTOBUF))[0] == 200
        assert collector.counts.received == 3
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@synchronous
async def test_a_request_that_goes_wrong_at_its_end_leaves_nothing() -> None:
    async with receiving() as (collector, address, client):
        big = as_json(PARENT, 2_000)
        status, _, _ = await post(client, f"{address}/v1/traces", big.replace(b'"span-1999"', b"1999"), JSON)
        assert status == 400
        assert collector.counts == SpanCounts()
        assert (await post(client, f"{address}/v1/traces", big, JSON))[0] == 200
        assert collector.counts.received == 2_000


@pytest.mark.parametrize("path", ["/v1/metrics", "/v1/logs"])
@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
@synchronous
async def test_metrics_and_logs_are_thrown_away(path: str, content_type: str) -> None:
    async with receiving() as (collector, address, client):
        for body in (b"anything", b"\0" * (20 << 20)):
            status, answered, answer = await post(client, address + path, body, content_type, "gzip")
            assert (status, answered, answer) == (200, content_type, b"{}" if content_type == JSON else b"")
        assert collector.counts == SpanCounts()


@synchronous
async def test_only_posts_to_the_paths_of_otlp() -> None:
    async with receiving() as (_, address, client):
        async with client.get(f"{address}/v1/traces") as response:
            assert response.status == 405
        async with client.post(f"{address}/v1/other") as response:
            assert response.status == 404


@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
@synchronous
async def test_a_big_request_does_not_hold_others_up(content_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with receiving() as (collector, address, client):
        parent = collector.begin("s", 1)
        body = (
            request(parent, 20_000, "x" * 200).SerializeToString()
            if content_type == PROTOBUF
            else as_json(parent, 20_000, "x" * 200)
        )
        packed = gzip.compress(body, 1)
        turns = 0
        turns_at_parts: list[int] = []
        accept = collector.accept

        async def take_turns() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        def accept_part(spans: Iterable[Span]) -> None:
            turns_at_parts.append(turns)
            accept(spans)

        monkeypatch.setattr(collector, "accept", accept_part)
        others = asyncio.create_task(take_turns())
        status, _, _ = await post(client, f"{address}/v1/traces", packed, content_type, "gzip")
        others.cancel()
        assert status == 200
        assert collector.counts.received == 20_000
        assert len(turns_at_parts) > 20
        assert len(set(turns_at_parts)) == len(turns_at_parts)  # others had their turn between any two parts


@pytest.mark.parametrize("compression", ["gzip", "none"])
@synchronous
async def test_the_exporter_of_opentelemetry(compression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", compression)
    async with receiving() as (collector, address, _):
        provider = TracerProvider(resource=Resource({"service.name": "shop"}))
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{address}/v1/traces")))
        parent = TraceContextTextMapPropagator().extract({"traceparent": collector.begin("s", 1)})
        tracer = provider.get_tracer("agent")
        with tracer.start_as_current_span("root", parent):
            for number in range(1_000):
                tracer.start_span(f"child-{number}").end()
        await asyncio.to_thread(provider.shutdown)
        (turn,) = await collector.collect("s")
        assert collector.counts == SpanCounts(received=1_001, used=1_001)
        assert (turn.spans[0].name, turn.spans[0].service, turn.spans[0].scope) == ("root", "shop", "agent")
        assert {span.parent_id for span in turn.spans[1:]} == {turn.spans[0].span_id}
