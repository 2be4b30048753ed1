"""`liftbay baseline`: set, list, remove."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from liftbay.cli.options import AsJson, RunId, StoreUrl
from liftbay.language import tr

if TYPE_CHECKING:
    from liftbay.stores.answers import Store

Name = Annotated[str, typer.Argument(help=tr("Name of the baseline."), metavar="NAME")]

baseline = typer.Typer(help=tr("Names for runs that others are held against: set, list, remove."), no_args_is_help=True)


@baseline.command("set", help=tr("Let a name mean a run, in place of what it meant."))
def set_(name: Name, run: RunId, store: StoreUrl = None) -> None:
    """Set a baseline."""
    from liftbay.cli.runs import record_of, with_store  # noqa: PLC0415
    from liftbay.jobs.baselines import set_baseline  # noqa: PLC0415

    async def work(opened: Store) -> str:
        record = await record_of(opened, run)
        await set_baseline(opened, name, record.id)
        return record.id

    typer.echo(tr("{name} is now {run}", name=name, run=with_store(store, work)))


@baseline.command("list", help=tr("List baselines with their runs."))
def list_(store: StoreUrl = None, json_: AsJson = False) -> None:
    """List baselines."""
    from liftbay.cli.output import print_json  # noqa: PLC0415
    from liftbay.cli.runs import with_store  # noqa: PLC0415
    from liftbay.report.table import table  # noqa: PLC0415

    async def work(opened: Store) -> list[tuple[str, str]]:
        return await opened.baselines()

    found = with_store(store, work)
    if json_:
        print_json([{"name": name, "run": run} for name, run in found])
    elif not found:
        typer.echo(tr("there are no baselines"))
    else:
        typer.echo(table((tr("name"), tr("run")), found, text_columns=2))


@baseline.command(help=tr("Forget a name; the run stays."))
def remove(name: Name, store: StoreUrl = None) -> None:
    """Remove a baseline."""
    from liftbay.cli.runs import with_store  # noqa: PLC0415
    from liftbay.jobs.baselines import remove_baseline  # noqa: PLC0415

    async def work(opened: Store) -> None:
        await remove_baseline(opened, name)

    with_store(store, work)
    typer.echo(tr("removed: {run}", run=name))
