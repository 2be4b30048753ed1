"""Where cases come from: files, folders, the project, JMultiWOZ-TC."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

import msgspec

from liftbay.datasets.case_lines import cases_of_file
from liftbay.datasets.data_file import DataFile
from liftbay.datasets.jmultiwoz import PREFIX, Jmultiwoz
from liftbay.datasets.jmultiwoz_tc_files import INPUT
from liftbay.datasets.problem import Report
from liftbay.datasets.project import DATASETS, FILE_NAME, MOCKS, Project
from liftbay.domain.case import Case
from liftbay.errors import InputError, at

ENTRY_POINTS = "liftbay.datasets"  # a name, and a function that returns the path of a folder


class CaseSource(Protocol):
    """Something that cases can be read from, again and again."""

    @property
    def name(self) -> str:
        """What the source is called where a problem or a version names it."""

    def read(self, report: Report, skip: Collection[int] = ()) -> Iterator[tuple[int, Case]]:
        """The cases with their line numbers, but for the lines in `skip`; bad lines are reported and passed over.

        Raises `InputError` where the source cannot be read on.
        """


class CaseFile(msgspec.Struct, frozen=True):
    """A file of cases, JSON Lines."""

    file: DataFile

    @property
    def name(self) -> str:
        """The path of the file."""
        return str(self.file)

    def read(self, report: Report, skip: Collection[int] = ()) -> Iterator[tuple[int, Case]]:
        """The cases of the file."""
        return cases_of_file(self.file, report, skip)


class Sources(msgspec.Struct, frozen=True):
    """Where cases and mock data are."""

    cases: list[CaseSource]
    mock_folders: list[Path]


def find_sources(paths: Sequence[str], project: Project) -> Sources:
    """The sources that `paths` name: files, folders, `jmultiwoz:PATH`, the datasets of installed packages; none: those
    of the project.

    Mock data is in the project's folder for it, and in folders `mocks` beside the files and in and beside the folders
    given.
    Raises `InputError` where a path leads to no dataset.
    """
    cases: list[CaseSource] = []
    files: dict[Path, Path] = {}
    mocks = [project.root / MOCKS]
    for path in paths or (str(project.root / DATASETS),):
        if path.startswith(PREFIX):
            cases.append(Jmultiwoz(Path(path.removeprefix(PREFIX))))
            continue
        place = installed(path) or Path(path)
        for file in _files_of(place):
            files.setdefault(file.resolve(), file)
            mocks.append(file.parent / MOCKS)
        if place.is_dir():
            mocks += [place / MOCKS, place.parent / MOCKS]
    found = [CaseFile(DataFile(_from_here(file))) for file in files.values()]
    return Sources([*found, *cases], [folder for folder in dict.fromkeys(mocks) if folder.is_dir()])


def lasting(path: str) -> str:
    """The name of a source as it can be found again from another folder."""
    if path.startswith(PREFIX):
        return PREFIX + str(Path(path.removeprefix(PREFIX)).absolute())
    return path if installed(path) else str(Path(path).absolute())


def installed(name: str) -> Path | None:
    """The folder of the datasets that an installed package has under this name; a file or folder comes first."""
    return None if Path(name).exists() else of_package(name)


def of_package(name: str) -> Path | None:
    """The folder of the datasets that an installed package has under this name."""
    found = {point.name: point for point in entry_points(group=ENTRY_POINTS)}.get(name)
    return None if found is None else Path(found.load()())


def _files_of(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.exists():
        raise InputError(
            "there is no such file or folder",
            place=at(path),
            remedy="give files (*.jsonl) or folders with them; `liftbay init` makes a project with examples",
        )
    folder = path / DATASETS if (path / FILE_NAME).is_file() else path
    files = [file for file in sorted(folder.rglob("*.jsonl")) if file.is_file() and _may_hold_cases(file, folder)]
    if (folder / INPUT).is_file():
        raise InputError(
            "this folder holds JMultiWOZ-TC", place=at(path), remedy="give it as {name}", name=f"{PREFIX}{path}"
        )
    if not files:
        raise InputError(
            "there is no dataset in this folder",
            place=at(folder),
            remedy="write cases into *.jsonl files there; `liftbay init` makes a project with examples",
        )
    return files


def _may_hold_cases(file: Path, folder: Path) -> bool:
    """Whether no folder on the way to the file is hidden or for mock data."""
    return not any(part == MOCKS or part.startswith(".") for part in file.relative_to(folder).parts)


def _from_here(path: Path) -> Path:
    """The path as a user would write it: relative where it is below the working folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
