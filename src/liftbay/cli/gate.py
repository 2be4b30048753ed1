"""`liftbay gate`: stop a release where a run is worse than a baseline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from liftbay.cli.options import AsJson, RunId, StoreUrl
from liftbay.language import tr

if TYPE_CHECKING:
    from liftbay.domain.result import RunRecord
    from liftbay.errors import InputError
    from liftbay.jobs.gate import GateResult, Limits
    from liftbay.stores.answers import Store


def gate(
    head: RunId,
    baseline: Annotated[
        str, typer.Option(help=tr("What it is held against: a baseline's name or the id of a run."), metavar="BASE")
    ],
    max_drop: Annotated[
        float, typer.Option(help=tr("Drop of the pass rate that is allowed, in points."), min=0, max=100)
    ] = 2.0,
    alpha: Annotated[
        float,
        typer.Option(help=tr("How often the gate may fail where nothing is worse, as a share."), min=0.0001, max=0.49),
    ] = 0.05,
    min_coverage: Annotated[
        float,
        typer.Option(help=tr("Share of the baseline's trials that must be comparable."), min=0, max=1),
    ] = 0.95,
    junit: Annotated[Path | None, typer.Option(help=tr("Write the decision as JUnit XML too."), metavar="FILE")] = None,
    markdown: Annotated[
        Path | None, typer.Option(help=tr("Write the decision as Markdown too."), metavar="FILE")
    ] = None,
    store: StoreUrl = None,
    json_: AsJson = False,
) -> None:
    """Ends with 3 where the run is worse, and with 4 where that cannot be told."""
    from liftbay.cli.output import print_json  # noqa: PLC0415
    from liftbay.cli.runs import with_store  # noqa: PLC0415
    from liftbay.datasets.output import write_atomically  # noqa: PLC0415
    from liftbay.jobs.gate import EXIT_CODES, Limits  # noqa: PLC0415
    from liftbay.jobs.gate_forms import gate_junit, gate_markdown, gate_text  # noqa: PLC0415

    limits = Limits(max_drop=max_drop / 100, alpha=alpha, min_coverage=min_coverage)
    result = with_store(store, lambda opened: _decided(opened, head, baseline, limits))
    for path, form in ((junit, gate_junit), (markdown, gate_markdown)):
        if path is not None:
            write_atomically(path, [form(result).encode()], "choose another file")
    if json_:
        print_json(result)
    else:
        typer.echo(gate_text(result))
    raise typer.Exit(EXIT_CODES[result.decision])


async def _decided(store: Store, head: str, baseline: str, limits: Limits) -> GateResult:
    from liftbay.cli.runs import record_of  # noqa: PLC0415
    from liftbay.jobs.baselines import base_of  # noqa: PLC0415
    from liftbay.jobs.gate import gate as decide  # noqa: PLC0415
    from liftbay.jobs.pairing import paired  # noqa: PLC0415

    base, record = await base_of(store, baseline), await record_of(store, head)
    if base.request.scope != record.request.scope:
        raise _other_scope(base, record)
    return await decide(paired(store, base.id, record.id), base=base.id, head=record.id, limits=limits)


def _other_scope(base: RunRecord, head: RunRecord) -> InputError:
    from liftbay.errors import InputError  # noqa: PLC0415

    return InputError(
        "the runs are of two scopes, {base} and {head}: their pass rates mean different things",
        place=head.id,
        remedy="compare runs of one scope",
        base=base.request.scope,
        head=head.request.scope,
    )
