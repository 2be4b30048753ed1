"""The pages of the catalog are those that the program would write now."""

import runpy
from pathlib import Path

import pytest

from liftbay.language import language

GENERATOR = runpy.run_path(str(Path(__file__).resolve().parents[2] / "docs" / "generate_catalog.py"))


@pytest.mark.parametrize("name", ["catalog.md", "catalog.ja.md"])
def test_page_is_fresh(name: str) -> None:
    text = {path.name: text for path, text in GENERATOR["pages"]().items()}[name]
    path = GENERATOR["REFERENCE"] / name
    assert path.read_text(encoding="utf-8") == text, "stale: run `make docs`"


def test_generating_leaves_the_language_alone() -> None:
    before = language()
    GENERATOR["pages"]()
    assert language() == before
