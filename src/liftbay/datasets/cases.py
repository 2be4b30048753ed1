"""The cases of a run: found, checked, versioned, and streamed again as often as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from liftbay.datasets.case_checks import doubts, faults
from liftbay.datasets.case_index import CaseIndex
from liftbay.datasets.mock_files import read_mock_data
from liftbay.datasets.problem import Problem, problem, problem_of
from liftbay.datasets.project import Project, find_project
from liftbay.datasets.sources import CaseSource, find_sources
from liftbay.domain.case import Case, MockData
from liftbay.domain.result import DatasetVersion
from liftbay.domain.vocabulary import DatasetType
from liftbay.errors import InputError, at

_SHOWN = 20


class Datasets:
    """The good cases of some sources, and what is wrong with the others.

    Only ids and digests were kept of the cases: `cases` reads the sources again.
    """

    def __init__(
        self,
        versions: list[DatasetVersion],
        mock_data: Mapping[str, MockData],
        problems: _Problems,
        parts: Mapping[DatasetType, list[_Part]],
    ) -> None:
        self.versions = versions  # in the order of `DatasetType`
        self.mock_data = mock_data
        self.errors = problems.errors
        self.warnings = problems.warnings
        self._parts = parts

    def cases(self, type_: DatasetType) -> Iterator[Case]:
        """The good cases of a type in the order of the sources, streamed.

        Raises `InputError` where a file became bad since it was checked.
        """
        for part in self._parts.get(type_, ()):
            for _, case in part.read():
                if case.dataset_type is type_:
                    yield case


def load_cases(paths: Sequence[str] = (), *, skip_invalid: bool = False, project: Project | None = None) -> Datasets:
    """The datasets that `paths` name: files, folders, `jmultiwoz:PATH`; none: those of the project.

    Raises `InputError` with the list of what is wrong, unless bad lines are to be left out.
    """
    datasets = check_cases(paths, project or find_project(Path.cwd()))
    if datasets.errors and not skip_invalid:
        raise InputError(
            "mistakes in the datasets: {count}",
            remedy="mend them (`liftbay datasets validate` lists them all), or leave them out with --skip-invalid",
            count=len(datasets.errors),
            details=[found.error for found in datasets.errors[:_SHOWN]],
        )
    return datasets


def check_cases(paths: Sequence[str], project: Project) -> Datasets:
    """The datasets that `paths` name, with all that is wrong with them and doubtful in them.

    Raises `InputError` where a path leads to no dataset.
    """
    sources = find_sources(paths, project)
    problems = _Problems()
    mock_data = read_mock_data(sources.mock_folders, problems.take)
    index = CaseIndex()
    try:
        parts = [
            _checked(number, source, sources.cases, mock_data, index, problems)
            for number, source in enumerate(sources.cases)
        ]
        versions = index.versions([source.name for source in sources.cases])
        by_type = {version.type: [parts[number] for number in index.sources(version.type)] for version in versions}
    finally:
        index.close()
    return Datasets(versions, mock_data, problems, by_type)


class _Problems:
    """What was found; warnings that differ in the line alone are counted as one."""

    def __init__(self) -> None:
        self.errors: list[Problem] = []
        self._warnings: dict[tuple[str, str | None, str], Problem] = {}

    @property
    def warnings(self) -> list[Problem]:
        return list(self._warnings.values())

    def take(self, found: Problem) -> None:
        if not found.warning:
            self.errors.append(found)
            return
        key = (found.file, found.field, str(found.error))
        first = self._warnings.get(key)
        self._warnings[key] = found if first is None else msgspec.structs.replace(first, lines=first.lines + 1)


class _Part(msgspec.Struct):
    """The good cases of one source."""

    source: CaseSource
    bad_lines: set[int]
    broken: bool = False  # it could be read up to a point only

    def read(self) -> Iterator[tuple[int, Case]]:
        """The cases again."""
        try:
            yield from self.source.read(_became_bad, self.bad_lines)
        except InputError:
            if not self.broken:
                raise


def _became_bad(found: Problem) -> None:
    if not found.warning:
        raise found.error


def _checked(
    number: int,
    source: CaseSource,
    sources: Sequence[CaseSource],
    mock_data: Mapping[str, MockData],
    index: CaseIndex,
    problems: _Problems,
) -> _Part:
    """Read a source through and find its bad lines."""
    part = _Part(source, set())

    def take(found: Problem) -> None:
        if not found.warning and found.line is not None:
            part.bad_lines.add(found.line)
        problems.take(found)

    try:
        for line, case in source.read(take):
            findings = list(faults(case, mock_data))
            if not findings and (first := index.add(case, number, line)):
                findings = [("id", _repeated(case, at(sources[first[0]].name, first[1])))]
            for field, error in findings:
                take(problem(source.name, line, field, error))
            if not findings:
                for field, error in doubts(case):
                    take(problem(source.name, line, field, error, warning=True))
    except InputError as error:
        part.broken = True
        problems.take(problem_of(error, source.name))
    return part


def _repeated(case: Case, first: str) -> InputError:
    return InputError(
        "the id {id} stands in {type} already: {first}",
        remedy="give each case of a dataset type an id of its own",
        id=case.id,
        type=case.dataset_type,
        first=first,
    )
