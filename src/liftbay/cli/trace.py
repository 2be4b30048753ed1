"""`liftbay trace check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from liftbay.cli.options import AsJson, StoreUrl
from liftbay.language import tr

if TYPE_CHECKING:
    from liftbay.domain.trace import EvalTrace

trace = typer.Typer(help=tr("Traces of agents: check what they can feed."), no_args_is_help=True)


@trace.command(help=tr("Say which scopes traces can feed, and which attribute each other metric lacks."))
def check(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help=tr("Spans as OTLP (protobuf or JSON), EvalTraces, or an exported run."), metavar="FILE"),
    ] = None,
    run: Annotated[
        str | None, typer.Option(help=tr("Check the traces of a run (`last`: the newest)."), metavar="RUN")
    ] = None,
    store: StoreUrl = None,
    json_: AsJson = False,
) -> None:
    """Check traces. Exit code 1 where there is no trace at all."""
    from liftbay.cli.output import print_json  # noqa: PLC0415
    from liftbay.cli.readiness_text import checked, checked_text  # noqa: PLC0415
    from liftbay.errors import InputError  # noqa: PLC0415
    from liftbay.jobs.trace_files import traces_in  # noqa: PLC0415

    if not files and run is None:
        raise InputError("there is nothing to check", place="FILE", remedy="name a file of traces, or a run with --run")
    found = checked([*(one for file in files or () for one in traces_in(file)), *(_of_run(run, store) if run else ())])
    if json_:
        print_json(found)
    else:
        typer.echo(checked_text(found))
    if not found.traces:
        raise typer.Exit(1)


def _of_run(run: str, store: str | None) -> list[EvalTrace | None]:
    from liftbay.cli.runs import record_of, with_store  # noqa: PLC0415
    from liftbay.ports import RunStore  # noqa: PLC0415

    async def work(opened: RunStore) -> list[EvalTrace | None]:
        record = await record_of(opened, run)
        return [turn.trace async for result in opened.results(record.id) for turn in result.episode.turns]

    return with_store(store, work)
