"""Write the pages of docs/reference that are made from the program itself: `make docs`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import typer
from typer.core import TyperGroup
from typer.main import get_command

from liftbay.cli.commands import app

CLI_PAGE = Path(__file__).resolve().parent / "reference" / "cli.md"

_HEAD = """\
# Command line

<!-- Written by docs/generate.py from the commands themselves: run `make docs`, do not edit. -->

`--lang` and `--debug` may stand anywhere on the line. Exit codes are explained in [exit-codes.md](exit-codes.md), the
files in [files.md](files.md).
"""


def cli_page() -> str:
    """The reference of all commands, as Markdown."""
    root = get_command(app)
    return "\n".join((_HEAD, *_section(typer.Context(root, info_name="liftbay"))))


def _section(context: typer.Context) -> Iterator[str]:
    """A command and all that is below it."""
    command = context.command
    below = _commands_below(context)
    yield f"## `{context.command_path}`\n"
    yield f"{command.help}\n"
    yield f"```text\n{' '.join((context.command_path, *command.collect_usage_pieces(context)))}\n```\n"
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    yield from _table("option", [record for record in records if record is not None])
    if below:
        yield from _table("command", [(f"{inner.info_name}", inner.command.help or "") for inner in below])
    for inner in below:
        yield from _section(inner)


def _commands_below(context: typer.Context) -> list[typer.Context]:
    group = context.command
    if not isinstance(group, TyperGroup):
        return []
    commands = [(name, group.get_command(context, name)) for name in group.list_commands(context)]
    return [typer.Context(command, info_name=name, parent=context) for name, command in commands if command is not None]


def _table(title: str, rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield f"| {title} | meaning |"
    yield "|---|---|"
    for name, meaning in rows:
        yield f"| `{_cell(name)}` | {_cell(meaning)} |"
    yield ""


def _cell(text: str) -> str:
    """Text for a cell of a table, on one line."""
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    """Write the pages."""
    CLI_PAGE.write_text(cli_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
