"""Reads values of attributes that instrumentations write in more than one form."""

from __future__ import annotations

import math
from typing import Any

import msgspec

_JSON_STARTS = ("{", "[", '"')


def from_json(value: Any) -> Any:
    """The value that a JSON text of an object, a list or a text stands for; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in _JSON_STARTS:
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return value
    return value


def an_object(value: Any) -> dict[str, Any] | None:
    """An object, or the JSON text of one; None for anything else."""
    decoded = from_json(value)
    return decoded if isinstance(decoded, dict) else None


def a_list(value: Any) -> list[Any] | None:
    """A list, or the JSON text of one; None for anything else."""
    decoded = from_json(value)
    return decoded if isinstance(decoded, list) else None


def a_text(value: Any) -> str | None:
    """A text that is not empty."""
    return value if isinstance(value, str) and value else None


def a_count(value: Any) -> int | None:
    """A whole number that is not negative; some instrumentations write it as a float, some as text."""
    number = a_number(value)
    return int(number) if number is not None and number >= 0 and number == int(number) else None


def a_number(value: Any) -> float | None:
    """A finite number, or the text of one."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None
