"""Requests as OpenTelemetry's own classes write them, in both encodings; and bytes that are none."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtobufSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from liftbay.domain.spans import Span, SpanEvent
from liftbay.errors import InputError
from liftbay.telemetry.otlp import CONTENT_TYPES, JSON, PROTOBUF, decode

TRACE, SPAN, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "00f067aa0ba902b7"
START, END = 1_764_500_000_123_456_789, 1_764_500_001_000_000_001


def text(value: str) -> AnyValue:
    return AnyValue(string_value=value)


# Each value as the standard's class holds it, and as it is decoded.
VALUES: dict[str, tuple[AnyValue, Any]] = {
    "text": (text("京都 🏯"), "京都 🏯"),
    "empty text": (text(""), ""),
    "true": (AnyValue(bool_value=True), True),
    "false": (AnyValue(bool_value=False), False),
    "whole number": (AnyValue(int_value=2**63 - 1), 2**63 - 1),
    "negative": (AnyValue(int_value=-(2**63)), -(2**63)),
    "zero": (AnyValue(int_value=0), 0),
    "fraction": (AnyValue(double_value=0.1), 0.1),
    "infinite": (AnyValue(double_value=math.inf), math.inf),
    "bytes": (AnyValue(bytes_value=b"\xff\xfe\xfb"), base64.b64encode(b"\xff\xfe\xfb").decode()),
    "nothing": (AnyValue(), None),
    "list": (
        AnyValue(array_value=ArrayValue(values=[text("a"), AnyValue(int_value=1), AnyValue(array_value=ArrayValue())])),
        ["a", 1, []],
    ),
    "object": (
        AnyValue(
            kvlist_value=KeyValueList(
                values=[
                    KeyValue(key="a", value=AnyValue(array_value=ArrayValue(values=[AnyValue(bytes_value=b"x")]))),
                    KeyValue(key="b", value=AnyValue(kvlist_value=KeyValueList())),
                ]
            )
        ),
        {"a": ["eA=="], "b": {}},
    ),
    "long text": (text("x" * 5_000), "x" * 5_000),
}


def request(**changes: Any) -> ExportTraceServiceRequest:
    """A request of one span, with every field that is read and some that are not."""
    request = ExportTraceServiceRequest()
    exported = request.resource_spans.add(schema_url="https://opentelemetry.io/schemas/1.40.0")
    exported.resource.attributes.extend(
        [KeyValue(key="service.name", value=text("shop")), KeyValue(key="service.version", value=text("2.1"))]
    )
    scoped = exported.scope_spans.add()
    scoped.scope.name, scoped.scope.version = "opentelemetry.instrumentation.aiohttp", "1"
    scoped.spans.add(
        **{
            "trace_id": bytes.fromhex(TRACE),
            "span_id": bytes.fromhex(SPAN),
            "parent_span_id": bytes.fromhex(PARENT),
            "trace_state": "a=b",
            "name": "GET /hotels",
            "kind": ProtobufSpan.SPAN_KIND_CLIENT,
            "start_time_unix_nano": START,
            "end_time_unix_nano": END,
            "attributes": [KeyValue(key=key, value=value) for key, (value, _) in VALUES.items()],
            "events": [
                ProtobufSpan.Event(
                    name="first token",
                    time_unix_nano=START + 5,
                    attributes=[KeyValue(key="n", value=AnyValue(int_value=3))],
                ),
                ProtobufSpan.Event(),
            ],
            "links": [ProtobufSpan.Link(trace_id=bytes(16), span_id=bytes(8))],
            "status": Status(code=Status.STATUS_CODE_ERROR, message="no route"),
            "dropped_attributes_count": 2,
            "flags": 0x101,
            **changes,
        }
    )
    return request


def as_json(message: ExportTraceServiceRequest, *, names: bool = False) -> bytes:
    """OTLP/JSON: what protobuf calls JSON, with ids in hexadecimal and enumerations as numbers."""
    found = MessageToDict(message, use_integers_for_enums=not names)
    for exported in found["resourceSpans"]:
        for scoped in exported["scopeSpans"]:
            for span in scoped["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64decode(span[key]).hex().upper()
    return json.dumps(found).encode()


def encoded(message: ExportTraceServiceRequest, content_type: str) -> bytes:
    return as_json(message) if content_type == JSON else message.SerializeToString()


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_everything_that_a_span_says(content_type: str) -> None:
    assert decode(encoded(request(), content_type), content_type) == [
        Span(
            TRACE,
            SPAN,
            "GET /hotels",
            START,
            END,
            PARENT,
            {key: value for key, (_, value) in VALUES.items()},
            [SpanEvent("first token", START + 5, {"n": 3}), SpanEvent("", 0)],
            "no route",
            "opentelemetry.instrumentation.aiohttp",
            "shop",
            "2.1",
        )
    ]


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_what_is_not_said_is_empty(content_type: str) -> None:
    message = ExportTraceServiceRequest()
    message.resource_spans.add().scope_spans.add().spans.add(trace_id=bytes.fromhex(TRACE), span_id=bytes.fromhex(SPAN))
    assert decode(encoded(message, content_type), content_type) == [Span(TRACE, SPAN, "", 0, 0)]


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (Status(code=Status.STATUS_CODE_ERROR), ""),
        (Status(code=Status.STATUS_CODE_OK, message="fine"), None),
        (Status(), None),
    ],
)
def test_only_a_failed_span_has_an_error(content_type: str, status: Status, error: str | None) -> None:
    assert decode(encoded(request(status=status), content_type), content_type)[0].error == error


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_a_parent_of_zeros_is_none(content_type: str) -> None:
    assert decode(encoded(request(parent_span_id=bytes(8)), content_type), content_type)[0].parent_id is None


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_not_a_number_stays_one(content_type: str) -> None:
    message = request(attributes=[KeyValue(key="score", value=AnyValue(double_value=math.nan))])
    assert math.isnan(decode(encoded(message, content_type), content_type)[0].attributes["score"])


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_spans_of_many_resources_and_scopes_in_their_order(content_type: str) -> None:
    message = ExportTraceServiceRequest()
    for service in ("a", "b"):
        exported = message.resource_spans.add()
        exported.resource.attributes.append(KeyValue(key="service.name", value=text(service)))
        for scope in ("x", "y"):
            scoped = exported.scope_spans.add()
            scoped.scope.name = scope
            for number in range(2):
                scoped.spans.add(trace_id=bytes(15) + b"\1", span_id=bytes(7) + bytes([number + 1]), name=f"n{number}")
    found = decode(encoded(message, content_type), content_type)
    assert [f"{span.service}{span.scope}{span.name}" for span in found] == [
        "axn0", "axn1", "ayn0", "ayn1", "bxn0", "bxn1", "byn0", "byn1",
    ]  # fmt: skip


@pytest.mark.parametrize(("content_type", "body"), [(PROTOBUF, b""), (JSON, b"{}"), (JSON, b'{"resourceSpans": null}')])
def test_a_request_without_spans(content_type: str, body: bytes) -> None:
    assert decode(body, content_type) == []


def test_enumerations_by_name_and_unknown_fields_of_json() -> None:
    (found,) = decode(as_json(request(), names=True).replace(b'"name"', b'"later": {"a": [1]}, "name"'), JSON)
    assert (found.error, found.name) == ("no route", "GET /hotels")


def test_numbers_of_json_that_are_not_in_quotes() -> None:
    body = as_json(request()).replace(f'"{START}"'.encode(), str(START).encode())
    assert decode(body, JSON)[0].start_ns == START


def test_bytes_of_json_in_either_alphabet_of_base64() -> None:
    body = as_json(request()).replace(b"//77", b"__77")
    assert decode(body, JSON)[0].attributes["bytes"] == "//77"


def test_an_attribute_that_comes_twice_counts_once_and_repeated_ones_are_right() -> None:
    pairs = [KeyValue(key=key, value=text(value)) for key, value in (("a", "1"), ("b", "1"), ("a", "2"))]
    message = request(attributes=pairs)
    message.resource_spans[0].scope_spans[0].spans.add(
        trace_id=bytes.fromhex(TRACE), span_id=bytes.fromhex(PARENT), attributes=pairs[:2]
    )
    first, second = decode(message.SerializeToString(), PROTOBUF)
    assert (first.attributes, second.attributes) == ({"a": "2", "b": "1"}, {"a": "1", "b": "1"})


def test_more_distinct_attributes_than_are_remembered() -> None:
    pairs = [KeyValue(key=f"key-{number}", value=AnyValue(int_value=number)) for number in range(10_000)]
    (found,) = decode(request(attributes=pairs * 2).SerializeToString(), PROTOBUF)
    assert found.attributes == {f"key-{number}": number for number in range(10_000)}


WHOLE = request().SerializeToString()


def field(number: int, content: bytes) -> bytes:
    """A field of protobuf that holds bytes."""
    length, size = b"", len(content)
    while size >= 128:
        length, size = length + bytes([size % 128 + 128]), size // 128
    return bytes([number * 8 + 2]) + length + bytes([size]) + content


def deep(levels: int) -> bytes:
    """A request with a list in a list in a list, deeper than the standard's classes would write it."""
    value = AnyValue(int_value=1).SerializeToString()
    for _ in range(levels):
        value = field(5, field(1, value))
    span = ProtobufSpan(trace_id=bytes.fromhex(TRACE), span_id=bytes.fromhex(SPAN)).SerializeToString()
    return field(1, field(2, field(2, span + field(9, field(1, b"deep") + field(2, value)))))


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xff\xff\xff",
        b"not a request at all",
        b"{}",
        WHOLE[:-1],
        request(trace_id=b"short").SerializeToString(),
        request(trace_id=b"").SerializeToString(),
        request(span_id=bytes(16)).SerializeToString(),
        request(parent_span_id=bytes(7)).SerializeToString(),
        request(attributes=[KeyValue(key="key", value=text("value"))])
        .SerializeToString()
        .replace(b"value", b"\xff" * 5),
        request(name="xyz").SerializeToString().replace(b"xyz", b"\xff\xff\xff"),
        deep(200),
    ],
)
def test_bytes_that_are_no_request_in_protobuf(body: bytes) -> None:
    with pytest.raises(InputError, match="the spans cannot be read"):
        decode(body, PROTOBUF)


def span_with(**changes: Any) -> bytes:
    span = {"traceId": TRACE, "spanId": SPAN, **changes}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'"text"',
        WHOLE,
        b'{"resourceSpans": {}}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [1]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]}',
        span_with(traceId="xyz"),
        span_with(traceId=TRACE[:-1] + "x"),
        span_with(traceId=TRACE + "00"),
        span_with(spanId=" b7ad6b716920333"),
        span_with(parentSpanId="1"),
        span_with(startTimeUnixNano="soon"),
        span_with(startTimeUnixNano=-1),
        span_with(endTimeUnixNano=str(2**64)),
        span_with(attributes=[{"key": "a", "value": {"intValue": "1.5"}}]),
        span_with(attributes=[{"key": "a", "value": {"bytesValue": "?"}}]),
        span_with(attributes={"a": 1}),
        span_with(name="\ud800"),
        b'{"resourceSpans": ' + b"[" * 100_000,
        span_with(attributes=[{"key": "a", "value": "DEEP"}]).replace(
            b'"DEEP"', b'{"arrayValue": {"values": [' * 5_000 + b"{}" + b"]}}" * 5_000
        ),
    ],
)
def test_bytes_that_are_no_request_in_json(body: bytes) -> None:
    with pytest.raises(InputError, match="the spans cannot be read"):
        decode(body, JSON)


def test_the_valid_neighbours_of_what_is_refused() -> None:
    assert decode(deep(2), PROTOBUF)[0].attributes == {"deep": [[1]]}
    assert decode(span_with(startTimeUnixNano=None, endTimeUnixNano="7", attributes=None, status=None), JSON) == [
        Span(TRACE, SPAN, "", 0, 7)
    ]
