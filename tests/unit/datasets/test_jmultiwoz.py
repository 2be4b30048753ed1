"""JMultiWOZ-TC as a dataset."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from liftbay.datasets.cases import Datasets, check_cases, load_cases
from liftbay.datasets.project import Project
from liftbay.domain.case import Case, Message
from liftbay.domain.vocabulary import DatasetType, EvalMode
from liftbay.errors import InputError

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "demo" / "dataset"
PUBLISHED = ROOT.parent / "shared" / "data" / "jmultiwoz_tc" / "dataset.zip"
TOOLS = [{"type": "function", "function": {"name": "f"}}]


def question(*contents: str) -> list[dict[str, str]]:
    """A dialogue that the user begins and ends."""
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(contents)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A dataset of two records, whose right answers come in the other order."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "tools.json").write_text(json.dumps(TOOLS))
    write(
        folder / "jmultiwoz_tc_input.jsonl", record("a", question=question("x")), record("b", question=question(*"uvw"))
    )
    call = {"name": "f", "arguments": {"街": "東京"}}
    write(folder / "jmultiwoz_tc_ground.jsonl", record("b", ground_truth=[]), record("a", ground_truth=[call]))
    return folder


def record(id_: str, **fields: Any) -> dict[str, Any]:
    """A record of either file."""
    return {"data_id": id_, "dialogue_id": f"of {id_}", **fields}


def write(path: Path, *records: dict[str, Any]) -> None:
    """Write JSON Lines."""
    path.write_text("".join(json.dumps(each) + "\n" for each in records))


def check(data: Path) -> Datasets:
    """Check the dataset at `data`."""
    return check_cases([f"jmultiwoz:{data}"], Project(data, "", None, ""))


def test_a_record_becomes_a_case(data: Path) -> None:
    found = check(data)
    assert (found.errors, found.warnings) == ([], [])
    assert [(version.type, version.cases, version.sources) for version in found.versions] == [
        (DatasetType.TOOL_CALL, 2, [f"jmultiwoz:{data}"])
    ]
    a, b = found.cases(DatasetType.TOOL_CALL)
    assert a.expected_tools is not None
    assert [(tool.name, tool.arguments) for tool in a.expected_tools] == [("f", {"街": "東京"})]
    assert b == Case(
        id="b",
        dataset_type=DatasetType.TOOL_CALL,
        eval_mode=EvalMode.E2E_REAL,
        scene_code="default",
        user_input="w",
        history=[Message("user", "u"), Message("assistant", "v")],
        expected_tools=[],
        tools=TOOLS,
        extra={"dialogueId": "of b"},
    )
    assert a.tools is b.tools


def test_folder_and_archive_are_the_same_dataset(tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "dataset"), "zip", DEMO))
    one, other = check(DEMO).versions, check(archive).versions
    assert (one[0].version, one[0].cases) == (other[0].version, 60)


def test_the_tool_definitions_are_part_of_the_version(data: Path) -> None:
    before = check(data).versions[0].version
    (data / "tools.json").write_text(json.dumps([*TOOLS, *TOOLS]))
    assert check(data).versions[0].version != before


@pytest.mark.parametrize(
    ("name", "records", "place", "message"),
    [
        ("ground", [record("a", ground_truth=[])], "input.jsonl:2", "there is no right answer for b in "),
        ("ground", [record("b", ground_truth=[])] * 2, "ground.jsonl:2", "1 duplicated data_id, for example b"),
        ("input", [record("a", question=[])], "input.jsonl:1: question", "the last message is not the user's"),
        (
            "input",
            [record("a", question=question("x", "y"))],
            "input.jsonl:1: question",
            "the last message is not the user's",
        ),
        ("input", [record("a", question=[{"content": "x"}])], "input.jsonl:1: question[0].role", "is missing"),
        ("input", [record("a", ground_truth=[])], "input.jsonl", "this is a file of right answers"),
    ],
)
def test_a_wrong_record_is_named(
    data: Path, name: str, records: list[dict[str, Any]], place: str, message: str
) -> None:
    write(data / f"jmultiwoz_tc_{name}.jsonl", *records)
    (problem,) = check(data).errors
    assert problem.error.place == f"{data / 'jmultiwoz_tc_'}{place}"
    assert message in str(problem.error)
    with pytest.raises(InputError, match="mistakes in the datasets: 1"):
        load_cases([f"jmultiwoz:{data}"], project=Project(data, "", None, ""))


def test_an_id_that_stands_twice(data: Path) -> None:
    write(data / "jmultiwoz_tc_input.jsonl", *[record("a", question=question("x"))] * 2)
    assert "or the id stands twice" in str(check(data).errors[0].error)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        check(tmp_path / "none")
    with pytest.raises(InputError, match="no such file"):
        check(tmp_path)


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published dataset is optional: ../shared/data/jmultiwoz_tc")
def test_the_published_data_is_whole() -> None:
    found = load_cases([f"jmultiwoz:{PUBLISHED}"])
    assert found.versions[0].cases == 31303
    cases = list(found.cases(DatasetType.TOOL_CALL))
    assert sum(len(case.expected_tools or ()) for case in cases) == 16523
    assert len({case.extra["dialogueId"] for case in cases}) == 4246
    assert len({id(case.tools) for case in cases}) == 1
