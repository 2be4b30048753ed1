"""`liftbay runs` as a user meets it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import msgspec
import pytest
from command import liftbay, read_lines
from places import a_result, a_run

from liftbay.domain.result import CaseResult, Outcome
from liftbay.stores.open import open_store

RESULTS = [a_result(n, outcome=Outcome.FAILED if n % 3 == 0 else Outcome.PASSED) for n in range(150)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with two runs in its store."""

    async def fill() -> None:
        store = await open_store(f"sqlite:///{tmp_path}/.liftbay/liftbay.db")
        await store.add_run(a_run("old", "2026-11-01T00:00:00Z", planned=150, agent_name="旅行 {bot}"))
        await store.add_run(a_run("new", "2026-11-02T00:00:00Z", planned=3))
        await store.add_results("old", reversed(RESULTS))
        await store.close()

    asyncio.run(fill())
    return tmp_path


def test_list(project: Path) -> None:
    result = liftbay("runs", "list", cwd=project)
    assert result.returncode == 0, result.stderr
    names, first, second = result.stdout.splitlines()
    assert names.split() == ["run", "state", "submitted", "scope", "agent", "trials", "done"]
    assert first.split() == ["new", "running", "2026-11-02T00:00:00Z", "TOOL_CALL", "python:agents:answer", "0/3"]
    assert second.split()[-3:] == ["旅行", "{bot}", "150/150"]
    listed = json.loads(liftbay("runs", "list", "--json", "--limit", 1, cwd=project).stdout)
    assert [(run["id"], run["results"], run["planned"]) for run in listed] == [("new", 0, 3)]


def test_list_in_japanese(project: Path) -> None:
    result = liftbay("--lang", "ja", "runs", "list", cwd=project)
    assert result.stdout.splitlines()[0].split()[0] == "実行"


def test_show(project: Path) -> None:
    result = liftbay("runs", "show", "old", cwd=project)
    assert result.returncode == 0, result.stderr
    words = [line.split() for line in result.stdout.splitlines()]
    for expected in (["run", "old"], ["agent", "旅行", "{bot}"], ["trials", "done", "150/150"], ["passed", "100"]):
        assert expected in words
    shown = json.loads(liftbay("runs", "show", "old", "--json", cwd=project).stdout)
    assert shown["request"]["scope"] == "TOOL_CALL"
    assert shown["outcomes"] == {"passed": 100, "failed": 50, "undecided": 0}
    assert shown["results"] == 150


def test_export(project: Path) -> None:
    result = liftbay("runs", "export", "old", "--output", "results.jsonl", cwd=project)
    assert result.returncode == 0, result.stderr
    exported = [msgspec.convert(line, CaseResult) for line in read_lines(project / "results.jsonl")]
    assert exported == RESULTS
    assert sorted(path.name for path in project.iterdir()) == [".liftbay", "results.jsonl"]


def test_rm(project: Path) -> None:
    assert liftbay("runs", "rm", "old", cwd=project).stdout == "removed: old\n"
    assert [run["id"] for run in json.loads(liftbay("runs", "list", "--json", cwd=project).stdout)] == ["new"]
    liftbay("runs", "rm", "new", cwd=project)
    assert liftbay("runs", "list", cwd=project).stdout == "there are no runs\n"


@pytest.mark.parametrize("command", [("show",), ("rm",), ("export", "--output", "x.jsonl")], ids=lambda c: c[0])
def test_a_run_that_is_not_there(project: Path, command: tuple[str, ...]) -> None:
    result = liftbay("runs", *command, "{no}", cwd=project)
    assert result.returncode == 2
    assert result.stderr.splitlines()[0] == "liftbay: error: {no}: the store has no such run"
    assert not (project / "x.jsonl").exists()


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    result = liftbay("runs", "list", cwd=tmp_path)
    assert result.returncode == 2
    assert "there is no store" in result.stderr
    assert list(tmp_path.iterdir()) == []
    result = liftbay("runs", "list", "--store", "postgresql://liftbay:sesame@127.0.0.1:1/x", cwd=tmp_path)
    assert result.returncode == 1
    assert "postgresql://127.0.0.1:1/x: the store cannot be reached" in result.stderr
    assert "sesame" not in result.stderr
