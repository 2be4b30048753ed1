"""`liftbay power`: what a comparison of so many cases can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from liftbay.cli.options import AsJson
from liftbay.language import tr

if TYPE_CHECKING:
    from liftbay.errors import InputError


def power(
    rate: Annotated[float, typer.Option(help=tr("Pass rate of the baseline, as a share."), min=0, max=1)],
    drop: Annotated[float, typer.Option(help=tr("Drop that should be found, in points."), min=0.01, max=100)],
    cases: Annotated[
        int | None,
        typer.Option(help=tr("Cases that both runs have. Default: say how many it takes."), min=2, metavar="N"),
    ] = None,
    trials: Annotated[int, typer.Option(help=tr("Trials of each case."), min=1, metavar="K")] = 1,
    discordant: Annotated[
        float | None,
        typer.Option(
            help=tr(
                "Share of pairs that only one of the runs passes. Default: as if the runs agreed by chance alone, "
                "which asks for the most cases."
            ),
            min=0,
            max=1,
            metavar="P",
        ),
    ] = None,
    correlation: Annotated[
        float, typer.Option(help=tr("How far the trials of one case repeat each other, from 0 to 1."), min=0, max=1)
    ] = 0.5,
    alpha: Annotated[
        float,
        typer.Option(help=tr("How often the gate may fail where nothing is worse, as a share."), min=0.0001, max=0.49),
    ] = 0.05,
    json_: AsJson = False,
) -> None:
    """Say the power, or the number of cases."""
    from liftbay.cli.output import print_json  # noqa: PLC0415
    from liftbay.scoring.power import (  # noqa: PLC0415
        WANTED_POWER,
        Design,
        cases_needed,
        design,
        independent_discordance,
    )

    share = drop / 100
    if share > rate:
        raise _too_much(rate, drop)
    apart = independent_discordance(rate, share) if discordant is None else discordant
    if apart < share:
        raise _too_few(apart, drop)

    def of(number: int) -> Design:
        return design(cases=number, trials=trials, discordant=apart, correlation=correlation, alpha=alpha)

    needed = cases_needed(share, of)
    chance = None if cases is None else of(cases).power(share)
    detectable = None if cases is None else of(cases).detectable()
    if json_:
        print_json(
            {
                "power": chance,
                "detectableDrop": detectable,
                "casesNeeded": needed,
                "wantedPower": WANTED_POWER,
                "discordant": apart,
            }
        )
        return
    if chance is not None:
        typer.echo(tr("{cases} cases find a drop of {drop} points in {power} % of runs.", **_said(cases, drop, chance)))
    if detectable is not None:
        typer.echo(tr("They find {drop} points in 80 % of runs.", drop=f"{detectable * 100:.1f}"))
    if needed is None:
        typer.echo(tr("No number of cases finds a drop of {drop} points in 80 % of runs.", drop=f"{drop:g}"))
    else:
        typer.echo(tr("{cases} cases find a drop of {drop} points in 80 % of runs.", cases=needed, drop=f"{drop:g}"))
    typer.echo(tr("(assumed: {share} % of the pairs are passed by one run only)", share=f"{apart * 100:.1f}"))


def _said(cases: int | None, drop: float, chance: float) -> dict[str, object]:
    return {"cases": cases, "drop": f"{drop:g}", "power": f"{chance * 100:.1f}"}


def _too_much(rate: float, drop: float) -> InputError:
    from liftbay.errors import InputError  # noqa: PLC0415

    return InputError(
        "a rate of {rate} cannot drop by {drop} points",
        place="--drop",
        remedy="give the rate as a share and the drop in points, --rate 0.85 --drop 2 for example",
        rate=f"{rate:g}",
        drop=f"{drop:g}",
    )


def _too_few(discordant: float, drop: float) -> InputError:
    from liftbay.errors import InputError  # noqa: PLC0415

    return InputError(
        "with {discordant} of the pairs apart there is no drop of {drop} points",
        place="--discordant",
        remedy="give a share that is no smaller than the drop",
        discordant=f"{discordant:g}",
        drop=f"{drop:g}",
    )
