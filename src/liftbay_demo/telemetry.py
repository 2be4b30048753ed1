"""Sends the spans to where the environment says; without OTEL_EXPORTER_OTLP_ENDPOINT there are none."""

from __future__ import annotations

import os
from collections.abc import Callable

from opentelemetry import trace

from liftbay_demo.spans import AGENT

_SCHEDULE_MS = 100
_QUEUE = 65_536  # of 200 parallel sessions none is lost
_TIMEOUT_SECONDS = 2  # an exporter that gets no answer must not hold up the end
_FLUSH_MS = 1500

tracer = trace.get_tracer("liftbay_demo")


def switch_on(version: str) -> Callable[[], None]:
    """Export spans from now on; returns what sends the rest of them and ends it."""
    if not os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        return lambda: None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - 0.2 s
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    provider = TracerProvider(resource=Resource.create({"service.name": AGENT, "service.version": version}))
    processor = BatchSpanProcessor(
        OTLPSpanExporter(timeout=_TIMEOUT_SECONDS), max_queue_size=_QUEUE, schedule_delay_millis=_SCHEDULE_MS
    )
    provider.add_span_processor(processor)
    trace.set_tracer_provider(provider)

    def switch_off() -> None:
        provider.force_flush(_FLUSH_MS)
        provider.shutdown()

    return switch_off
