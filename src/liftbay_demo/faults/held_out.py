"""Five more kinds of fault. Whoever works on an evaluator leaves them alone until its rules are fixed."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from liftbay_demo import spans
from liftbay_demo.domain import Chunk, Dialogue, Outcome, Perceived, Plan, Step, ToolCall
from liftbay_demo.faults.generation import Reworded
from liftbay_demo.faults.kinds import Kind
from liftbay_demo.faults.memory import Retrieve, irrelevant_retrieval
from liftbay_demo.faults.planning import Replanned, each_step

Perceive = Callable[[str, Dialogue], Awaitable[Perceived]]

HELD_OUT = (
    Kind("half_heard", spans.PERCEPTION, ("intent_accuracy", "intent_recall")),
    Kind("neighbouring_tool", spans.PLANNING, ("tool_call_accuracy",)),
    Kind("mixed_passages", spans.MEMORY, ("retrieval_precision", "retrieval_recall")),
    Kind("result_of_another", spans.TOOL, ("task_completion_rate",)),
    Kind("figures_dropped", spans.GENERATION, ("task_completion_rate",)),
)
_NEIGHBOURS = {
    "query_product": "query_stock",
    "query_stock": "query_product",
    "query_tags": "query_change_log",
    "query_change_log": "query_tags",
}
_IDENTIFIER = re.compile(r"\d{8,}|[0-9a-f]{30}|[FSW]_[A-Z_]+_\d{3}")


async def half_heard(message: str, dialogue: Dialogue, perceive: Perceive) -> Perceived:
    """What is wanted is read from the first half of the message; what it names is found in the whole of it."""
    whole = await perceive(message, dialogue)
    half = await perceive(message[: (len(message) + 1) // 2], dialogue)
    last = len(whole.requests) - 1
    requests = tuple(
        msgspec.structs.replace(request, mentions=whole.requests[min(at, last)].mentions)
        for at, request in enumerate(half.requests)
    )
    return msgspec.structs.replace(whole, requests=requests)


def neighbouring_tool(plan: Plan) -> Plan:
    """In the place of the tool that is needed stands another that takes a product too."""

    def called(call: ToolCall) -> ToolCall:
        other = _NEIGHBOURS.get(call.name)
        if other is None or "productId" not in call.arguments:
            return call
        return ToolCall(other, {"productId": call.arguments["productId"]})

    return each_step(plan, lambda step: _with_calls(step, tuple(called(call) for call in step.calls)))


def _with_calls(step: Step, calls: tuple[ToolCall, ...]) -> Step:
    return msgspec.structs.replace(step, calls=calls)


async def mixed_passages(query: str, retrieve: Retrieve) -> list[Chunk]:
    """The better half of the passages is lost; passages of another area stand in its place."""
    found = await retrieve(query)
    lost = (len(found) + 1) // 2
    return [*(await irrelevant_retrieval(query, retrieve))[:lost], *found[lost:]]


def result_of_another(outcome: Outcome) -> Outcome:
    """The call succeeds, and what it returns belongs to another thing than the one that was asked about."""
    if outcome.error is not None or not isinstance(outcome.result, dict) or "data" not in outcome.result:
        return outcome
    return msgspec.structs.replace(outcome, result={**outcome.result, "data": _of_another(outcome.result["data"])})


def _of_another(value: Any) -> Any:
    match value:
        case bool():
            return value
        case int() | float():
            return value + 1
        case str() if _IDENTIFIER.fullmatch(value):
            return f"{value[:-1]}{(int(value[-1], 16) + 1) % 10}"
        case dict():
            return {name: _of_another(one) for name, one in value.items()}
        case list():
            return [_of_another(one) for one in value]
        case _:
            return value


def figures_dropped(text: str) -> str:
    """The answer without its numbers."""
    return re.sub(r"\d+", "", text)


PERCEPTION: dict[str, Callable[[str, Dialogue, Perceive], Awaitable[Perceived]]] = {"half_heard": half_heard}
PLANNING: dict[str, Replanned] = {"neighbouring_tool": neighbouring_tool}
RETRIEVAL: dict[str, Callable[[str, Retrieve], Awaitable[list[Chunk]]]] = {"mixed_passages": mixed_passages}
OUTCOMES: dict[str, Callable[[Outcome], Outcome]] = {"result_of_another": result_of_another}
GENERATION: dict[str, Reworded] = {"figures_dropped": figures_dropped}
