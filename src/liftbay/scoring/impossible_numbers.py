"""Numbers in a trace that nothing can have measured."""

from __future__ import annotations

from typing import Any

import msgspec

from liftbay.domain.trace import EvalTrace

_MOST = 2**53  # beyond it JSON's numbers are not exact
_NUMBERS = frozenset(
    ("latencyMs", "rounds", "count", "calls", "inputTokens", "outputTokens", "timeToFirstTokenMs", "hotUpdateLatencyMs")
)
_OWN = frozenset(("arguments", "result", "chunks"))  # what the agent handles: any number may stand there


def impossible_number(trace: EvalTrace | None) -> str | None:
    """The place of a count, a time or a number of tokens that is negative or too large, or None."""
    return None if trace is None else _inside(msgspec.to_builtins(trace, enc_hook=repr), "")


def _inside(value: Any, place: str) -> str | None:
    match value:
        case list():
            items = [(f"{place}[{number}]", "", item) for number, item in enumerate(value)]
        case dict():
            items = [(f"{place}.{key}".removeprefix("."), key, item) for key, item in value.items() if key not in _OWN]
        case _:
            return None
    for here, key, item in items:
        if key in _NUMBERS and isinstance(item, int | float) and not 0 <= item <= _MOST:
            return here
        if found := _inside(item, here):
            return found
    return None
