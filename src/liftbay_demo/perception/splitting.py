"""From a message to its clauses, each of which may ask for something."""

from __future__ import annotations

import re

from liftbay_demo.perception import kinds
from liftbay_demo.perception.cues import cued

_ENDS = re.compile(r"(?<=[。!?\n])\s*|(?<=[^A-Za-z0-9])\s*(?=[・●■]\s?[^・])")
_CONJUNCTIONS = re.compile(
    r"(?:それと|それから|あとは?(?=[、,\s]|[ぁ-んァ-ヶ一-龠0-9A-Za-z])(?!で|ほど|何|いくつ|どれ|少し|もう)|ついでに|あわせて"
    r"|併せて|加えて|さらに|もう[1一]つ|最後に|次に|そして|また(?=[、,]))"
)
_PAUSES = re.compile(r"(?<=[、,;])(?![0-9]{3}(?![0-9]))|(?<=\s)(?=\S)|(?<=[^A-Za-z0-9\s])(?=/)|(?<=[ぁ-ん一-龠]/)")
_RUNS_ON = re.compile(r"(?<=[てで])(?=[一-龠ァ-ヶA-Za-z0-9])|(?<=けど)|(?<=[んの]だが)|(?<=ですが)|(?<=ので)|(?<=し、)")
_BRACKETED = re.compile(r"\((?P<it>[^()]{8,})\)")
_ASKS_FOR_ONE = re.compile(
    r"[何誰]|いくつ|幾つ|いくら|なんぼ|どこ|だれ|いつ|教え|おしえ|調べ|しらべ|見せ|みせ|見て|みて|確認|欲し|ほし"
)


def clauses(message: str) -> list[str]:
    """The message in pieces: sentences, and parts of sentences that ask for things of their own."""
    sentences = [one for sentence in _ENDS.split(message) for one in _without_brackets(sentence)]
    return [part for sentence in sentences for part in _parts(sentence) if part.strip(" 、,。・/\n")]


def _without_brackets(sentence: str) -> list[str]:
    """The sentence, and after it the questions that it holds in brackets."""
    asked = [match for match in _BRACKETED.finditer(sentence) if kinds.asks(match["it"])]
    for match in reversed(asked):
        sentence = f"{sentence[: match.start()]} {sentence[match.end() :]}"
    return [sentence, *(match["it"] for match in asked)]


def without_conjunction(clause: str) -> str:
    """The clause without the word that ties it to the one before."""
    return (
        _CONJUNCTIONS.sub("", clause.strip(" 、,\n"), count=1).strip(" 、,")
        if _CONJUNCTIONS.match(clause.strip(" 、,\n"))
        else clause.strip(" 、,\n")
    )


def _parts(sentence: str) -> list[str]:
    pieces = [
        piece for part in _at_conjunctions(sentence) for pause in _PAUSES.split(part) for piece in _RUNS_ON.split(pause)
    ]
    parts: list[str] = []
    for piece in pieces:
        begins_anew = bool(parts) and _stands_alone(parts[-1]) and _stands_alone(piece)
        if begins_anew and parts[-1].strip()[-1:] not in "、,;/":  # nothing marks the break but the words
            begins_anew = _ASKS_FOR_ONE.search(parts[-1]) is not None and bool(cued(piece, hints=True))
        if begins_anew or (parts and _CONJUNCTIONS.match(piece.lstrip(" 、,")) and _stands_alone(parts[-1])):
            parts.append(piece)
        elif parts:
            parts[-1] += piece
        else:
            parts.append(piece)
    return parts


def _at_conjunctions(sentence: str) -> list[str]:
    cuts = [match.start() for match in _CONJUNCTIONS.finditer(sentence) if _may_cut(sentence, match.start())]
    return [sentence[start:end] for start, end in zip([0, *cuts], [*cuts, len(sentence)], strict=True)]


def _may_cut(sentence: str, at: int) -> bool:
    """A conjunction begins a clause after a pause, or after the verb of the clause before."""
    before = sentence[:at].rstrip()
    return not before or before[-1] in "、,。!?\n" or before.endswith(("て", "で", "たい", "けど", "と", "し", "ね"))


def _stands_alone(piece: str) -> bool:
    return bool(cued(piece, hints=True)) or (kinds.asks(piece) and len(piece) >= 8)
