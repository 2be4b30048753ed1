"""A span of OpenTelemetry, in the form that every dialect reads and the store keeps. Times in nanoseconds, Unix."""

from __future__ import annotations

from typing import Any

import msgspec


# Spans come by the ten thousand and are in no cycle: the garbage collector need not look at them.
class SpanEvent(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", gc=False):
    """Something that happened at one moment of a span."""

    name: str
    at_ns: int
    attributes: dict[str, Any] = {}


class Span(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", gc=False):
    """One finished piece of work; ids in lower-case hexadecimal, 32 and 16 digits."""

    trace_id: str
    span_id: str
    name: str
    start_ns: int
    end_ns: int
    parent_id: str | None = None
    attributes: dict[str, Any] = {}  # values: text, number, truth value, bytes as base64, lists and objects of these
    events: list[SpanEvent] = []
    error: str | None = None  # the status message of a failed span, "" where it has none; None: not failed
    scope: str = ""  # the instrumentation that made it
    service: str = ""  # `service.name` of the resource
    service_version: str = ""


class SpanCounts(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What became of the spans that were received in a run."""

    received: int = 0
    used: int = 0
    late: int = 0  # of a trial that had been decided
    foreign: int = 0  # of no trial of this run
    repeated: int = 0
    dropped: int = 0  # beyond what is kept of one trial, or of spans whose trial is not known yet
