"""Faults of perception: what was wanted is misunderstood."""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from liftbay_demo.domain import KNOWLEDGE_QA, Kind, Perceived, Request

Misunderstood = Callable[[Perceived, Collection[str]], Perceived]  # the second: names of the Skills

_FORCED = "product-query"


def wrong_intent(perceived: Perceived, skills: Collection[str]) -> Perceived:
    """The first request for a Skill is taken for another Skill."""
    taken = {request.skill for request in perceived.requests}
    at = next((index for index, request in enumerate(perceived.requests) if request.skill), None)
    if at is None:
        return perceived
    request = perceived.requests[at]
    order = sorted(skills)
    start = order.index(request.skill) if request.skill in order else 0
    other = next((name for name in (*order[start:], *order[:start]) if name not in taken), None)
    if other is None:
        return perceived
    changed = msgspec.structs.replace(request, intent=other, skill=other)
    return _with(perceived, at, changed)


def forced_skill(perceived: Perceived, skills: Collection[str]) -> Perceived:
    """A question that no Skill covers is taken for one of them."""
    return _forced(perceived, skills, label=True)


def never_falls_back(perceived: Perceived, skills: Collection[str]) -> Perceived:
    """A question is seen to be one of knowledge, and a Skill is hit all the same."""
    return _forced(perceived, skills, label=False)


def missed_second_intent(perceived: Perceived, skills: Collection[str]) -> Perceived:
    """Of several intents only the first is recognised."""
    first = perceived.requests[0].intent
    return msgspec.structs.replace(perceived, requests=tuple(one for one in perceived.requests if one.intent == first))


def understands_nothing(perceived: Perceived, skills: Collection[str]) -> Perceived:
    """A request for a Skill is not understood."""
    requests = tuple(
        Request(one.text, Kind.UNCLEAR, "unclear", mentions=one.mentions) if one.skill else one
        for one in perceived.requests
    )
    return msgspec.structs.replace(perceived, requests=requests)


def _forced(perceived: Perceived, skills: Collection[str], *, label: bool) -> Perceived:
    for at, request in enumerate(perceived.requests):
        if request.kind is Kind.KNOWLEDGE and request.skill is None:
            skill = request.nearest if request.nearest in skills else _FORCED
            intent = str(skill) if label else KNOWLEDGE_QA
            changed = Request(request.text, Kind.SKILL, intent, skill, skill, request.mentions, request.follows)
            perceived = _with(perceived, at, changed)
    return perceived


def _with(perceived: Perceived, at: int, request: Request) -> Perceived:
    requests = (*perceived.requests[:at], request, *perceived.requests[at + 1 :])
    return msgspec.structs.replace(perceived, requests=requests)


PERCEPTION: dict[str, Misunderstood] = {
    "wrong_intent": wrong_intent,
    "forced_skill": forced_skill,
    "never_falls_back": never_falls_back,
    "missed_second_intent": missed_second_intent,
    "understands_nothing": understands_nothing,
}
