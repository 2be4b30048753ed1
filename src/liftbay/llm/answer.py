"""Read a judge's answer: strict in what it must hold, tolerant in what stands round it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from liftbay.domain.vocabulary import Bilingual
from liftbay.llm import wording
from liftbay.llm.prompts import Words
from liftbay.llm.wording import said

MOST_BYTES = 1 << 20
_MOST_MENDED = 1 << 16  # characters; looking for stray commas may take the square of the length
_MOST_TRIED = 1_000  # braces that begin no JSON
_MOST_REASONING = 4_000  # characters that are kept
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)  # models that reason say this before their answer
_STRING_OR_STRAY_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
_JSON = json.JSONDecoder()

# Other ways to say the words of the prompts.
_MEANT = {
    "passed": "pass",
    "failed": "fail",
    "合格": "pass",
    "不合格": "fail",
    "n/a": "not_applicable",
    "対象外": "not_applicable",
    "該当なし": "not_applicable",
    "関連あり": "relevant",
    "関連なし": "irrelevant",
    "カバー": "covered",
    "欠落": "missing",
    "保持": "retained",
    "喪失": "lost",
}


class ItemAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The verdict on one part."""

    id: int
    verdict: str
    reasoning: str = ""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a judge said: one verdict, or one for each part."""

    verdict: str | None = None
    reasoning: str = ""
    items: list[ItemAnswer] = []


class Unreadable(Exception):
    """The answer does not hold what it must; its words go back to the judge."""

    def __init__(self, why: Bilingual, language: str, **values: object) -> None:
        super().__init__(said(why, language, **values))


def schema_of(words: Words, ids: Sequence[int]) -> dict[str, Any]:
    """The JSON schema of the answer: the reasoning comes before the verdict."""
    judged = {"reasoning": {"type": "string"}, "verdict": {"type": "string", "enum": list(words.all)}}
    if not ids:
        return _object(judged)
    item = _object({"id": {"type": "integer", "enum": list(ids)}, **judged})
    return _object({"items": {"type": "array", "items": item, "minItems": len(ids), "maxItems": len(ids)}})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read(text: str, words: Words, ids: Sequence[int], language: str) -> Answer:
    """The answer in what a judge wrote. Raises `Unreadable`."""
    if len(text) > MOST_BYTES or len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise Unreadable(wording.TOO_LONG, language, limit=MOST_BYTES)
    keys = ("items",) if ids else ("reasoning", "verdict")
    text = _THOUGHT.sub("", text)
    found = [one for one in _objects(text) if one.keys() >= set(keys)]
    if not found and len(text) <= _MOST_MENDED:
        mended = _STRING_OR_STRAY_COMMA.sub(lambda match: match[1] or "", text)
        found = [one for one in _objects(mended) if one.keys() >= set(keys)]
    if not found:
        raise Unreadable(wording.NO_JSON, language, keys='", "'.join(keys))
    answers = [_of_parts(one, words, ids, language) if ids else _of_whole(one, words, language) for one in found]
    if any(_verdicts(one) != _verdicts(answers[0]) for one in answers):
        raise Unreadable(wording.SEVERAL, language)  # one may be quoted from what was judged
    return answers[-1]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of the text that stand in no other."""
    position = tried = 0
    while tried < _MOST_TRIED and (position := text.find("{", position)) >= 0:
        try:
            value, position = _JSON.raw_decode(text, position)
        except (ValueError, RecursionError):
            tried += 1
            position += 1
        else:
            yield value


def _of_whole(found: dict[str, Any], words: Words, language: str) -> Answer:
    return Answer(_word(found["verdict"], words, language), _reasoning(found))


def _of_parts(found: dict[str, Any], words: Words, ids: Sequence[int], language: str) -> Answer:
    items: dict[int, ItemAnswer] = {}
    for one in found["items"] if isinstance(found["items"], list) else ():
        id_ = _id(one.get("id")) if isinstance(one, dict) else None
        if id_ is None or id_ not in ids or "verdict" not in one:
            continue
        item = ItemAnswer(id_, _word(one["verdict"], words, language), _reasoning(one))
        if items.setdefault(id_, item).verdict != item.verdict:
            raise Unreadable(wording.SEVERAL, language)
    if missing := [id_ for id_ in ids if id_ not in items]:
        raise Unreadable(wording.ITEMS_MISSING, language, ids=", ".join(map(str, missing)))
    return Answer(items=[items[id_] for id_ in ids])


def _id(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _word(value: Any, words: Words, language: str) -> str:
    text = unicodedata.normalize("NFKC", value).casefold().strip(" \t\n.。'\"「」*") if isinstance(value, str) else ""
    text = _MEANT.get(text, text).replace(" ", "_").replace("-", "_")
    if text not in words.all:
        raise Unreadable(wording.UNKNOWN_VERDICT, language, words=", ".join(words.all))
    return text


def _reasoning(found: dict[str, Any]) -> str:
    reasoning = found.get("reasoning")
    text = reasoning if isinstance(reasoning, str) else ""
    text = text.encode("utf-8", "replace").decode().strip()
    return text if len(text) <= _MOST_REASONING else f"{text[:_MOST_REASONING]}…"


def _verdicts(answer: Answer) -> list[str | None]:
    return [answer.verdict, *(item.verdict for item in answer.items)]
