"""Answers of judges by the content of their question: what is kept, and under which key."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from liftbay.llm.answer import Answer
from liftbay.llm.prompts import Prompt


class KeptAnswer(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One answer of a judge, with where it comes from."""

    model: str
    prompt: str  # metric.language@version
    seed: int
    answer: Answer
    parameters: dict[str, Any] = {}  # those that the user set
    input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def language(self) -> str:
        """The language of the prompt."""
        return self.prompt.partition("@")[0].rpartition(".")[2]


class AnswerLine(msgspec.Struct, frozen=True):
    """A line of a file of answers."""

    key: str
    answer: KeptAnswer


class RecordedAnswers:
    """A `JudgeCache` of the answers of a file; nothing is added to it."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self._answers = answers

    async def cached(self, key: str) -> str | None:
        """What was recorded under the key, or None."""
        return self._answers.get(key)

    async def keep(self, key: str, answer: str) -> None:
        """Keep nothing: a record stays what it is."""


def key_of(prompt: Prompt, model: str, parameters: Mapping[str, Any], schema: Mapping[str, Any], text: str) -> str:
    """What identifies a question: the same key, the same answer.

    `parameters` include the seed; `text` is the user's message as it is without a nonce of its own.
    """
    content = [prompt.metric, prompt.language, prompt.version, model, parameters, schema, text]
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()
