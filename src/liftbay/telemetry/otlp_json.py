"""OTLP/JSON: ids in hexadecimal, 64-bit numbers as text, enumerations as numbers or names."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from liftbay.domain.spans import Span, SpanEvent

_Time = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_ERROR = (2, "2", "STATUS_CODE_ERROR")


class _Message(msgspec.Struct, rename="camel", gc=False):
    """A message; a field that is null is one that is not there."""


class _Array(_Message):
    values: list[_AnyValue] | None = None


class _KeyValues(_Message):
    values: list[_KeyValue] | None = None


class _AnyValue(_Message):
    string_value: str | None = None
    bool_value: bool | None = None
    int_value: _Int64 | None = None
    double_value: float | None = None
    array_value: _Array | None = None
    kvlist_value: _KeyValues | None = None
    bytes_value: str | None = None

    def plain(self) -> Any:
        """The value as Python has it, bytes as base64."""
        if self.string_value is not None:
            return self.string_value
        for simple in (self.int_value, self.bool_value, self.double_value):
            if simple is not None:
                return simple
        if self.array_value is not None:
            return [value.plain() for value in self.array_value.values or ()]
        if self.kvlist_value is not None:
            return _plain(self.kvlist_value.values)
        return None if self.bytes_value is None else _base64(self.bytes_value)


class _KeyValue(_Message):
    key: str = ""
    value: _AnyValue | None = None


class _Attributed(_Message):
    attributes: list[_KeyValue] | None = None


class _Event(_Attributed):
    name: str | None = None
    time_unix_nano: _Time | None = None


class _Status(_Message):
    message: str | None = None
    code: int | str | None = None


class _Span(_Attributed, kw_only=True):
    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    name: str | None = None
    start_time_unix_nano: _Time | None = None
    end_time_unix_nano: _Time | None = None
    events: list[_Event] | None = None
    status: _Status | None = None


class _Scope(_Message):
    name: str | None = None


class _ScopeSpans(_Message):
    scope: _Scope | None = None
    spans: list[msgspec.Raw] | None = None  # read one at a time: a big request must not hold up the event loop


class _ResourceSpans(_Message):
    resource: _Attributed | None = None
    scope_spans: list[_ScopeSpans] | None = None


class _Request(_Message):
    resource_spans: list[_ResourceSpans] | None = None


# Not strict: 64-bit numbers are text, "NaN" is a number.
_requests = msgspec.json.Decoder(_Request, strict=False)
_spans = msgspec.json.Decoder(_Span, strict=False)


def spans_of(body: bytes) -> Iterator[Span]:
    """The spans of a request. Raises `ValueError` where it is none, or `RecursionError`."""
    for resource_spans in _requests.decode(body).resource_spans or ():
        resource = _plain(resource_spans.resource.attributes) if resource_spans.resource else {}
        service, version = str(resource.get("service.name", "")), str(resource.get("service.version", ""))
        for scope_spans in resource_spans.scope_spans or ():
            scope = (scope_spans.scope.name if scope_spans.scope else None) or ""
            for raw in scope_spans.spans or ():
                span = _spans.decode(raw)
                failed = span.status is not None and span.status.code in _ERROR
                yield Span(
                    _id(span.trace_id, 32),
                    _id(span.span_id, 16),
                    span.name or "",
                    span.start_time_unix_nano or 0,
                    span.end_time_unix_nano or 0,
                    _parent(span.parent_span_id),
                    _plain(span.attributes),
                    [SpanEvent(one.name or "", one.time_unix_nano or 0, _plain(one.attributes)) for one in span.events]
                    if span.events
                    else [],
                    ((span.status and span.status.message) or "") if failed else None,
                    scope,
                    service,
                    version,
                )


def _plain(attributes: list[_KeyValue] | None) -> dict[str, Any]:
    if not attributes:
        return {}
    return {pair.key: None if pair.value is None else pair.value.plain() for pair in attributes}


def _id(text: str, digits: int) -> str:
    if len(text) != digits:
        raise ValueError(f"an id has {len(text)} digits, not {digits}")
    return bytes.fromhex(text).hex()


def _parent(text: str | None) -> str | None:
    if not text:
        return None
    parent = _id(text, 16)
    return None if parent == "0" * 16 else parent


def _base64(text: str) -> str:
    """In the usual alphabet with padding, whichever form was sent."""
    usual = text.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64encode(base64.b64decode(usual + "=" * (-len(usual) % 4), validate=True)).decode()
