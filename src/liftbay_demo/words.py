"""Japanese text as words that can be compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import sudachipy  # type: ignore[import-untyped]

_CONTENT = {"名詞", "動詞", "形容詞", "形状詞"}
_NOUNS = {("名詞", "普通名詞"), ("名詞", "固有名詞")}
_EMPTY_WORDS = (
    "為る 有る 居る 成る 出来る 呉れる 下さる 頂く 貰う 仕舞う 行く 来る 言う 思う 事 物 所 時 為 訳 様 何 "
    "御 宜しい 良い この その これ それ 此れ 其れ 此方 其方 彼の"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*|[0-9]+(?:\.[0-9]+)?")
_INVISIBLE = re.compile(r"[\u200b-\u200f\u2028-\u202e\u2060\ufeff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def normalised(text: str) -> str:
    """The text in NFKC, without characters that nobody sees."""
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))


class Words:
    """Splits text into the normalised forms of its content words. Not for several threads at once."""

    def __init__(self) -> None:
        dictionary = sudachipy.Dictionary(dict="core")
        self._sudachi = dictionary.tokenizer(mode="A", fields={"pos", "normalized_form"})
        self.of = lru_cache(maxsize=4096)(self._of)

    def _of(self, text: str) -> tuple[str, ...]:
        """The words in their order; names and numbers in Latin letters stay whole, in lower case."""
        return tuple(self._each(normalised(text)))

    def _each(self, text: str) -> Iterator[str]:
        end = 0
        for latin in _LATIN.finditer(text):
            yield from self._japanese(text[end : latin.start()])
            yield latin[0].lower()
            end = latin.end()
        yield from self._japanese(text[end:])

    def _japanese(self, text: str) -> Iterator[str]:
        if not text or text.isspace():
            return
        for morpheme in self._sudachi.tokenize(text[:10_000]):  # longer is refused; nobody types that
            word = morpheme.normalized_form()
            if morpheme.part_of_speech()[0] in _CONTENT and word not in _EMPTY and not word.isspace():
                yield word

    def nouns(self, text: str) -> dict[str, tuple[str, ...]]:
        """The Japanese nouns of the text, compounds as a whole, each with the words that it is made of."""
        found: dict[str, tuple[str, ...]] = {}
        surface = ""
        parts: tuple[str, ...] = ()
        for morpheme in [*self._sudachi.tokenize(_LATIN.sub(" ", normalised(text))[:10_000]), None]:
            if morpheme is not None and morpheme.part_of_speech()[:2] in _NOUNS:
                surface, parts = surface + morpheme.surface(), (*parts, morpheme.normalized_form())
            elif surface:
                found[surface] = parts
                surface, parts = "", ()
        return found

    def person(self, text: str) -> bool:
        """Whether all of the text can be the name of a person."""
        morphemes = list(self._sudachi.tokenize(text[:40]))
        return bool(morphemes) and all("人名" in morpheme.part_of_speech() for morpheme in morphemes)
