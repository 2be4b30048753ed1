"""The language of messages: English in the source, Japanese from `locale/ja.toml`, keyed by the English text."""

from __future__ import annotations

import functools
from collections.abc import Mapping

LANGUAGES = ("en", "ja")
_current = "en"


def use_language(language: str) -> None:
    """Say everything from now on in `language`, one of `LANGUAGES`."""
    global _current  # noqa: PLW0603 - one process speaks one language, chosen once at the edge
    _current = language


def language() -> str:
    """The language in use."""
    return _current


def language_of(environment: Mapping[str, str]) -> str:
    """The language that the locale variables ask for: Japanese, or else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environment.get(name):
            return "ja" if value.lower().startswith("ja") else "en"
    return "en"


def tr(text: str, /, **values: object) -> str:
    """`text` in the language in use, with `values` filled in as `str.format` does."""
    return in_language(text).format(**values)


def in_language(text: str) -> str:
    """`text` in the language in use, as it stands: braces in it are no placeholders."""
    return _catalogue().get(text, text) if _current == "ja" else text


@functools.cache
def _catalogue() -> dict[str, str]:
    import tomllib  # noqa: PLC0415 - costs 10 ms of every start in English
    from importlib import resources  # noqa: PLC0415

    source = resources.files("liftbay").joinpath("locale/ja.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(source)["messages"]
    return {entry["en"]: entry["ja"] for entry in entries}
