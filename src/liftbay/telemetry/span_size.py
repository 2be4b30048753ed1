"""How much memory a span takes, about, and spans whose texts are cut to what is kept of them."""

from __future__ import annotations

from typing import Any

import msgspec

from liftbay.domain.spans import Span, SpanEvent

MOST_TEXT = 8_192  # characters kept of one text
_SPAN = 600  # bytes, without its attributes
_EVENT = 200
_ENTRY = 100  # of a list or an object, and a number
_CHARACTER = 2
_MANY = frozenset((list, dict))


def size_of(span: Span) -> int:
    """Bytes, about: it must cost next to nothing."""
    size = _SPAN + _size_of_entries(span.attributes)
    for event in span.events:
        size += _EVENT + _size_of_entries(event.attributes)
    return size


def may_have_long_text(size: int) -> bool:
    """Whether a span of this size may have a text of more than `MOST_TEXT`."""
    return size > _CHARACTER * MOST_TEXT


def _size_of_entries(entries: dict[str, Any]) -> int:
    size = _ENTRY * len(entries)
    characters = 0
    for value in entries.values():
        if type(value) is str:
            characters += len(value)
        elif type(value) in _MANY:
            size += _size_of_value(value)
    return size + _CHARACTER * characters


def _size_of_value(value: Any) -> int:
    match value:
        case str():
            return _CHARACTER * len(value)
        case list():
            return _ENTRY * len(value) + sum(map(_size_of_value, value))
        case dict():
            return _ENTRY * len(value) + sum(_size_of_value(key) + _size_of_value(item) for key, item in value.items())
    return 0


def shortened(span: Span) -> Span:
    """The span with every text of its attributes, and of its events', cut to `MOST_TEXT`."""
    return msgspec.structs.replace(
        span,
        attributes=_cut(span.attributes),
        events=[SpanEvent(event.name, event.at_ns, _cut(event.attributes)) for event in span.events],
    )


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MOST_TEXT]
    if isinstance(value, list):
        return [_cut(item) for item in value]
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    return value
