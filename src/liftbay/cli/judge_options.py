"""The options that say who judges and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from liftbay.language import tr

if TYPE_CHECKING:
    from liftbay.domain.judging import JudgeSettings

JudgeSpec = Annotated[
    str | None,
    typer.Option(
        help=tr(
            "Who judges: the address of an OpenAI-compatible endpoint, a judge file, cache:FILE with recorded answers, "
            "or off. Default: the project's."
        ),
        metavar="URL|FILE.toml|cache:FILE|off",
    ),
]
JudgeModel = Annotated[str | None, typer.Option(help=tr("The judge's model. Default: the only one that there is."))]
JudgeVotes = Annotated[int | None, typer.Option(help=tr("Votes for each verdict; the majority decides."), min=1)]
JudgeLanguage = Annotated[
    str | None, typer.Option(help=tr("Language of the judge's prompts and reasons."), metavar="en|ja")
]
JudgeConcurrency = Annotated[int | None, typer.Option(help=tr("Questions to the judge at once."), min=1)]
JudgeCacheUse = Annotated[
    str | None,
    typer.Option(
        help=tr("What the store's answers of judges are used for. Default: read-write."),
        metavar="read-write|read|write|off",
    ),
]


def settings_of(
    judge: str | None,
    model: str | None,
    votes: int | None,
    language: str | None,
    concurrency: int | None,
    cache: str | None,
    *,
    of_project: bool = True,
) -> JudgeSettings | None:
    """The judge that the options name, or else the project's where `of_project` says so, or None."""
    from pathlib import Path  # noqa: PLC0415

    import msgspec  # noqa: PLC0415

    from liftbay.datasets.project import find_project  # noqa: PLC0415
    from liftbay.wiring.judges import JudgeChoice, judge_settings  # noqa: PLC0415

    choice = JudgeChoice(judge=judge, model=model, votes=votes, language=language, concurrency=concurrency, cache=cache)
    project = find_project(Path.cwd())
    return judge_settings(choice, project if of_project else msgspec.structs.replace(project, judge=None))
