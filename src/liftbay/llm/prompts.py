"""The prompts of the judged metrics: one file a metric and language, `metrics/<id>.<language>.md`.

A file begins with the words that the judge may answer::

    ---
    verdicts: pass, fail
    ---

The first passes, the second fails, a third says that there is nothing to decide. The rest is the system message.
"""

from __future__ import annotations

import functools
import hashlib
import re
from importlib import resources

import msgspec

from liftbay.errors import InputError

_VERSION = 12  # hexadecimal digits of the file's SHA-256
_FILE = re.compile(r"\A---\s*\n(.*?)\n---\s*\n(.*)\Z", re.DOTALL)
_VERDICTS = re.compile(r"^verdicts:([^#\n]*)", re.MULTILINE)


class Words(msgspec.Struct, frozen=True):
    """What a judge may answer; `neither` says that there is nothing to decide."""

    passing: str
    failing: str
    neither: str | None = None

    @property
    def all(self) -> tuple[str, ...]:
        """The words, the passing one first."""
        return (self.passing, self.failing) if self.neither is None else (self.passing, self.failing, self.neither)


class Prompt(msgspec.Struct, frozen=True):
    """The wording of one metric's question; another wording has another version."""

    metric: str
    language: str
    version: str
    words: Words
    system: str

    @property
    def name(self) -> str:
        """What a verdict records of it."""
        return f"{self.metric}.{self.language}@{self.version}"


@functools.cache
def prompt_of(metric: str, language: str) -> Prompt:
    """The prompt of a metric. Raises `InputError` where there is none."""
    name = f"{metric}.{language}.md"
    try:
        content = resources.files("liftbay.metrics").joinpath(name).read_bytes()
    except FileNotFoundError:
        raise InputError(
            "the metric {metric} has no prompt in the language {language}",
            place=name,
            metric=metric,
            language=language,
        ) from None
    return read_prompt(content, metric, language)


def read_prompt(content: bytes, metric: str, language: str) -> Prompt:
    """The prompt that a file holds. Raises `InputError` where it does not say its words."""
    file = _FILE.match(content.decode().replace("\r\n", "\n"))
    verdicts = _VERDICTS.search(file[1]) if file else None
    words = [word.strip() for word in verdicts[1].split(",")] if verdicts else []
    if file is None or len(words) not in (2, 3) or not all(words):
        raise InputError(
            "the prompt does not begin with its two or three verdicts",
            place=f"{metric}.{language}.md",
            remedy="begin it with the lines ---, verdicts: pass, fail and ---",
        )
    version = hashlib.sha256(content).hexdigest()[:_VERSION]
    return Prompt(metric, language, version, Words(*words), file[2].strip())
