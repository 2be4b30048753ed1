"""How an answer is laid out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from liftbay_demo.perception.places_and_money import SALES_COUNTRIES


class Style(NamedTuple):
    """What the user wants of the form."""

    no_tables: bool = False
    brief: bool = False

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
        """A table in Markdown; a list where the user wants none."""
        if self.no_tables:
            return "\n".join(
                "- " + "、".join(f"{name}: {said(cell)}" for name, cell in zip(head, row, strict=True)) for row in rows
            )
        lines = [head, ["---"] * len(head), *([said(cell).replace("|", "\\|") for cell in row] for row in rows)]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def sections(self, headings: Sequence[str], contents: Sequence[str]) -> str:
        """The contents under the Skill's headings; only the first where the user wants it short."""
        pairs = list(zip(headings, contents, strict=False)) + [
            (extra, "該当なし") for extra in headings[len(contents) :]
        ]
        if not pairs:
            return "\n\n".join(contents)
        return "\n\n".join(f"## {heading}\n{content}" for heading, content in (pairs[:1] if self.brief else pairs))


def said(value: Any) -> str:
    """A value as it stands in a cell."""
    if value is None or value == "":
        return "なし"
    if isinstance(value, bool):
        return "はい" if value else "いいえ"
    if isinstance(value, list | tuple):
        return "、".join(said(one) for one in value) or "なし"
    if isinstance(value, dict):
        return "、".join(f"{name} {said(one)}" for name, one in value.items()) or "なし"
    return str(value).replace("\n", " ")


def country(code: Any) -> str:
    """A country with its code."""
    name = SALES_COUNTRIES.get(str(code))
    return f"{name}({code})" if name else str(code)


def when(moment: Any) -> str:
    """A time as people read it."""
    text = str(moment or "")
    return text[:16].replace("T", " ") if "T" in text else said(moment)
