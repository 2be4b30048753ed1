"""The question of one metric on one trial, as it goes to a judge, or why there is nothing to ask."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Asks, Each, Metric, Shown
from liftbay.llm import wording
from liftbay.llm.evidence_text import blocks_of, chunks_of
from liftbay.llm.fences import Block, fenced
from liftbay.llm.parts import Part, parts_of
from liftbay.llm.wording import said
from liftbay.scoring.trace_parts import intents

NO_NONCE = "0" * 16  # stands in the text that identifies a question: the same whenever it is asked


class Nothing(msgspec.Struct, frozen=True):
    """Why there is nothing to decide; `missing` names the part of the trace that is not reported."""

    reason: str
    missing: str | None = None


class Question(msgspec.Struct, frozen=True):
    """What is shown, and what is decided one by one; without `parts`, the whole is."""

    blocks: Sequence[Block]
    language: str
    parts: Sequence[Part] = ()

    @property
    def ids(self) -> list[int]:
        """The ids of the parts that the judge decides."""
        return [part.id for part in self.parts if part.id is not None]

    @property
    def decided(self) -> bool:
        """Whether keywords have decided every part."""
        return bool(self.parts) and not self.ids

    def text(self, nonce: str, most: int) -> str:
        """The user's message, with at most `most` characters of evidence."""
        blocks = [*self.blocks, *(part.block for part in self.parts if part.block is not None)]
        data = fenced(blocks, nonce, most=most, language=self.language)
        after = said(
            wording.AFTER_PARTS if self.ids else wording.AFTER, self.language, ids=", ".join(map(str, self.ids))
        )
        return "\n\n".join((said(wording.BEFORE, self.language, nonce=nonce), data, after))


def question_of(metric: Metric, evidence: Evidence, language: str) -> Question | Nothing:
    """The question that a metric with `asks` puts."""
    assert metric.asks is not None
    asks = metric.asks
    if nothing := _lacking(metric, asks, evidence):
        return nothing
    blocks = blocks_of(asks.shows, evidence, language)
    if asks.each is None:
        return Question(blocks, language)
    parts = parts_of(asks.each, evidence, language)
    return Question(blocks, language, parts) if parts else Nothing(_NO_PART[asks.each])


def _lacking(metric: Metric, asks: Asks, evidence: Evidence) -> Nothing | None:
    needs_chunks = Shown.CHUNKS in asks.shows or asks.each is Each.CHUNK or "retrievals.chunks" in metric.needs
    if needs_chunks and chunks_of(evidence) is None:
        return Nothing("the trace reports no retrieved passages", "retrievals.chunks")
    if Shown.RECOGNISED_INTENTS in asks.shows and intents(evidence) is None:
        return Nothing("the trace reports no intents", "perception.intents")
    return None


_NO_PART = {
    Each.CHUNK: "no passage was retrieved",
    Each.KNOWLEDGE_POINT: "the case expects no point of knowledge",
    Each.ROUND: "no round refers back",
}
