"""Long-term memory: the passages of the knowledge base."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from liftbay_demo.domain import Chunk
from liftbay_demo.memory.synonyms import expanded
from liftbay_demo.ranking import Ranking
from liftbay_demo.words import Words

_HEAD = re.compile(r"---\nid: (?P<id>\S+)\ntitle: \"(?P<title>.*)\"\n---\n(?P<body>.*)", re.DOTALL)
_TOP = 4
_LEAST_SCORE = 2.2
_LESS_IF_COVERED = 1.4
_LEAST_COVERAGE = 0.22  # a single common word in a long question is no match


class KnowledgeBase:
    """Finds passages of the Markdown files of a folder."""

    def __init__(self, folder: Path, words: Words) -> None:
        self._words = words
        files = sorted(folder.glob("*.md"))
        texts = [file.read_text(encoding="utf-8") for file in files]
        self.version = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]
        self.passages = [passage for text in texts for passage in _passages(text)]
        # the headings are what a passage is about: they count twice
        self._ranking = Ranking([words.of(f"{one.title} {one.title} {one.content}") for one in self.passages])

    async def retrieve(self, query: str) -> list[Chunk]:
        """The best passages, best first; none where nothing fits well enough."""
        return self.search(query)

    def search(self, query: str, top: int = _TOP) -> list[Chunk]:
        """The same, at once."""
        words = self._words.of(expanded(query))
        scores = self._ranking.scores(words)
        best = sorted(range(len(scores)), key=lambda index: -scores[index])[:top]
        own = self._words.of(query)
        return [
            Chunk(passage.id, passage.content, round(scores[index], 4), passage.title)
            for index in best
            if self._fits(scores[index], max(self._ranking.coverage(query, index) for query in (own, words)))
            and (passage := self.passages[index])
        ]

    def _fits(self, score: float, coverage: float) -> bool:
        # a short question of common words scores low, however well a passage fits
        return coverage >= _LEAST_COVERAGE and score >= _LEAST_SCORE - _LESS_IF_COVERED * coverage

    def knows(self, word: str) -> bool:
        """Whether any passage holds the word."""
        return word in self._ranking


def _passages(text: str) -> list[Chunk]:
    head = _HEAD.fullmatch(text)
    if head is None:
        return []
    sections = re.split(r"^## ", head["body"], flags=re.MULTILINE)[1:]
    parts = [section.partition("\n") for section in sections]
    return [
        Chunk(f"{head['id']}#{number}", content.strip(), title=f"{head['title']} > {heading.strip()}")
        for number, (heading, _, content) in enumerate(parts, start=1)
    ]
