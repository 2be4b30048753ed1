"""`liftbay explain` as a user meets it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import msgspec
import pytest
from command import liftbay
from places import a_result, a_run

from liftbay.domain.result import CaseResult, Outcome, RunState
from liftbay.domain.verdict import failed, passed
from liftbay.stores.open import open_store

CASES = 40


def tried(number: int, *, wrong_route: bool, asked: str = "") -> CaseResult:
    """A trial, which fails where the route is wrong."""
    result = a_result(number, outcome=Outcome.FAILED if wrong_route else Outcome.PASSED)
    route = failed("routing_accuracy", "another route", expected="SKILL_HIT", actual="SKILL_MISS")
    call = failed("tool_call_accuracy", "an expected tool was not called")
    right = [passed("routing_accuracy"), passed("tool_call_accuracy")]
    case = msgspec.structs.replace(result.case, user_input=asked or result.case.user_input)
    return msgspec.structs.replace(result, case=case, verdicts=[route, call] if wrong_route else right)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a good run, a bad one, and one of another scope."""
    folder = tmp_path_factory.mktemp("project")

    async def fill() -> None:
        store = await open_store(f"sqlite:///{folder}/.liftbay/liftbay.db")
        for number, (name, wrong) in enumerate((("good", 2), ("bad", 14))):
            submitted = f"2026-11-0{number + 1}T00:00:00Z"
            await store.add_run(a_run(name, submitted, planned=CASES, state=RunState.FINISHED, agent_name="bot"))
            trials = [tried(n, wrong_route=n < wrong) for n in range(CASES)]
            await store.add_results(name, trials)
        await store.add_results("good", [tried(900, wrong_route=False), tried(901, wrong_route=False, asked="a")])
        await store.add_results("bad", [tried(901, wrong_route=True, asked="b")])
        other = a_run("other", "2026-10-01T00:00:00Z")
        await store.add_run(
            msgspec.structs.replace(other, request=msgspec.structs.replace(other.request, scope="MULTI_TURN"))
        )
        await store.close()

    asyncio.run(fill())
    return folder


def test_text(project: Path) -> None:
    result = liftbay("explain", "good", "last", cwd=project)
    assert result.returncode == 0, result.stderr
    assert "good (bot) → bad (bot) · TOOL_CALL" in result.stdout
    assert "Tool call accuracy fell from 95 % to 65 %: all 30 points are " in result.stdout
    assert "in the base only: 1 (case-000900 #1)" in result.stdout
    assert "the case was changed between the runs: 1 (case-000901 #1)" in result.stdout


def test_json_adds_up(project: Path) -> None:
    found = json.loads(liftbay("explain", "good", "bad", "--format", "json", cwd=project).stdout)["explanation"]
    assert (found["n"], found["lost"], found["gained"], found["course"]) == (CASES, 12, 0, "worse")
    assert sum(part["change"]["value"] for part in found["parts"]) == pytest.approx(found["change"]["value"])
    assert len(found["flips"]) == 12


def test_a_file(project: Path, tmp_path: Path) -> None:
    file = tmp_path / "why.md"
    result = liftbay("explain", "good", "bad", "--output", file, cwd=project)
    assert result.returncode == 0, result.stderr
    assert file.read_text(encoding="utf-8").startswith("## Tool call accuracy fell from 95 % to 65 %")


def test_in_japanese(project: Path) -> None:
    result = liftbay("--lang", "ja", "explain", "good", "bad", cwd=project)
    assert "95 % から 65 % に下がりました" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody", "bad"), "the store has no such baseline"),
        (("good", "nobody"), "the store has no such run"),
        (("other", "bad"), "the runs are of two scopes"),
        (("good", "bad", "--format", "pdf"), "there is no pdf"),
    ],
)
def test_a_mistake_is_said(project: Path, arguments: tuple[str, ...], said: str) -> None:
    result = liftbay("explain", *arguments, cwd=project)
    assert result.returncode == 2
    assert said in result.stderr
