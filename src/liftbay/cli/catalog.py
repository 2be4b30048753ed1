"""`liftbay catalog`: what can be evaluated, as tables or as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from liftbay.cli.options import AsJson
from liftbay.cli.output import print_json
from liftbay.language import tr

if TYPE_CHECKING:
    from liftbay.errors import InputError


def catalog(
    table: Annotated[
        str | None,
        typer.Argument(help=tr("scopes, metrics, datasets or probes. Default: all of them."), metavar="TABLE"),
    ] = None,
    name: Annotated[
        str | None, typer.Argument(help=tr("A row of the table, shown with all that is known of it."), metavar="NAME")
    ] = None,
    json_: AsJson = False,
) -> None:
    """Print the catalog."""
    from liftbay.catalog.rows import tables  # noqa: PLC0415
    from liftbay.cli.catalog_text import detail, overview  # noqa: PLC0415

    found = tables()
    if table is None:
        if json_:
            print_json({each: list(rows.values()) for each, rows in found.items()})
        else:
            typer.echo("\n\n".join(map(overview, found)))
        return
    if table not in found:
        raise _unknown(table, found)
    if name is not None and name not in found[table]:
        raise _unknown(name, found[table])
    if json_:
        print_json(list(found[table].values()) if name is None else found[table][name])
    else:
        typer.echo(overview(table) if name is None else detail(table, name))


def _unknown(given: str, known: Iterable[str]) -> InputError:
    from liftbay.errors import InputError  # noqa: PLC0415

    return InputError(
        "the catalog has nothing of this name", place=given, remedy="give one of: {names}", names=", ".join(known)
    )
