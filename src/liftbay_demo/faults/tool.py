"""Faults of the tool module: arguments are mapped wrongly, calls fail, what should be loaded is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from liftbay_demo.domain import KNOWLEDGE_QA, Kind, Outcome, Perceived, Plan, Request, Step, ToolCall
from liftbay_demo.faults.planning import Replanned, each_step
from liftbay_demo.perception.places_and_money import SALES_COUNTRIES

_OF_SERVER = {
    "query_product": "product",
    "query_stock": "product",
    "query_tags": "product",
    "query_change_log": "product",
    "query_trace": "operations",
    "lookup_error_code": "operations",
    "check_listing": "operations",
}


def wrong_parameter(arguments: dict[str, Any]) -> dict[str, Any]:
    """The first argument has another value, of the right form."""
    if not arguments:
        return arguments
    name = next(iter(arguments))
    return {**arguments, name: _other(name, arguments[name])}


def missing_parameter(arguments: dict[str, Any]) -> dict[str, Any]:
    """The last argument is left out."""
    return dict(list(arguments.items())[:-1])


def swapped_parameter(arguments: dict[str, Any]) -> dict[str, Any]:
    """The first two arguments have each other's values."""
    if len(arguments) < 2:
        return arguments
    first, second, *_ = arguments
    return {**arguments, first: arguments[second], second: arguments[first]}


def _other(name: str, value: Any) -> Any:
    if name == "country":
        others = list(SALES_COUNTRIES)
        return others[(others.index(value) + 1) % len(others)] if value in others else others[0]
    if isinstance(value, int | float):
        return value * 2
    text = str(value)
    last = text[-1:]
    if last.isdigit():
        return f"{text[:-1]}{(int(last) + 1) % 10}"
    if last in "abcdef":
        return f"{text[:-1]}{'bcdefa'['abcdef'.index(last)]}"
    return f"新{text}"


def _mapping(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Replanned:
    def changed(step: Step) -> Step:
        calls = tuple(ToolCall(call.name, change(call.arguments)) for call in step.calls)
        return msgspec.structs.replace(step, calls=calls)

    return lambda plan: each_step(plan, changed)


def down(seed: int) -> str:
    """The MCP server that is down: an odd seed takes the one of products, an even one that of operations."""
    return "product" if seed % 2 else "operations"


def refusal(kind: str, seed: int, call: ToolCall) -> str | None:
    """The error that a call comes to, or None where the fault does not touch it."""
    if kind == "tool_error":
        return "500 internal error"
    server = down(seed)
    if kind == "mcp_down" and _OF_SERVER.get(call.name) == server:
        return f"the MCP server {server} is not available: not started"
    return None


def not_loaded(seed: int, names: list[str]) -> set[str]:
    """The Skills that are not loaded: every second one."""
    return set(sorted(names)[seed % 2 :: 2])


def without_skills(perceived: Perceived, gone: set[str]) -> Perceived:
    """The message as it is understood without these Skills: what they would take falls back."""
    requests = tuple(
        Request(one.text, Kind.KNOWLEDGE, KNOWLEDGE_QA, None, None, one.mentions, one.follows)
        if one.skill in gone
        else one
        for one in perceived.requests
    )
    return msgspec.structs.replace(perceived, requests=requests)


def empty_result(outcome: Outcome) -> Outcome:
    """The call succeeds, and its data is empty."""
    if outcome.error is not None or not isinstance(outcome.result, dict) or "data" not in outcome.result:
        return outcome
    return msgspec.structs.replace(outcome, result={**outcome.result, "data": {}})


OUTCOMES: dict[str, Callable[[Outcome], Outcome]] = {"empty_result": empty_result}
MAPPING: dict[str, Callable[[Plan], Plan]] = {
    "wrong_parameter": _mapping(wrong_parameter),
    "missing_parameter": _mapping(missing_parameter),
    "swapped_parameter": _mapping(swapped_parameter),
}
