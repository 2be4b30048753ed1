"""Mock data: JSON Lines, or JSON with one object or a list of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from liftbay.datasets.data_file import DataFile, read_json
from liftbay.datasets.json_lines import field_error, line_error, lines
from liftbay.datasets.problem import Report, problem, problem_of
from liftbay.domain.case import MockAnswer, MockData
from liftbay.errors import InputError, at


def read_mock_data(folders: Iterable[Path], report: Report) -> dict[str, MockData]:
    """The mock data of all files in the folders and below them, by id; what is wrong is reported and left out."""
    found: dict[str, MockData] = {}
    places: dict[str, str] = {}
    for file in _files_in(folders):
        for line, inside, mock in _mocks_of_file(file, report):
            findings = list(_faults(mock))
            if mock.mock_data_id in places:
                findings.append(("mockDataId", _repeated(mock.mock_data_id, places[mock.mock_data_id])))
            for field, error in findings:
                report(problem(file, line, inside + field, error))
            if not findings:
                found[mock.mock_data_id] = mock
                places[mock.mock_data_id] = at(file, line)
    return found


def _files_in(folders: Iterable[Path]) -> list[DataFile]:
    found: dict[Path, Path] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".json", ".jsonl") and path.is_file():
                found.setdefault(path.resolve(), path)
    return [DataFile(path) for path in found.values()]


def _mocks_of_file(file: DataFile, report: Report) -> Iterator[tuple[int | None, str, MockData]]:
    """The mock data of a file, each with its line, or else with its place in the list."""
    try:
        if file.path.suffix == ".jsonl":
            yield from _mocks_of_lines(file, report)
        else:
            yield from _mocks_of_value(file, report)
    except InputError as error:
        report(problem_of(error, file))


def _mocks_of_lines(file: DataFile, report: Report) -> Iterator[tuple[int, str, MockData]]:
    decoder = msgspec.json.Decoder(MockData)
    for number, line in lines(file):
        try:
            mock = decoder.decode(line)
        except msgspec.DecodeError as error:
            report(problem_of(line_error(file, number, line, error), file))
        else:
            yield number, "", mock


def _mocks_of_value(file: DataFile, report: Report) -> Iterator[tuple[None, str, MockData]]:
    value = read_json(file)
    for number, item in enumerate(value if isinstance(value, list) else [value]):
        inside = f"[{number}]" if isinstance(value, list) else ""
        try:
            mock = msgspec.convert(item, MockData)
        except msgspec.ValidationError as error:
            report(problem_of(field_error(file, None, error, f"{inside}." if inside else ""), file))
        else:
            yield None, f"{inside}." if inside else "", mock


def _repeated(id_: str, place: str) -> InputError:
    return InputError(
        "the mock data {id} is given already: {first}", remedy="give each its own mockDataId", id=id_, first=place
    )


def _faults(mock: MockData) -> Iterator[tuple[str, InputError]]:
    if not mock.mock_data_id:
        yield "mockDataId", InputError("the id is empty", remedy="give the id that cases name as mockDataId")
    for tool, answers in mock.tools.items():
        for number, answer in enumerate(answers):
            if _says_one_thing(answer):
                continue
            yield (
                f"tools.{tool}[{number}]",
                InputError(
                    "an answer has either result or error",
                    remedy="give the one that the tool answers with; a result may be null",
                ),
            )


def _says_one_thing(answer: MockAnswer) -> bool:
    return (answer.result is msgspec.UNSET) is not (answer.error is None)
