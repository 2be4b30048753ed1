"""`liftbay report`: the report of a run that is kept, in the form that is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from liftbay.cli.options import OutputFile, RunId, StoreUrl
from liftbay.language import tr

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Iterator


_FORMS = "text|json|html|markdown|junit|csv"
_BY_SUFFIX = {
    ".txt": "text",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".xml": "junit",
    ".csv": "csv",
}


def report(
    run: RunId,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help=tr("Form of the report. Default: by the name of --output, else text."), metavar=_FORMS
        ),
    ] = None,
    output: OutputFile = None,
    store: StoreUrl = None,
) -> None:
    """Write the report of a run."""
    import asyncio  # noqa: PLC0415
    import sys  # noqa: PLC0415

    from liftbay.cli.output import form_of  # noqa: PLC0415
    from liftbay.cli.runs import record_of  # noqa: PLC0415
    from liftbay.datasets.output import write_atomically  # noqa: PLC0415
    from liftbay.jobs.reporting import Form, written  # noqa: PLC0415
    from liftbay.wiring.stores import store_of  # noqa: PLC0415

    wanted = form_of(Form, form, output, _BY_SUFFIX)
    with asyncio.Runner() as runner:
        opened = runner.run(store_of(store, create=False))
        try:
            record = runner.run(record_of(opened, run))
            pieces = _stepped(runner, written(opened, record, wanted))
            if output is None:
                sys.stdout.flush()
                sys.stdout.buffer.writelines(pieces)
                sys.stdout.buffer.flush()
            else:
                write_atomically(output, pieces, "choose another file with --output")
        finally:
            runner.run(opened.close())
    if output is not None:
        typer.echo(tr("written: {path}", path=output))


_AT_ONCE = 64


def _stepped(runner: asyncio.Runner, pieces: AsyncIterator[bytes]) -> Iterator[bytes]:
    """The pieces from outside the loop, a few at a time."""

    async def some() -> bytes:
        taken = bytearray()
        for _ in range(_AT_ONCE):
            piece = await anext(pieces, None)
            if piece is None:
                break
            taken += piece
        return bytes(taken)

    while taken := runner.run(some()):
        yield taken
