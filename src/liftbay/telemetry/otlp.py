"""Spans out of the body of an OTLP/HTTP request, in either of its encodings."""

from __future__ import annotations

from collections.abc import Iterator

from liftbay.domain.spans import Span
from liftbay.errors import InputError
from liftbay.telemetry import otlp_json

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
CONTENT_TYPES = (PROTOBUF, JSON)


def decode(body: bytes, content_type: str) -> list[Span]:
    """The spans of an `ExportTraceServiceRequest`; `content_type` is one of `CONTENT_TYPES`.

    Raises `InputError` where the bytes are no such request, and `MissingExtra` without the packages for protobuf.
    """
    return list(spans_of(body, content_type))


def spans_of(body: bytes, content_type: str) -> Iterator[Span]:
    """As `decode`, one span at a time: whoever must not be held up can stop between two."""
    try:
        if content_type == JSON:
            yield from otlp_json.spans_of(body)
        else:
            from liftbay.telemetry import otlp_protobuf  # noqa: PLC0415 - needs an extra, takes its time to load

            yield from otlp_protobuf.spans_of(body)
    except (ValueError, RecursionError) as error:
        raise InputError("the spans cannot be read: {why}", why=error) from None
