"""A table for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len


def table(names: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """Columns padded by the width that characters take on a terminal; numbers to the right."""
    widths = [max(cell_len(row[column]) for row in (names, *rows)) for column in range(len(names))]
    lines = []
    for row in (names, *rows):
        cells = []
        for column, (text, width) in enumerate(zip(row, widths, strict=True)):
            padding = " " * (width - cell_len(text))
            cells.append(text + padding if column < text_columns else padding + text)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
