"""Faults of planning: what was understood rightly leads to the wrong decision."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from liftbay_demo.domain import Plan, Route, Step, ToolCall

Replanned = Callable[[Plan], Plan]

_SOME_PRODUCT = "1005006120457665"
_SOME_CODE = "F_PC_SERVICE_QUERY_020"


def each_step(plan: Plan, change: Callable[[Step], Step]) -> Plan:
    """The plan with every step changed."""
    steps = tuple(change(step) for step in plan.steps)
    return msgspec.structs.replace(plan, steps=steps, store_results=any(step.calls for step in steps))


def wrong_route(plan: Plan) -> Plan:
    """The knowledge base is asked where a Skill should run."""
    steps = tuple(Step(step.request, query=step.request.text) if step.skill else step for step in plan.steps)
    return msgspec.structs.replace(plan, route=Route.SKILL_MISS, steps=steps, store_results=False)


def needless_tool(plan: Plan) -> Plan:
    """A tool is called that nobody needs."""

    def changed(step: Step) -> Step:
        if step.skill is None:
            return step
        called = {call.name for call in step.calls}
        product = str(step.values.get("productId", (_SOME_PRODUCT,))[0])
        needless = next(
            call
            for call in (
                ToolCall("query_product", {"productId": product}),
                ToolCall("lookup_error_code", {"code": _SOME_CODE}),
                ToolCall("query_tags", {"productId": product}),
            )
            if call.name not in called
        )
        return msgspec.structs.replace(step, calls=(*step.calls, needless))

    return each_step(plan, changed)


def missing_tool(plan: Plan) -> Plan:
    """The last tool that is needed is not called."""

    def changed(step: Step) -> Step:
        if not step.calls:
            return step
        dropped = step.calls[-1].name
        return msgspec.structs.replace(step, calls=tuple(call for call in step.calls if call.name != dropped))

    return each_step(plan, changed)


def no_retrieval(plan: Plan) -> Plan:
    """A question of knowledge is answered without looking anything up."""
    return each_step(plan, lambda step: msgspec.structs.replace(step, query=None))


def asks_what_was_said(plan: Plan) -> Plan:
    """It is decided to ask for what the message itself names, in the place of a call."""

    def changed(step: Step) -> Step:
        named = tuple(step.request.mentions.values)
        if not step.calls or not named:
            return step
        return msgspec.structs.replace(step, calls=(), missing=named[:1])

    return each_step(plan, changed)


PLANNING: dict[str, Replanned] = {
    "wrong_route": wrong_route,
    "needless_tool": needless_tool,
    "missing_tool": missing_tool,
    "no_retrieval": no_retrieval,
    "asks_what_was_said": asks_what_was_said,
}
