"""`liftbay explain`: why two runs differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from liftbay.cli.options import OutputFile, RunId, StoreUrl
from liftbay.language import tr

if TYPE_CHECKING:
    from liftbay.diagnosis.explanation import Explained
    from liftbay.stores.answers import Store

_FORMS = "text|json|markdown"
_BY_SUFFIX = {".json": "json", ".md": "markdown"}


def explain(
    base: Annotated[
        str, typer.Argument(help=tr("What it is held against: a baseline's name or the id of a run."), metavar="BASE")
    ],
    head: RunId,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help=tr("Form of the output. Default: by the name of --output, else text."), metavar=_FORMS
        ),
    ] = None,
    output: OutputFile = None,
    store: StoreUrl = None,
) -> None:
    """Explain the change from one run to another."""
    from liftbay.cli.output import form_of  # noqa: PLC0415
    from liftbay.cli.runs import with_store  # noqa: PLC0415
    from liftbay.datasets.output import write_atomically  # noqa: PLC0415
    from liftbay.jobs.explain import Form, rendered  # noqa: PLC0415

    wanted = form_of(Form, form, output, _BY_SUFFIX)
    text = rendered(with_store(store, lambda opened: _found(opened, base, head)), wanted)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_atomically(output, [text.encode()], "choose another file with --output")
        typer.echo(tr("written: {path}", path=output))


async def _found(store: Store, base: str, head: str) -> Explained:
    from liftbay.cli.runs import record_of  # noqa: PLC0415
    from liftbay.jobs.baselines import base_of  # noqa: PLC0415
    from liftbay.jobs.explain import explained  # noqa: PLC0415

    return await explained(store, await base_of(store, base), await record_of(store, head))
