"""From known values to the calls of a Skill's tools, with arguments in the form that the tools take."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from liftbay_demo.domain import Malformed, ToolCall, Value, Values
from liftbay_demo.perception.cues import SELLABLE
from liftbay_demo.tools.catalogue import Tool

_MOST_CALLS = 12
_LONGEST_SPAN = 180
_NEEDED_BESIDE = {SELLABLE: ("country",)}  # what a Skill cannot do without, though its tools could
_SINGLE = {"days", "title", "categoryId", "price", "currency"}


class Calls(NamedTuple):
    """The calls of a Skill, or what keeps it from them."""

    calls: tuple[ToolCall, ...]
    missing: tuple[str, ...]
    malformed: tuple[Malformed, ...]


def calls_of(
    skill: str, names: Sequence[str], catalogue: Mapping[str, Tool], values: Values, malformed: Sequence[Malformed]
) -> Calls:
    """The calls for all that the values name; none as long as something is missing or not well-formed."""
    tools = [catalogue[name] for name in names if name in catalogue]
    taken = {name for tool in tools for name in tool.names}
    wrong = [one for one in malformed if one.parameter in taken] + _out_of_range(values, taken)
    needed = dict.fromkeys(
        [name for tool in tools for name in tool.required]
        + [name for name in _NEEDED_BESIDE.get(skill, ()) if name in taken]
    )
    spoilt = {one.parameter for one in wrong}
    missing = tuple(name for name in needed if name not in values and name not in spoilt)
    unusable = any(one.parameter not in values or one.parameter in ("days", "price") for one in wrong)
    calls = () if missing or unusable else tuple(itertools.islice(_each(tools, values), _MOST_CALLS))
    return Calls(calls, missing, tuple(wrong))


def _each(tools: Sequence[Tool], values: Values) -> list[ToolCall]:
    calls = []
    for tool in tools:
        named = [name for name in tool.names if name in values]
        choices = [values[name][:1] if name in _SINGLE else values[name] for name in named]
        for chosen in itertools.product(*choices):
            arguments = {name: _normalised(name, value) for name, value in zip(named, chosen, strict=True)}
            calls.append(ToolCall(tool.name, arguments))
    return calls


def _normalised(name: str, value: Value) -> Any:
    if name == "title" or not isinstance(value, str):
        return value
    value = unicodedata.normalize("NFKC", value).strip()
    return value.upper() if name in ("code", "country", "currency") else value


def _out_of_range(values: Values, taken: set[str]) -> list[Malformed]:
    found = []
    for days in values.get("days", ())[:1] if "days" in taken else ():
        if not isinstance(days, int) or not 1 <= days <= _LONGEST_SPAN:
            suggestion = _LONGEST_SPAN if isinstance(days, int) and days > _LONGEST_SPAN else None
            found.append(Malformed("days", f"{days}日", suggestion))
    for price in values.get("price", ())[:1] if "price" in taken else ():
        if not isinstance(price, int | float) or price <= 0:
            found.append(Malformed("price", str(price)))
    return found
