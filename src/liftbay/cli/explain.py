"""`liftbay explain`: why two runs differ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from liftbay.cli.options import RunId, StoreUrl
from liftbay.language import tr

if TYPE_CHECKING:
    from liftbay.diagnosis.explanation import Explained
    from liftbay.jobs.explain import Form

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
    output: Annotated[
        Path | None,
        typer.Option(help=tr("File to write; replaced if it is there. Default: standard output."), metavar="FILE"),
    ] = None,
    store: StoreUrl = None,
) -> None:
    """Explain the change from one run to another."""
    import asyncio  # noqa: PLC0415

    from liftbay.datasets.output import write_atomically  # noqa: PLC0415
    from liftbay.jobs.explain import rendered  # noqa: PLC0415

    wanted = _form(form, output)
    text = rendered(asyncio.run(_found(store, base, head)), wanted)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_atomically(output, [text.encode()], "choose another file with --output")
        typer.echo(tr("written: {path}", path=output))


async def _found(url: str | None, base: str, head: str) -> Explained:
    from liftbay.cli.runs import record_of  # noqa: PLC0415
    from liftbay.jobs.baselines import base_of  # noqa: PLC0415
    from liftbay.jobs.explain import explained  # noqa: PLC0415
    from liftbay.wiring.stores import store_of  # noqa: PLC0415

    store = await store_of(url, create=False)
    try:
        return await explained(store, await base_of(store, base), await record_of(store, head))
    finally:
        await store.close()


def _form(name: str | None, output: Path | None) -> Form:
    from liftbay.errors import InputError  # noqa: PLC0415
    from liftbay.jobs.explain import Form  # noqa: PLC0415

    chosen = name or (_BY_SUFFIX.get(output.suffix.lower(), "text") if output else "text")
    try:
        return Form(chosen)
    except ValueError:
        raise InputError(
            "there is no {name}", place="--format", remedy="give one of: {names}", name=chosen, names=", ".join(Form)
        ) from None
