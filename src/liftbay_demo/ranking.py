"""BM25 over a small set of texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import bm25s  # type: ignore[import-untyped]

_STEMS = dict(zip("うくぐすつぬぶむ", "いきぎしちにびみ", strict=True))
_BEFORE_A_LOST_RU = "えけげせぜてでねべめれいきぎじちにびみり"
_COUNTERS = frozenset("日件回個人分秒月年円枚本字数間者側用等")
_LITTLE, _SOME, _ALL = 0.3, 0.6, 1.0


class Ranking:
    """Scores texts against a query; both are given as words."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        stemmed = [[stem(word) for word in text] for text in texts]
        self._index = bm25s.BM25(method="lucene", k1=1.2, b=0.6)
        self._index.index(stemmed, show_progress=False)
        self._sets = [frozenset(text) for text in stemmed]
        frequency = Counter(word for words in self._sets for word in words)
        self._rarity = {word: math.log(1 + (len(stemmed) + 0.5) / (count + 0.5)) for word, count in frequency.items()}
        self._rarest = math.log(1 + (len(stemmed) + 0.5) / 0.5)

    def __contains__(self, word: str) -> bool:
        return stem(word) in self._rarity

    def scores(self, query: Sequence[str]) -> list[float]:
        """The score of each text; 0 where it holds none of the words."""
        weights = {stem(word): _weight(word) for word in query}
        total = [0.0] * len(self._sets)
        for weight in (_LITTLE, _SOME, _ALL):
            known = sorted(word for word, own in weights.items() if own == weight and word in self._rarity)
            if known:
                scores = self._index.get_scores(known)
                total = [before + weight * float(score) for before, score in zip(total, scores, strict=True)]
        return total

    def coverage(self, query: Sequence[str], text: int) -> float:
        """Which share of the query, weighted by how much its words say, the text holds."""
        worth = {stem(word): _weight(word) * self._rarity.get(stem(word), self._rarest) for word in query}
        held = sum(value for word, value in worth.items() if word in self._sets[text])
        return held / sum(worth.values()) if worth else 0.0


def stem(word: str) -> str:
    """A verb as the noun that is made of it, so that 取り下げる is 取り下げ; other words as they are."""
    if len(word) < 3 or word[-1] not in _STEMS.keys() | {"る"}:
        return word
    if word[-1] == "る":
        return word[:-1] if word[-2] in _BEFORE_A_LOST_RU else f"{word[:-1]}り"
    return word[:-1] + _STEMS[word[-1]]


def _weight(word: str) -> float:
    """Nouns say what a text is about; what is done says less, and what is counted in hardly anything."""
    if word in _COUNTERS:
        return _LITTLE
    return _SOME if "ぁ" <= word[-1] <= "ん" and stem(word) != word else _ALL
