"""The files of `liftbay.metrics` against the catalog, and their words against the Japanese messages."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import liftbay.metrics
from liftbay.catalog.metrics import METRICS

FOLDER = Path(liftbay.metrics.__path__[0])
FILES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")
REASONS_STAND_SECOND = {"failed", "not_applicable", "erred", "excluded"}


def test_every_file_is_in_the_catalog() -> None:
    assert sorted(METRICS) == FILES


@pytest.mark.parametrize("name", FILES)
def test_the_name_of_the_file_is_the_id(name: str) -> None:
    assert METRICS[name].id == name


@pytest.mark.parametrize("name", FILES)
def test_name_and_definition_are_in_both_languages(name: str) -> None:
    for text in (METRICS[name].name, METRICS[name].definition):
        assert text.en.isascii() or "–" in text.en or "…" in text.en
        assert any("\u3040" <= character <= "\u9fff" for character in text.ja)


def reasons() -> Iterator[str]:
    """The reasons that metrics give, as far as they stand in the call."""
    for name in FILES:
        for node in ast.walk(ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=function), args=[_, ast.Constant(value=str(reason)), *_]) if (
                    function in REASONS_STAND_SECOND
                ):
                    yield reason


def test_every_reason_has_japanese() -> None:
    source = (FOLDER.parent / "locale" / "ja.toml").read_text(encoding="utf-8")
    known = {entry["en"] for entry in tomllib.loads(source)["messages"]}
    found = set(reasons())
    assert len(found) > 20, "the scan finds too little: did the way of giving reasons change?"
    assert sorted(found - known) == []
