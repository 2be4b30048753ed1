"""One EvalTrace from two that tell of the same turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from liftbay.domain.trace import EvalTrace, ToolCallRecord

_CALLS = "tool_calls"


def merged(first: EvalTrace | None, second: EvalTrace | None) -> EvalTrace | None:
    """What `first` says, and where it is silent what `second` says, field by field.

    Calls of tools are set side by side: a call that only `second` knows is added, since something saw it happen.
    """
    if first is None or second is None:
        return second if first is None else first
    calls = with_calls(first.tool_calls, second.tool_calls)
    return msgspec.structs.replace(_filled(first, second), tool_calls=calls)


def with_calls(
    calls: Sequence[ToolCallRecord] | None, seen: Sequence[ToolCallRecord] | None
) -> list[ToolCallRecord] | None:
    """`calls`, each completed by its counterpart in `seen`, and what of `seen` has none among them."""
    if calls is None or seen is None:
        left = seen if calls is None else calls
        return None if left is None else list(left)
    left = list(seen)
    pairs = [(call, _taken(left, call, _same)) for call in calls]
    # What is left pairs by name: a framework may have filled in arguments that the model did not give.
    pairs = [(call, one or _taken(left, call, _same_tool)) for call, one in pairs]
    return [call if one is None else _completed(call, one) for call, one in pairs] + left


def _taken(
    calls: list[ToolCallRecord], call: ToolCallRecord, same: Callable[[ToolCallRecord, ToolCallRecord], bool]
) -> ToolCallRecord | None:
    """The first that is the same, taken out of the list."""
    found = next((one for one in calls if same(call, one)), None)
    if found is not None:
        calls.remove(found)
    return found


def _completed(call: ToolCallRecord, seen: ToolCallRecord) -> ToolCallRecord:
    call = _filled(call, seen)
    if seen.mocked or seen.unmocked:
        return msgspec.structs.replace(call, mocked=seen.mocked, unmocked=seen.unmocked)
    return call


def _same_tool(call: ToolCallRecord, other: ToolCallRecord) -> bool:
    return call.name == other.name


def _same(call: ToolCallRecord, other: ToolCallRecord) -> bool:
    return _same_tool(call, other) and (
        call.arguments is None or other.arguments is None or call.arguments == other.arguments
    )


Part = TypeVar("Part", bound=msgspec.Struct)


def _filled(first: Part, second: Part) -> Part:
    """`first` with its None fields taken from `second`; parts are filled field by field."""
    changes = {}
    for name in first.__struct_fields__:
        mine, other = getattr(first, name), getattr(second, name)
        if mine is None and other is not None:
            changes[name] = other
        elif name != _CALLS and isinstance(mine, msgspec.Struct) and other is not None:
            changes[name] = _filled(mine, other)
    return msgspec.structs.replace(first, **changes) if changes else first
