"""OTLP in protobuf.

What costs is the way from Python into each attribute. Most attributes come again and again with the same bytes, and
a field that holds a message may be read as the message's bytes. So a request is read with descriptors in which
attributes are bytes, and what these say is remembered.

Measured on spans of 8 attributes, of which one is new in each: 3.9 µs a span, against 8.2 by plain attribute access,
38 by `MessageToDict` and 106 by way of JSON.
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Iterable, Iterator
from typing import Any

from liftbay.domain.spans import Span, SpanEvent
from liftbay.errors import MissingExtra

try:
    from google.protobuf import (  # type: ignore[import-untyped]  # comes without types
        descriptor_pb2,
        descriptor_pool,
        message_factory,
    )
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
    from opentelemetry.proto.common.v1 import common_pb2
    from opentelemetry.proto.resource.v1 import resource_pb2
    from opentelemetry.proto.trace.v1 import trace_pb2
except ImportError:
    raise MissingExtra(extra="otel") from None

_REQUEST = trace_service_pb2.ExportTraceServiceRequest.DESCRIPTOR.full_name
_FILES = (common_pb2, resource_pb2, trace_pb2, trace_service_pb2)  # each after those that it imports
_ERROR = trace_pb2.Status.STATUS_CODE_ERROR
_NO_SPAN = bytes(8)
_LENGTHS_OF_PARENT = (0, 8)
_MOST_REMEMBERED = 4_096  # attributes
_MOST_BYTES = 200  # of one that is remembered; longer ones, such as prompts, do not come again
_PLAIN_TYPES = frozenset((str, int, float, bool))


def spans_of(body: bytes) -> Iterator[Span]:
    """The spans of a request. Raises `ValueError` where it is none."""
    look = _pairs.__getitem__
    try:
        for resource_spans in _request_type().FromString(body).resource_spans:
            resource = dict(map(look, resource_spans.resource.attributes))
            service, version = str(resource.get("service.name", "")), str(resource.get("service.version", ""))
            for scope_spans in resource_spans.scope_spans:
                scope = scope_spans.scope.name
                for span in scope_spans.spans:
                    trace_id, span_id, parent_id, events = span.trace_id, span.span_id, span.parent_span_id, span.events
                    if len(trace_id) != 16 or len(span_id) != 8 or len(parent_id) not in _LENGTHS_OF_PARENT:
                        raise ValueError("an id is of the wrong length")
                    failed = span.HasField("status") and span.status.code == _ERROR
                    yield Span(
                        trace_id.hex(),
                        span_id.hex(),
                        span.name,
                        span.start_time_unix_nano,
                        span.end_time_unix_nano,
                        parent_id.hex() if parent_id and parent_id != _NO_SPAN else None,
                        dict(map(look, span.attributes)),
                        [SpanEvent(one.name, one.time_unix_nano, dict(map(look, one.attributes))) for one in events]
                        if events
                        else [],
                        span.status.message if failed else None,
                        scope,
                        service,
                        version,
                    )
    except DecodeError as error:
        raise ValueError(str(error)) from None


class _Pairs(dict[bytes, tuple[str, Any]]):
    """Attributes by their bytes."""

    def __missing__(self, raw: bytes) -> tuple[str, Any]:
        attribute = common_pb2.KeyValue.FromString(raw)
        value = attribute.value
        pair = attribute.key, value.string_value or _plain(value)
        if len(raw) <= _MOST_BYTES and type(pair[1]) in _PLAIN_TYPES:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[raw] = pair
        return pair


_pairs = _Pairs()


def _plain(value: common_pb2.AnyValue) -> Any:
    """The value as Python has it, bytes as base64."""
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    found = getattr(value, kind)
    match kind:
        case "array_value":
            return [_plain(item) for item in found.values]
        case "kvlist_value":
            return {item.key: _plain(item.value) for item in found.values}
        case "bytes_value":
            return base64.b64encode(found).decode()
    return found


@functools.cache
def _request_type() -> Any:
    """The class of the request as the standard has it, but for attributes: those are bytes."""
    pool = descriptor_pool.DescriptorPool()
    for file in _FILES:
        described = descriptor_pb2.FileDescriptorProto()
        file.DESCRIPTOR.CopyToProto(described)
        _leave_attributes(described.message_type)
        pool.AddSerializedFile(described.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(_REQUEST))


def _leave_attributes(messages: Iterable[descriptor_pb2.DescriptorProto]) -> None:
    for message in messages:
        _leave_attributes(message.nested_type)
        for field in message.field:
            if field.name == "attributes":
                field.type = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
                field.ClearField("type_name")
