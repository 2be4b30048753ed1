"""What of a turn is kept for later ones."""

from __future__ import annotations

from liftbay_demo.domain import Asked, Plan, Turn, Value


def turn_of(message: str, answer: str, plan: Plan) -> Turn:
    """The turn as later ones may refer to it."""
    asked = tuple(Asked(step.request.text, step.request.kind, step.request.intent, step.values) for step in plan.steps)
    offered: dict[str, tuple[Value, ...]] = {
        one.parameter: (one.suggestion,) for step in plan.steps for one in step.malformed if one.suggestion is not None
    }
    return Turn(message[:2000], answer[:4000], asked, offered)
