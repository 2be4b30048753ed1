"""When the first token of a model's answer came: one meaning, many spellings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liftbay.domain.spans import Span
from liftbay.telemetry.attribute_values import a_number

# Attributes with one unit, and how many milliseconds it has.
_ATTRIBUTES = (
    ("gen_ai.response.time_to_first_chunk", 1000.0),
    ("gen_ai.client.operation.time_to_first_chunk", 1000.0),
    ("gen_ai.server.time_to_first_token", 1000.0),
    ("ai.response.msToFirstChunk", 1.0),
)
# Written in seconds, microseconds and nanoseconds by different instrumentations.
_UNCLEAR = "gen_ai.response.time_to_first_token"
_UNITS = (1000.0, 1.0, 0.001, 0.000001)
_EVENTS = frozenset({"First Token Stream Event", "llm.content.completion.chunk"})


def first_token_ms(span: Span) -> float | None:
    """Milliseconds from the span's start to the first token; None where the span does not say."""
    attributes = span.attributes
    for name, unit in _ATTRIBUTES:
        if name in attributes and (value := _time(attributes[name])) is not None:
            return value * unit
    if _UNCLEAR in attributes:
        return _by_duration(span, attributes)
    moments = [event.at_ns for event in span.events if event.name in _EVENTS] if span.events else None
    return max(0.0, (min(moments) - span.start_ns) / 1e6) if moments else None


def _by_duration(span: Span, attributes: Mapping[str, Any]) -> float | None:
    """The value in the largest unit in which the first token comes before the span's end."""
    value = _time(attributes[_UNCLEAR])
    if value is None:
        return None
    duration = (span.end_ns - span.start_ns) / 1e6
    return next((value * unit for unit in _UNITS if value * unit <= duration), None)


def _time(value: Any) -> float | None:
    number = a_number(value)
    return number if number is not None and number >= 0 else None
