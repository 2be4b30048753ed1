"""Faults of memory: what was said is not there any more, or what is known is not found."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import msgspec

from liftbay_demo.domain import Asked, Chunk, Dialogue, Perceived, Plan, Profile, Step, Turn, Value
from liftbay_demo.faults.generation import contradicted_source
from liftbay_demo.faults.planning import each_step

Retrieve = Callable[[str], Awaitable[list[Chunk]]]

_CORRECTS = re.compile(r"じゃな[くい]|ではな[くい]|でな[くい]|間違え|まちがえ|違った|違う|訂正|やっぱ|正しくは|ごめん")
_ASKED = ("productId", "traceId", "code", "country", "skuId")
_OFF_TOPIC = ("返品の受付期間", "画像の枚数と大きさ", "用語の意味", "イベントの再送", "権限の申請")
_LEAST_CHARACTERS = 8


def window_too_short(dialogue: Dialogue) -> Dialogue:
    """Only the turn before is remembered, and of the profile only what it named."""
    turns = dialogue.turns[-1:]
    last: dict[str, Value] = {}
    products: list[str] = []
    for asked in (one for turn in turns for one in turn.asked):
        last |= {name: found[-1] for name, found in asked.values.items() if found}
        products += [str(one) for one in asked.values.get("productId", ())]
    return Dialogue(turns, Profile(last=last, products=tuple(products)), dialogue.rounds)


def forgotten_entity(dialogue: Dialogue) -> Dialogue:
    """The turns are remembered, but not the things that they named."""
    turns = tuple(msgspec.structs.replace(turn, asked=_nameless(turn), offered={}) for turn in dialogue.turns)
    return Dialogue(turns, msgspec.structs.replace(dialogue.profile, last={}, products=()), dialogue.rounds)


def _nameless(turn: Turn) -> tuple[Asked, ...]:
    return tuple(msgspec.structs.replace(one, values={}) for one in turn.asked)


def asks_again(plan: Plan) -> Plan:
    """What an earlier turn named is asked for once more."""

    def changed(step: Step) -> Step:
        own = step.request.mentions.values
        known = tuple(name for name in _ASKED if name in step.values and name not in own)
        if step.skill is None or not known:
            return step
        values = {name: found for name, found in step.values.items() if name not in known}
        return msgspec.structs.replace(step, values=values, calls=(), missing=known)

    return each_step(plan, changed)


def ignores_correction(message: str, perceived: Perceived, dialogue: Dialogue) -> Perceived:
    """Where the user corrects a value, the old one stays."""
    if not _CORRECTS.search(message):
        return perceived
    last = dialogue.profile.last
    requests = []
    for request in perceived.requests:
        values = {
            name: (last[name],) if name in last and last[name] not in found else found
            for name, found in request.mentions.values.items()
        }
        mentions = msgspec.structs.replace(request.mentions, values=values)
        requests.append(msgspec.structs.replace(request, mentions=mentions))
    return msgspec.structs.replace(perceived, requests=tuple(requests))


async def empty_retrieval(query: str, retrieve: Retrieve) -> list[Chunk]:
    """Nothing is found."""
    return []


async def irrelevant_retrieval(query: str, retrieve: Retrieve) -> list[Chunk]:
    """Passages about something else are found."""
    right = {chunk.id.partition("#")[0] for chunk in await retrieve(query)}
    for other in _OFF_TOPIC:
        found = [chunk for chunk in await retrieve(other) if chunk.id.partition("#")[0] not in right]
        if right and found:
            return found
    return []


async def truncated_chunk(query: str, retrieve: Retrieve) -> list[Chunk]:
    """Of each passage only the beginning arrives."""
    return [_cut(chunk) for chunk in await retrieve(query)]


async def outdated_passage(query: str, retrieve: Retrieve) -> list[Chunk]:
    """The passages as they stood in an older edition: their figures are others."""
    return [
        msgspec.structs.replace(chunk, content=contradicted_source(chunk.content)) for chunk in await retrieve(query)
    ]


def _cut(chunk: Chunk) -> Chunk:
    return msgspec.structs.replace(chunk, content=chunk.content[: max(_LEAST_CHARACTERS, len(chunk.content) // 8)])


RECALL: dict[str, Callable[[Dialogue], Dialogue]] = {
    "window_too_short": window_too_short,
    "forgotten_entity": forgotten_entity,
}
ASKING: dict[str, Callable[[Plan], Plan]] = {"asks_again": asks_again}
CLINGING: dict[str, Callable[[str, Perceived, Dialogue], Perceived]] = {"ignores_correction": ignores_correction}
RETRIEVAL: dict[str, Callable[[str, Retrieve], Awaitable[list[Chunk]]]] = {
    "empty_retrieval": empty_retrieval,
    "irrelevant_retrieval": irrelevant_retrieval,
    "truncated_chunk": truncated_chunk,
    "outdated_passage": outdated_passage,
}
OF_SHORT_TERM = frozenset((*RECALL, *ASKING, *CLINGING))
