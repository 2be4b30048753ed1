"""Which Skill a request without a cue is the most like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from liftbay_demo.perception.phrasings import PHRASINGS
from liftbay_demo.ranking import Ranking
from liftbay_demo.tools.skills import Skill
from liftbay_demo.words import Words

_LEAST_SCORE = 2.2
_LEAST_COVERAGE = 0.34


class Match(NamedTuple):
    """The Skill that is the closest, and whether it is close enough."""

    skill: str | None
    close: bool


class SkillMatching:
    """Compares requests with the titles, descriptions and bodies of the Skills, and with phrasings."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._names: list[str] = []
        self._ranking: Ranking | None = None

    def use(self, skills: Mapping[str, Skill]) -> None:
        """Compare with these Skills from now on."""
        texts: list[Sequence[str]] = []
        names: list[str] = []
        for name, skill in skills.items():
            for text in (f"{skill.title} {skill.title} {skill.description}", skill.body, *PHRASINGS.get(name, ())):
                texts.append(self._words.of(text))
                names.append(name)
        self._names, self._ranking = names, Ranking(texts) if texts else None

    def of(self, text: str) -> Match:
        """The Skill that the text is the most like."""
        words = self._words.of(text)
        if self._ranking is None or not words:
            return Match(None, False)
        scores = self._ranking.scores(words)
        best = max(range(len(scores)), key=lambda index: scores[index])
        if scores[best] <= 0:
            return Match(None, False)
        close = scores[best] >= _LEAST_SCORE and self._ranking.coverage(words, best) >= _LEAST_COVERAGE
        return Match(self._names[best], close)
