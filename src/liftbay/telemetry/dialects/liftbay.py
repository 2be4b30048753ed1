"""What no convention has a name for: attributes of our own, on any span of any dialect."""

from __future__ import annotations

from typing import Any

import msgspec

from liftbay.domain.spans import Span
from liftbay.domain.vocabulary import Module, Route
from liftbay.telemetry.attribute_values import a_count, a_list, a_text

INTENT = "liftbay.intent"
INTENTS = "liftbay.intents"
ROUTE = "liftbay.route"
MODULE = "liftbay.module"
ROUNDS = "liftbay.memory.rounds"
LOAD_KIND = "liftbay.tool_load.kind"
LOAD_NAME = "liftbay.tool_load.name"
SKILL_VERSION = "liftbay.skill.version"
SKILL = "gen_ai.skill.name"  # of the GenAI convention; here, since it too may stand on any span

_NAMES = frozenset({INTENT, INTENTS, ROUTE, MODULE, ROUNDS, LOAD_KIND, SKILL_VERSION, SKILL})


class Remarks(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a span says beside what it is. None stands for what it does not say."""

    intents: list[str] | None = None
    route: Route | None = None
    module: Module | None = None  # that the span times
    rounds: int | None = None
    load_kind: str | None = None
    load_name: str | None = None
    skill: str | None = None
    skill_version: str | None = None


def remarks(span: Span) -> Remarks | None:
    """Its attributes of our own; None where it has none."""
    attributes = span.attributes
    if attributes.keys().isdisjoint(_NAMES):
        return None
    load_kind = a_text(attributes.get(LOAD_KIND))
    return Remarks(
        intents=_intents(attributes),
        route=_ROUTES.get(attributes.get(ROUTE)),
        module=_MODULES.get(attributes.get(MODULE)),
        rounds=a_count(attributes.get(ROUNDS)),
        load_kind=load_kind,
        load_name=(a_text(attributes.get(LOAD_NAME)) or span.name) if load_kind else None,
        skill=a_text(attributes.get(SKILL)),
        skill_version=a_text(attributes.get(SKILL_VERSION)),
    )


_ROUTES: dict[Any, Route] = {route.value: route for route in Route}
_MODULES: dict[Any, Module] = {
    module.value: module
    for module in (Module.PERCEPTION, Module.PLANNING, Module.MEMORY, Module.TOOL, Module.GENERATION)
}


def _intents(attributes: dict[str, Any]) -> list[str] | None:
    several = a_list(attributes.get(INTENTS))
    if several is not None:
        return [intent for intent in several if isinstance(intent, str)]
    intent = a_text(attributes.get(INTENT))
    return None if intent is None else [intent]
