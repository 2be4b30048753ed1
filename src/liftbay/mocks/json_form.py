"""Any value in the form in which the trace keeps it: as JSON."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from liftbay.domain.trace import ToolCallRecord

_SHOWN = 300  # characters of a value that JSON has no form for


def as_kept(call: ToolCallRecord) -> ToolCallRecord:
    """A copy of the call that the store can keep and that nobody else holds."""
    changes = {name: json_form(getattr(call, name)) for name in ("name", "arguments", "result", "error")}
    return msgspec.structs.replace(call, **changes)


def json_form(value: Any) -> Any:
    """A copy of `value` with everything that JSON has no form for shown as Python would show it."""
    try:
        return _copy(value)
    except RecursionError:  # it holds itself, or is deeper than JSON is read
        return _shown(value)


def _copy(value: Any) -> Any:
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {_copy(key): _copy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(item) for item in value]
    plain = _plain(value)
    return plain if _is_json(plain) else _shown(value)


def _plain(value: Any) -> Any:
    """What a member of an enumeration, or of another kind of text or number, stands for."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    return float(value) if isinstance(value, float) else value


def _is_json(value: Any) -> bool:
    """Whether the value is one of JSON's own that can be written."""
    if type(value) is str:
        return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)
    if type(value) is int:
        return -(2**63) <= value < 2**64
    return value is None or type(value) is bool or (type(value) is float and math.isfinite(value))


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # it may be anything, and broken
        text = f"<{type(value).__name__}>"
    return text.encode("utf-8", "backslashreplace").decode()[:_SHOWN]
