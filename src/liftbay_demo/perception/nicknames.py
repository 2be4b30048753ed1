"""What people call the things that they gave an id for earlier: a letter, or a word of what it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from liftbay_demo.domain import Dialogue, Turn, Value, Values
from liftbay_demo.words import Words, normalised

_ID = re.compile(r"(?<![0-9A-Za-z])(?:1005\d{12}|[0-9a-f]{30})(?![0-9A-Za-z])")
_LETTER = re.compile(r"(?<![0-9A-Za-z_])[A-H](?![0-9A-Za-z_])")
_LETTERED = re.compile(
    r"(?<![0-9A-Za-z_])(?P<before>[A-H])\s*(?:は|が|を|=|:|\)|\.|、|商品)?\s*(?P<id>1005\d{12}|[0-9a-f]{30})(?![0-9A-Za-z])"
    r"|(?<![0-9A-Za-z])(?P<id2>1005\d{12}|[0-9a-f]{30})\s*(?:は|が|を|=|:|\()\s*(?P<after>[A-H])(?![0-9A-Za-z_])"
)
_NEAR = 30


def named(text: str, dialogue: Dialogue, words: Words, known: Callable[[str], bool]) -> tuple[Values, str]:
    """The ids that the text means by other names, and the text without these names."""
    if not dialogue.turns or _ID.search(text):
        return {}, text
    ids: list[str] = []
    letters = _letters(dialogue)
    for letter in _LETTER.findall(text):
        if letter in letters:
            ids.append(letters[letter])
            text = re.sub(rf"(?<![0-9A-Za-z_]){letter}(?![0-9A-Za-z_])", " ", text)
    if not ids:
        for noun in _nouns(text, words, known):
            if (found := _called(noun, dialogue.turns)) is not None:
                ids.append(found)
                text = text.replace(noun, " ")
    values: dict[str, tuple[Value, ...]] = {}
    for found in dict.fromkeys(ids):
        name = "productId" if len(found) == 16 else "traceId"
        values[name] = (*values.get(name, ()), found)
    return values, text


def _letters(dialogue: Dialogue) -> dict[str, str]:
    found = {}
    for text in [*(turn.user for turn in dialogue.turns), *dialogue.profile.notes]:
        for match in _LETTERED.finditer(normalised(text)):
            found[match["before"] or match["after"]] = match["id"] or match["id2"]
    return found


def _nouns(text: str, words: Words, known: Callable[[str], bool]) -> Iterator[str]:
    """The nouns that say what a thing is; none that the trade has a meaning for."""
    for noun, parts in words.nouns(text).items():
        if len(noun) > 1 and not any(known(part) for part in parts):
            yield noun


def _called(noun: str, turns: Iterable[Turn]) -> str | None:
    """The product that was called so, or whose title holds the word."""
    for turn in reversed(tuple(turns)):
        if (found := _nearest(noun, normalised(turn.user))) or (found := _titled(noun, turn.assistant)):
            return found
    return None


def _nearest(noun: str, text: str) -> str | None:
    at = text.find(noun)
    ids = [match for match in _ID.finditer(text) if len(match[0]) == 16]
    near = [match for match in ids if at >= 0 and -_NEAR <= at - match.end() <= _NEAR]
    return min(near, key=lambda match: abs(at - match.end()))[0] if near else None


def _titled(noun: str, answer: str) -> str | None:
    """The product in whose part of the answer the word stands."""
    at = answer.find(noun)
    before = [match[0] for match in _ID.finditer(answer) if match.start() < at and len(match[0]) == 16]
    return before[-1] if at >= 0 and before else None
