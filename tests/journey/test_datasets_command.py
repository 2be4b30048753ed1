"""`liftbay datasets validate` and `liftbay init` as a user meets them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from command import liftbay, write_lines

GOOD = {"id": "A-1", "datasetType": "AMBIGUOUS_INTENT", "userInput": "それを調べて"}
BAD = {"id": "K-1", "datasetType": "KNOWLEDGE_QA", "userInput": "x", "evalMode": "E2E_MOCK"}
STARTER = {
    ".liftbay/.gitignore",
    "agent.py",
    "datasets/multi_turn.jsonl",
    "datasets/tool_call.jsonl",
    "liftbay.toml",
    "mocks/weather.jsonl",
}


def files_in(folder: Path) -> set[str]:
    """The files below a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_errors_and_warnings_apart_and_a_table(tmp_path: Path) -> None:
    write_lines(tmp_path / "cases.jsonl", [GOOD, BAD, GOOD | {"id": "A-2", "user_input": "{x}"}])
    result = liftbay("datasets", "validate", "cases.jsonl", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr == ""
    errors, warnings = result.stdout.split("Warnings:\n")
    assert errors.splitlines() == [
        "Errors:",
        "  cases.jsonl:2: evalMode: a case of KNOWLEDGE_QA is always E2E_REAL: mock data would go round the retrieval "
        "that it tests",
        "    remedy: set evalMode to E2E_REAL",
        "",
    ]
    lines = warnings.splitlines()
    assert lines[:3] == [
        "  cases.jsonl:3: user_input: unknown key, kept in `extra`; did you mean userInput?",
        "    remedy: rename it, if that is meant",
        "  AMBIGUOUS_INTENT: fewer cases than recommended (2 of 20), so that its rates say little",
    ]
    assert lines[4].split() == ["dataset", "version", "cases", "recommended"]
    assert lines[5].split()[::2] == ["AMBIGUOUS_INTENT", "2", "20"]
    assert lines[-1] == "good cases: 2, errors: 1, warnings: 2"


def test_the_same_as_json(tmp_path: Path) -> None:
    write_lines(tmp_path / "cases.jsonl", [GOOD, BAD])
    result = liftbay("datasets", "validate", tmp_path, "--json", cwd=tmp_path)
    assert result.returncode == 2
    found = json.loads(result.stdout)
    (dataset,) = found["datasets"]
    assert len(dataset.pop("version")) == 64
    assert dataset == {"type": "AMBIGUOUS_INTENT", "cases": 1, "recommended": 20, "sources": ["cases.jsonl"]}
    (error,) = found["errors"]
    assert (error["file"], error["line"], error["field"]) == ("cases.jsonl", 2, "evalMode")
    assert error["remedy"] == "set evalMode to E2E_REAL"
    assert [warning["type"] for warning in found["warnings"]] == ["AMBIGUOUS_INTENT"]


def test_in_japanese(tmp_path: Path) -> None:
    write_lines(tmp_path / "cases.jsonl", [BAD])
    result = liftbay("--lang", "ja", "datasets", "validate", "cases.jsonl", cwd=tmp_path)
    assert "対処: evalMode を E2E_REAL にしてください。" in result.stdout
    assert "正常なケース: 0 件、エラー: 1 件、警告: 0 件" in result.stdout


def test_braces_in_what_the_user_wrote_are_no_placeholders(tmp_path: Path) -> None:
    tool = {"name": "f", "arguments": {"{0}": "x"}, "matchers": {"{0}": {"regex": "{a}("}, "{b}": {"ignore": True}}}
    write_lines(
        tmp_path / "a.jsonl", [{"id": "{c}", "datasetType": "TOOL_CALL", "userInput": "", "expectedTools": [tool]}]
    )
    result = liftbay("datasets", "validate", "a.jsonl", cwd=tmp_path)
    assert result.returncode == 2, result.stderr
    assert "a matcher for {b}, but no such argument" in result.stdout


def test_without_a_path_the_cases_of_the_project_are_checked(tmp_path: Path) -> None:
    result = liftbay("datasets", "validate", cwd=tmp_path)
    assert result.returncode == 2
    assert f"{tmp_path / 'datasets'}: there is no such file or folder" in result.stderr
    assert "liftbay init" in result.stderr


def test_the_demo_of_the_benchmark_is_a_dataset() -> None:
    demo = Path(__file__).resolve().parents[2] / "demo" / "dataset"
    result = liftbay("datasets", "validate", f"jmultiwoz:{demo}", "--json")
    assert result.returncode == 0, result.stdout
    assert json.loads(result.stdout)["datasets"][0]["cases"] == 60


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_new_project_is_valid(tmp_path: Path, language: str) -> None:
    result = liftbay("init", "new/project", "--lang", language, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    project = tmp_path / "new" / "project"
    assert files_in(project) == STARTER
    assert (project / ".liftbay" / ".gitignore").read_text() == "*\n"
    result = liftbay("datasets", "validate", "--json", cwd=project / "datasets")
    assert result.returncode == 0, result.stdout
    found = json.loads(result.stdout)
    assert {dataset["type"]: dataset["cases"] for dataset in found["datasets"]} == {"MULTI_TURN": 1, "TOOL_CALL": 4}
    assert [warning for warning in found["warnings"] if "type" not in warning] == []


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_example_agent_calls_the_expected_tools_but_once(tmp_path: Path, language: str) -> None:
    liftbay("init", "--lang", language, cwd=tmp_path)
    spec = importlib.util.spec_from_file_location("example_agent", tmp_path / "agent.py")
    assert spec is not None
    assert spec.loader is not None
    agent = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(agent)
    right = []
    for line in (tmp_path / "datasets" / "tool_call.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        calls = agent.answer(case["userInput"])["trace"]["toolCalls"]
        expected = [(tool["name"], tool["arguments"]) for tool in case["expectedTools"]]
        right.append([(call["name"], call["arguments"]) for call in calls] == expected)
    assert right == [True, False, True, True]


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("mine")
    (tmp_path / "liftbay.toml").write_text("")
    result = liftbay("init", cwd=tmp_path)
    assert result.returncode == 2
    assert "nothing was written: agent.py, liftbay.toml" in result.stderr
    assert files_in(tmp_path) == {"agent.py", "liftbay.toml"}
    assert (tmp_path / "agent.py").read_text() == "mine"


def test_init_where_runs_were_made_before(tmp_path: Path) -> None:
    (tmp_path / ".liftbay").mkdir()
    (tmp_path / ".liftbay" / ".gitignore").write_text("mine")
    assert liftbay("init", cwd=tmp_path).returncode == 0
    assert files_in(tmp_path) == STARTER
    assert (tmp_path / ".liftbay" / ".gitignore").read_text() == "mine"


def test_init_at_a_place_where_no_folder_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = liftbay("init", "file/project", cwd=tmp_path)
    assert result.returncode == 2
    assert "Not a directory" in result.stderr
    assert "choose another folder" in result.stderr
