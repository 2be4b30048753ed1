"""How much of one text another holds, by its words: good enough to tell a passage that answers from one that does not.

Numbers and names in Latin letters count double: they are what a paraphrase keeps. Japanese is cut into pairs of
kanji or katakana, since nothing here may depend on a dictionary; hiragana, mostly endings, counts for nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_LATIN = re.compile(r"[a-z0-9_]+(?:\.[0-9]+)?")
_JAPANESE = re.compile(r"[々〆一-鿿]+|[ァ-ヴー]+")


def folded(text: str) -> str:
    """The text in one width and case."""
    return unicodedata.normalize("NFKC", text).casefold()


def words_of(text: str) -> set[str]:
    """What is compared of a text."""
    text = folded(text)
    words = set(_LATIN.findall(text))
    for run in _JAPANESE.findall(text):
        words |= {run[at : at + 2] for at in range(len(run) - 1)} or {run}
    return words


def held(text: str, by: Iterable[str]) -> float | None:
    """The share of the text's words that stand in one of the others; None where it has none to compare."""
    words = words_of(text)
    total = sum(map(_weight, words))
    if not total:
        return None
    there = words & set().union(*map(words_of, by))
    return sum(map(_weight, there)) / total


def holds_all(text: str, keywords: Iterable[str]) -> bool:
    """Whether all keywords stand in the text, whatever their width and case."""
    whole = folded(text)
    return all(folded(keyword) in whole for keyword in keywords)


def _weight(word: str) -> int:
    return 2 if word.isascii() else 1
