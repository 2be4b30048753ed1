"""Spans that code in this process makes with OpenTelemetry, without a detour over the network."""

from __future__ import annotations

import base64
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from liftbay.domain.spans import Span, SpanEvent
from liftbay.errors import InputError, MissingExtra
from liftbay.telemetry.collector import SpanCollector

try:
    from opentelemetry import context, trace
    from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
except ImportError:
    raise MissingExtra(extra="otel") from None

_INT64 = range(-(2**63), 2**63)


def attach(collector: SpanCollector, provider: TracerProvider | None = None) -> Callable[[], None]:
    """Hand finished spans of this process to the collector; returns what ends that.

    Listens to `provider`, or to the global one; where there is none yet, it is set. Raises `InputError` where the
    global one cannot be listened to.
    """
    listener = _listener(provider if provider is not None else _global_provider())
    listener.collectors += (collector,)
    collector.listen_inside(_inside)

    def detach() -> None:
        listener.collectors = tuple(one for one in listener.collectors if one is not collector)
        collector.listen_inside(None)

    return detach


def _global_provider() -> Any:
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):  # nobody has set one
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    if not hasattr(provider, "add_span_processor"):
        raise InputError(
            "spans of this process cannot be listened to: its tracer provider is {kind}",
            remedy="set a TracerProvider of opentelemetry.sdk, or none",
            kind=type(provider).__qualname__,
        )
    return provider


class _Listener(SpanProcessor):
    """Stays with its provider, which has no way to take it off."""

    def __init__(self) -> None:
        self.collectors: tuple[SpanCollector, ...] = ()

    def on_start(self, span: Any, parent_context: context.Context | None = None) -> None:
        for collector in self.collectors:
            collector.opened(f"{span.context.trace_id:032x}")

    def on_end(self, span: ReadableSpan) -> None:
        if self.collectors:
            converted = span_of(span)
            for collector in self.collectors:
                collector.closed(converted)


_listeners: weakref.WeakKeyDictionary[Any, _Listener] = weakref.WeakKeyDictionary()


def _listener(provider: Any) -> _Listener:
    listener = _listeners.get(provider)
    if listener is None:
        listener = _listeners[provider] = _Listener()
        provider.add_span_processor(listener)
    return listener


@contextmanager
def _inside(traceparent: str) -> Iterator[None]:
    """Spans that begin in this context, and in copies of it, are children of the turn."""
    _, trace_id, span_id, flags = traceparent.split("-")
    parent = trace.SpanContext(
        int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=trace.TraceFlags(int(flags, 16))
    )
    token = context.attach(trace.set_span_in_context(trace.NonRecordingSpan(parent)))
    try:
        yield
    finally:
        context.detach(token)


def span_of(span: ReadableSpan) -> Span:
    """A finished span as it would come out of OTLP."""
    own, resource, scope = span.get_span_context(), span.resource.attributes, span.instrumentation_scope
    assert own is not None  # every span that was started has one
    failed = span.status.status_code is trace.StatusCode.ERROR
    return Span(
        f"{own.trace_id:032x}",
        f"{own.span_id:016x}",
        span.name,
        span.start_time or 0,
        span.end_time or 0,
        f"{span.parent.span_id:016x}" if span.parent is not None else None,
        _attributes(span.attributes),
        [SpanEvent(event.name, event.timestamp, _attributes(event.attributes)) for event in span.events],
        (span.status.description or "") if failed else None,
        scope.name if scope is not None else "",
        str(resource.get("service.name", "")),
        str(resource.get("service.version", "")),
    )


def _attributes(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    found = {}
    for key, value in (attributes or {}).items():
        try:
            found[key] = _plain(value)
        except OverflowError:  # OTLP has no place for it either
            continue
    return found


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # of an enumeration the text itself
    if isinstance(value, int):
        if value not in _INT64:
            raise OverflowError
        return int(value)
    return _plain_bytes_or_many(value)


def _plain_bytes_or_many(value: Any) -> Any:
    match value:
        case bytes():
            return base64.b64encode(value).decode()
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
        case Sequence():
            return [_plain(item) for item in value]
    return str(value)
