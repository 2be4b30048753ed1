"""`liftbay runs`: list, show, rm, export."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from liftbay.cli.options import AsJson, RunId, StoreUrl
from liftbay.language import tr

if TYPE_CHECKING:
    import asyncio

    from liftbay.domain.result import RunRecord
    from liftbay.errors import InputError
    from liftbay.ports import RunStore
    from liftbay.stores.answers import Store

T = TypeVar("T")
_PAGE = 2000  # results
_RUNS_AT_ONCE = 50
_LINES_AT_ONCE = 64

runs = typer.Typer(help=tr("Runs that are kept: list, show, remove, export."), no_args_is_help=True)


@runs.command("list", help=tr("List runs, the newest first."))
def list_(
    store: StoreUrl = None,
    limit: Annotated[int, typer.Option(help=tr("At most so many."), min=1)] = 50,
    json_: AsJson = False,
) -> None:
    """List runs."""
    from liftbay.cli.output import print_json  # noqa: PLC0415
    from liftbay.report.table import table  # noqa: PLC0415

    async def work(opened: RunStore) -> list[tuple[RunRecord, int]]:
        return [(run, (await opened.page(run.id, limit=0)).total) for run in await opened.runs(limit=limit)]

    found = with_store(store, work)
    if json_:
        print_json([_as_json(run, results=total) for run, total in found])
    elif not found:
        typer.echo(tr("there are no runs"))
    else:
        names = (tr("run"), tr("state"), tr("submitted"), tr("scope"), tr("agent"), tr("trials done"))
        rows = [
            (run.id, run.state.value, run.submitted, run.request.scope, _agent(run), f"{total}/{run.planned}")
            for run, total in found
        ]
        typer.echo(table(names, rows, text_columns=5))


@runs.command(help=tr("Show a run: its state, what was asked for, and how its trials ended."))
def show(run: RunId, store: StoreUrl = None, json_: AsJson = False) -> None:
    """Show a run."""
    from liftbay.cli.output import print_json  # noqa: PLC0415

    async def work(opened: RunStore) -> tuple[RunRecord, dict[str, int]]:
        record = await record_of(opened, run)
        return record, await _outcomes(opened, record.id)

    record, outcomes = with_store(store, work)
    if json_:
        print_json(_as_json(record, results=sum(outcomes.values()), outcomes=outcomes))
    else:
        typer.echo(_shown(record, outcomes))


@runs.command(help=tr("Remove a run and its results."))
def rm(run: RunId, store: StoreUrl = None) -> None:
    """Remove a run."""

    from liftbay.jobs.execute import refuse_if_worked_on  # noqa: PLC0415

    async def work(opened: RunStore) -> str:
        record = await record_of(opened, run)
        refuse_if_worked_on(record)
        await opened.remove_run(record.id)
        return record.id

    typer.echo(tr("removed: {run}", run=with_store(store, work)))


@runs.command(help=tr("Write the results of a run with their traces as JSON Lines."))
def export(
    run: RunId,
    output: Annotated[Path, typer.Option(help=tr("File to write; replaced if it is there."), metavar="FILE")],
    store: StoreUrl = None,
) -> None:
    """Export a run."""
    import asyncio  # noqa: PLC0415

    from liftbay.datasets.output import write_atomically  # noqa: PLC0415

    with asyncio.Runner() as runner:
        opened = runner.run(_open(store))
        try:
            record = runner.run(record_of(opened, run))
            elsewhere = "choose another file with --output"
            write_atomically(output, _lines(runner, opened.results(record.id)), elsewhere)
        finally:
            runner.run(opened.close())
    typer.echo(tr("written: {path}", path=output))


async def _open(url: str | None) -> Store:
    from liftbay.wiring.stores import store_of  # noqa: PLC0415

    return await store_of(url, create=False)


def with_store(url: str | None, work: Callable[[Store], Coroutine[Any, Any, T]]) -> T:
    """Do some work on the store and close it."""
    import asyncio  # noqa: PLC0415

    async def run() -> T:
        opened = await _open(url)
        try:
            return await work(opened)
        finally:
            await opened.close()

    return asyncio.run(run())


async def record_of(opened: RunStore, run: str) -> RunRecord:
    """The run of an id; `last` is the newest that does not replay another."""
    seen = 0
    while run == "last" and (page := await opened.runs(limit=_RUNS_AT_ONCE, offset=seen)):
        found = next((one for one in page if one.request.confirms is None), None)
        if found is not None:
            return found
        seen += len(page)
    record = await opened.run(run)
    if record is None:
        raise _no_run(run)
    return record


def _no_run(run: str) -> InputError:
    from liftbay.errors import InputError  # noqa: PLC0415

    return InputError("the store has no such run", place=run, remedy="list the runs with liftbay runs list")


async def _outcomes(opened: RunStore, run: str) -> dict[str, int]:
    """How many trials ended how."""
    from liftbay.domain.result import Outcome  # noqa: PLC0415

    counts = {outcome.value: 0 for outcome in Outcome}
    seen = 0
    while rows := (await opened.page(run, limit=_PAGE, offset=seen)).rows:
        for row in rows:
            counts[row.outcome.value] += 1
        seen += len(rows)
    return counts


def _lines(runner: asyncio.Runner, results: AsyncIterator[Any]) -> Iterator[bytes]:
    """The results as JSON Lines, a few at a time."""
    import msgspec  # noqa: PLC0415

    async def some() -> bytes:
        lines = bytearray()
        for _ in range(_LINES_AT_ONCE):
            result = await anext(results, None)
            if result is None:
                break
            lines += msgspec.json.encode(result) + b"\n"
        return bytes(lines)

    while lines := runner.run(some()):
        yield lines


def _as_json(run: RunRecord, **more: Any) -> dict[str, Any]:
    import msgspec  # noqa: PLC0415

    record: dict[str, Any] = msgspec.to_builtins(run)
    return record | more


def _agent(run: RunRecord) -> str:
    return run.agent_name or run.request.agent


def _shown(run: RunRecord, outcomes: dict[str, int]) -> str:
    """A run as text: a line for all that is known of it."""
    import msgspec  # noqa: PLC0415

    facts = {
        tr("run"): run.id,
        tr("state"): run.state.value,
        tr("submitted"): run.submitted,
        tr("started"): run.started,
        tr("ended"): run.ended,
        tr("agent"): " ".join(filter(None, (_agent(run), run.agent_version))),
        tr("error"): run.error,
        tr("trials done"): f"{sum(outcomes.values())}/{run.planned}",
    }
    sections = [
        _section("", facts),
        _section(tr("Asked for:"), msgspec.to_builtins(run.request)),
        _section(
            tr("Datasets:"),
            {version.type.value: f"{version.cases}  {version.version[:12]}" for version in run.datasets},
        ),
        _section(tr("Outcomes of the trials:"), outcomes),
    ]
    return "\n\n".join(filter(None, sections))


def _section(title: str, facts: dict[str, Any]) -> str:
    from liftbay.report.table import table  # noqa: PLC0415

    rows = [(name, str(value)) for name, value in facts.items() if value is not None]
    if not rows:
        return ""
    lines = table(rows[0], rows[1:], text_columns=2).splitlines()
    return "\n".join([title, *(f"  {line}" for line in lines)] if title else lines)
