"""Tables and lines for the terminal, from text that nobody vouches for."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(text: str) -> str:
    """The text without what would act on a terminal: control characters, changes of direction, line ends."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _REPLACEMENT for character in text)


def table(names: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """Columns padded by the width that characters take on a terminal; numbers to the right."""
    shown = [[printable(text) for text in row] for row in (names, *rows)]
    widths = [max(cell_len(row[column]) for row in shown) for column in range(len(names))]
    lines = []
    for row in shown:
        cells = []
        for column, (text, width) in enumerate(zip(row, widths, strict=True)):
            padding = " " * (width - cell_len(text))
            cells.append(text + padding if column < text_columns else padding + text)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
