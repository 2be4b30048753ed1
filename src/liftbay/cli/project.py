"""`liftbay init`: a new project with examples."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import typer

from liftbay.language import language, tr

_IGNORE = ".liftbay/.gitignore"


def init(
    path: Annotated[
        Path, typer.Argument(help=tr("Folder of the project; made if missing."), metavar="[PATH]", readable=False)
    ] = Path(),
) -> None:
    """Write the files of a project."""
    from liftbay.datasets.output import make_folder, writing  # noqa: PLC0415
    from liftbay.errors import InputError  # noqa: PLC0415

    files = _starter_files()
    there = [name for name in files if (path / name).exists()]
    if there == [_IGNORE]:  # runs were made here before
        del files[_IGNORE]
    elif there:
        raise InputError(
            "these files are there already, and nothing was written: {files}",
            place=str(path),
            remedy="choose another folder, or move them away",
            files=", ".join(there),
        )
    elsewhere = "choose another folder"
    for name, content in files.items():
        make_folder((path / name).parent, elsewhere)
        with writing(path / name, elsewhere), (path / name).open("xb") as stream:
            stream.write(content)
        typer.echo(tr("written: {path}", path=path / name))
    typer.echo(tr("next: liftbay datasets validate, in the folder {path}", path=path.resolve()))


def _starter_files() -> dict[str, bytes]:
    """The files of a new project by their path in it, in the language in use."""
    found = {_IGNORE: b"*\n"}
    for place, file in _below(resources.files("liftbay.cli").joinpath("starter", language())):
        found[place.removesuffix(".txt")] = file.read_bytes()
    return dict(sorted(found.items()))


def _below(folder: Traversable, place: str = "") -> list[tuple[str, Traversable]]:
    found = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _below(entry, f"{place}{entry.name}/")
        else:
            found.append((f"{place}{entry.name}", entry))
    return found
