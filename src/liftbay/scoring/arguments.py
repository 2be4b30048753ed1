"""Do two tool calls match, and if not, how do their arguments differ?

Exact matching is that of JMultiWOZ-TC: two values are the same when their JSON texts with sorted keys (at every
depth) are the same text. So `1`, `1.0`, `"1"` and `true` are four different values, and the order inside an array
counts. Lenient matching only ever stands beside it.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from liftbay.domain.toolcall import ToolCall


def canonical_text(value: Any) -> str:
    """The JSON text of `value` with the keys sorted at every depth."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def same_value(one: Any, other: Any) -> bool:
    """Whether `canonical_text` of both is the same text, found without writing the texts."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        if one != other:  # then no type can make them the same
            return False
        return all(type(value) is str or same_value(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, float):
        return bool(one == other) and math.copysign(1, one) == math.copysign(1, other)
    return bool(one == other)


def same_calls(one: Sequence[ToolCall], other: Sequence[ToolCall]) -> bool:
    """Whether both hold the same set of calls: order and repetition do not count."""
    if len(one) == 1 and len(other) == 1:
        return one[0].name == other[0].name and same_value(one[0].arguments, other[0].arguments)
    if not one or not other:
        return not one and not other
    return _texts(one) == _texts(other)


def _texts(calls: Sequence[ToolCall]) -> set[tuple[str, str]]:
    return {(call.name, canonical_text(call.arguments)) for call in calls}


def lenient_value(value: Any) -> Any:
    """`value` with every string in Unicode form NFKC and every integer as its decimal text, at every depth."""
    if isinstance(value, str):
        return unicodedata.normalize("NFKC", value)
    if isinstance(value, dict):
        return {key: lenient_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [lenient_value(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


def leniently_same_calls(one: Sequence[ToolCall], other: Sequence[ToolCall]) -> bool:
    """`same_calls` after `lenient_value`: the Unicode form and integer or string do not count."""
    return same_calls([_lenient(call) for call in one], [_lenient(call) for call in other])


def _lenient(call: ToolCall) -> ToolCall:
    return ToolCall(call.name, lenient_value(call.arguments))


class ArgumentFault(StrEnum):
    """How an argument differs from the expected one; the first that applies, in this order."""

    MISSING = "missing"
    SUPERFLUOUS = "superfluous"
    WRONG_TYPE = "wrong_type"  # the same text or number in another JSON type: 1 for "1", 1.0 for 1
    UNICODE_FORM = "unicode_form"  # equal after NFKC: Ａ for A, ｶ for カ
    KANA_OR_WIDTH = "kana_or_width"  # equal once kana, dashes, tildes, spaces and case are folded too
    WRONG_VALUE = "wrong_value"


_ABSENT = object()


def argument_faults(expected: dict[str, Any], actual: dict[str, Any]) -> dict[str, ArgumentFault]:
    """The arguments of one call that differ from the expected ones, by name."""
    faults = {}
    for name in expected | actual:
        fault = _fault(expected.get(name, _ABSENT), actual.get(name, _ABSENT))
        if fault is not None:
            faults[name] = fault
    return faults


def _fault(expected: Any, actual: Any) -> ArgumentFault | None:
    if actual is _ABSENT:
        return ArgumentFault.MISSING
    if expected is _ABSENT:
        return ArgumentFault.SUPERFLUOUS
    if same_value(expected, actual):
        return None
    for fault, alike in _ALIKE:
        if alike(expected, actual):
            return fault
    return ArgumentFault.WRONG_VALUE


def _same_but_for_type(expected: Any, actual: Any) -> bool:
    if type(expected) is type(actual):  # then only something inside can be of another type
        return same_value(_integers_as_text(expected), _integers_as_text(actual))
    if isinstance(expected, dict | list) or isinstance(actual, dict | list):
        return False
    return bool(expected == actual) or _scalar_text(expected) == _scalar_text(actual)  # 1 and 1.0, 1 and true


def _scalar_text(value: Any) -> str:
    text = value if isinstance(value, str) else canonical_text(value)
    return unicodedata.normalize("NFKC", text).casefold().strip()


def _integers_as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _integers_as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_integers_as_text(item) for item in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


# The dashes and tildes that Japanese text mixes up, partly because CP932 maps them to other code points than
# Unicode's own tables: each group is folded to one character.
_DASHES = re.compile("[-‐‑‒–—―−─━ー]+")
_TILDES = re.compile("[~〜∼˜]+")  # the full-width tilde is ~ after NFKC
_SPACES = re.compile(r"\s+")
_KATAKANA_TO_HIRAGANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}


def _folded(value: Any) -> Any:
    value = lenient_value(value)
    if isinstance(value, str):
        text = value.translate(_KATAKANA_TO_HIRAGANA).casefold()
        return _SPACES.sub("", _TILDES.sub("~", _DASHES.sub("-", text)))
    if isinstance(value, dict):
        return {key: _folded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_folded(item) for item in value]
    return value


_ALIKE = (
    (ArgumentFault.WRONG_TYPE, _same_but_for_type),
    (ArgumentFault.UNICODE_FORM, lambda one, other: same_value(lenient_value(one), lenient_value(other))),
    (ArgumentFault.KANA_OR_WIDTH, lambda one, other: same_value(_folded(one), _folded(other))),
)
