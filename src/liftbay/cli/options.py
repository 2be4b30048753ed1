"""Options that several commands have, each said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liftbay.language import tr

AsJson = Annotated[bool, typer.Option("--json", help=tr("Print JSON, for scripts."))]
RunId = Annotated[str, typer.Argument(help=tr("Id of the run, or `last` for the newest."), metavar="RUN")]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        help=tr(
            "Where runs are kept: sqlite:///PATH or postgresql://USER@HOST/DATABASE. Default: the project's store."
        ),
        metavar="URL",
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(help=tr("File to write; replaced if it is there. Default: standard output."), metavar="FILE"),
]
