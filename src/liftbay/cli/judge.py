"""`liftbay judge`: the answers of judges that a store keeps, to and from a file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from liftbay.cli.options import StoreUrl
from liftbay.language import tr

if TYPE_CHECKING:
    import asyncio

judge = typer.Typer(help=tr("Answers of judges that the store keeps: export, import."), no_args_is_help=True)

_LINES_AT_ONCE = 256


@judge.command(help=tr("Write the answers of judges that the store keeps as JSON Lines, for --judge cache:FILE."))
def export(
    file: Annotated[Path, typer.Argument(help=tr("File to write; replaced if it is there."), metavar="FILE")],
    store: StoreUrl = None,
) -> None:
    """Export the answers."""
    import asyncio  # noqa: PLC0415

    from liftbay.datasets.output import write_atomically  # noqa: PLC0415
    from liftbay.wiring.stores import store_of  # noqa: PLC0415

    with asyncio.Runner() as runner:
        opened = runner.run(store_of(store, create=False))
        try:
            write_atomically(file, _lines(runner, opened.answers()), "choose another file")
        finally:
            runner.run(opened.close())
    typer.echo(tr("written: {path}", path=file))


@judge.command("import", help=tr("Keep the answers of a file in the store; what it has already stays."))
def import_(
    file: Annotated[Path, typer.Argument(help=tr("File that was exported."), metavar="FILE")],
    store: StoreUrl = None,
) -> None:
    """Import answers."""
    import asyncio  # noqa: PLC0415

    import msgspec  # noqa: PLC0415

    from liftbay.wiring.judges import answer_lines  # noqa: PLC0415
    from liftbay.wiring.stores import store_of  # noqa: PLC0415

    async def work() -> tuple[int, int]:
        answers = [(line.key, msgspec.json.encode(line.answer).decode()) for line in answer_lines(file)]
        opened = await store_of(store)
        try:
            return await opened.keep_all(answers), len(answers)
        finally:
            await opened.close()

    new, read = asyncio.run(work())
    typer.echo(tr("{read} answers read, {new} of them new", read=read, new=new))


def _lines(runner: asyncio.Runner, answers: AsyncIterator[tuple[str, str]]) -> Iterator[bytes]:
    """The answers as JSON Lines, some at a time."""
    import msgspec  # noqa: PLC0415

    async def some() -> bytes:
        lines = bytearray()
        for _ in range(_LINES_AT_ONCE):
            pair = await anext(answers, None)
            if pair is None:
                break
            lines += msgspec.json.encode({"key": pair[0], "answer": msgspec.Raw(pair[1].encode())}) + b"\n"
        return bytes(lines)

    while lines := runner.run(some()):
        yield lines
