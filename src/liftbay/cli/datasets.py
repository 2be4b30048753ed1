"""`liftbay datasets`: check cases before they are run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liftbay.cli.options import AsJson
from liftbay.language import tr

datasets = typer.Typer(help=tr("The cases that an agent is evaluated on."), no_args_is_help=True)


@datasets.callback()
def group() -> None:
    """Keep `validate` a command of its own while it is the only one."""


@datasets.command(help=tr("Check every case: each bad line with its file, line, field and remedy."))
def validate(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help=tr("Files or folders with cases, or jmultiwoz:PATH. Default: those of the project."),
            metavar="[PATH]...",
        ),
    ] = None,
    json_: AsJson = False,
) -> None:
    """Validate datasets."""
    from liftbay.cli import datasets_text  # noqa: PLC0415
    from liftbay.cli.output import print_json  # noqa: PLC0415
    from liftbay.datasets.cases import check_cases  # noqa: PLC0415
    from liftbay.datasets.project import find_project  # noqa: PLC0415

    found = check_cases(paths or [], find_project(Path.cwd()))
    if json_:
        print_json(datasets_text.as_json(found, _recommended()))
    else:
        typer.echo(datasets_text.text(found, _recommended()))
    if found.errors:
        raise typer.Exit(2)


def _recommended() -> dict[str, int]:
    """The recommended sizes of the dataset types."""
    from liftbay.catalog.dataset_types import DATASET_TYPES  # noqa: PLC0415

    return {type_: info.recommended_size for type_, info in DATASET_TYPES.items()}
