"""What a judge decides one by one: retrieved chunks, points of knowledge, rounds that refer back."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import msgspec

from liftbay.domain.case import ConversationRound
from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Each
from liftbay.llm import wording
from liftbay.llm.evidence_text import chunks_of
from liftbay.llm.fences import Block
from liftbay.llm.wording import said


class Part(msgspec.Struct, frozen=True):
    """One thing to decide. Its `id` in the question is None where keywords have decided it."""

    label: str
    id: int | None = None
    block: Block | None = None
    distance: int | None = None


def parts_of(each: Each, evidence: Evidence, language: str) -> list[Part]:
    """All of a kind, in their order."""
    match each:
        case Each.CHUNK:
            return [
                Part(
                    chunk.id or str(number), number, Block(said(wording.ITEM_CHUNK, language, id=number), chunk.content)
                )
                for number, chunk in enumerate(chunks_of(evidence) or (), 1)
            ]
        case Each.KNOWLEDGE_POINT:
            points = enumerate(evidence.case.expected_knowledge or (), 1)
            return [Part(point, n, Block(said(wording.ITEM_POINT, language, id=n), point)) for n, point in points]
        case Each.ROUND:
            return _rounds(evidence, language)


def _rounds(evidence: Evidence, language: str) -> list[Part]:
    answers = {turn.round: turn.answer or "" for turn in evidence.episode.turns}
    parts: list[Part] = []
    asked = 0
    for round_ in evidence.case.rounds:
        if not round_.refers_to:
            continue
        distance = round_.round - min(round_.refers_to)
        answer = answers.get(round_.round, "")
        if holds_all(answer, round_.expected_contains):
            parts.append(Part(str(round_.round), distance=distance))
            continue
        asked += 1
        parts.append(Part(str(round_.round), asked, _round_block(round_, answer, asked, language), distance))
    return parts


def _round_block(round_: ConversationRound, answer: str, id_: int, language: str) -> Block:
    """The answer itself: a judge that sees the keywords alone takes "(none)" for an answer that lost everything."""
    earlier = ", ".join(map(str, round_.refers_to))
    title = said(wording.ITEM_ROUND, language, id=id_, round=round_.round, earlier=earlier)
    text = answer or said(wording.EMPTY, language)
    if round_.expected_contains:
        text += "\n" + said(wording.KEYWORDS, language, keywords=" / ".join(round_.expected_contains))
    return Block(title, text)


def holds_all(answer: str, keywords: Sequence[str]) -> bool:
    """Whether all keywords stand in the answer, whatever their width and case; without a keyword nothing is said."""
    text = _folded(answer)
    return bool(keywords) and all(_folded(keyword) in text for keyword in keywords)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
