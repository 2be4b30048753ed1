"""`liftbay gate`, `baseline` and `power` as a user or a pipeline calls them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import msgspec
import pytest
from command import liftbay
from places import a_result, a_run

from liftbay.domain.result import Outcome
from liftbay.stores.open import open_store


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store of three runs of 200 cases: good, worse (20 cases fail), same; and one of another scope."""
    url = f"sqlite:///{tmp_path / 'runs.db'}"

    async def fill() -> None:
        opened = await open_store(url)
        for place, (name, wrong) in enumerate((("good", 0), ("same", 0), ("worse", 20), ("other", 0))):
            run = a_run(name, f"2026-11-30T00:00:0{place}Z")
            if name == "other":
                run = msgspec.structs.replace(run, request=msgspec.structs.replace(run.request, scope="ALL"))
            await opened.add_run(run)
            results = (a_result(n, outcome=Outcome.FAILED if n < wrong else Outcome.PASSED) for n in range(200))
            await opened.add_results(name, results)
        await opened.close()

    asyncio.run(fill())
    return url


def test_a_worse_run_stops_the_release(store: str, tmp_path: Path) -> None:
    named = liftbay("baseline", "set", "main", "good", "--store", store)
    assert (named.returncode, named.stdout) == (0, "main is now good\n"), named.stderr
    result = liftbay(
        *("gate", "worse", "--baseline", "main", "--max-drop", "2", "--store", store, "--json"),
        *("--junit", tmp_path / "gate.xml", "--markdown", tmp_path / "gate.md"),
    )
    assert result.returncode == 3, result.stderr
    found = json.loads(result.stdout)
    assert (found["decision"], found["base"], found["head"], found["onlyBase"]) == ("failed", "good", "worse", 20)
    assert 'failures="1"' in (tmp_path / "gate.xml").read_text()
    assert (tmp_path / "gate.md").read_text().startswith("## ✕ The gate fails")


def test_an_equal_run_passes_where_the_suite_can_tell(store: str) -> None:
    ok = liftbay("gate", "same", "--baseline", "good", "--max-drop", "5", "--store", store)
    assert (ok.returncode, ok.stderr) == (0, "")
    assert "The gate passes" in ok.stdout
    small = liftbay("gate", "same", "--baseline", "good", "--max-drop", "0.5", "--store", store)
    assert small.returncode == 4
    assert "cases would do" in small.stdout


def test_the_gate_speaks_japanese(store: str) -> None:
    result = liftbay("--lang", "ja", "gate", "worse", "--baseline", "good", "--store", store)
    assert result.returncode == 3


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("gate", "worse", "--baseline", "nobody"), "no such baseline"),
        (("gate", "nobody", "--baseline", "good"), "no such run"),
        (("gate", "other", "--baseline", "good"), "two scopes, TOOL_CALL and ALL"),
        (("gate", "worse"), "--baseline"),
        (("gate", "worse", "--baseline", "good", "--alpha", "0.9"), "0.9"),
        (("baseline", "set", "last", "good"), "cannot be the name"),
        (("baseline", "set", "worse", "good"), "the id of a run"),
        (("baseline", "set", "main", "nobody"), "no such run"),
        (("baseline", "remove", "nobody"), "no such baseline"),
    ],
)
def test_mistakes(store: str, arguments: tuple[str, ...], why: str) -> None:
    result = liftbay(*arguments, "--store", store)
    assert (result.returncode, result.stdout) == (2, "")
    assert why in result.stderr


def test_baselines_are_listed_moved_and_forgotten(store: str) -> None:
    at = ("--store", store)
    assert liftbay("baseline", "list", *at).stdout == "there are no baselines\n"
    liftbay("baseline", "set", "main", "good", *at)
    liftbay("baseline", "set", "main", "same", *at)
    liftbay("baseline", "set", "本番", "last", *at)
    listed = json.loads(liftbay("baseline", "list", "--json", *at).stdout)
    assert listed == [{"name": "main", "run": "same"}, {"name": "本番", "run": "other"}]
    assert liftbay("baseline", "list", *at).stdout.split() == ["name", "run", "main", "same", "本番", "other"]
    liftbay("runs", "rm", "other", *at)
    liftbay("baseline", "remove", "main", *at)
    assert json.loads(liftbay("baseline", "list", "--json", *at).stdout) == []


def test_power_says_how_many_cases_it_takes() -> None:
    found = json.loads(liftbay("power", "--rate", "0.85", "--drop", "2", "--json").stdout)
    assert found["power"] is None
    assert 4100 < found["casesNeeded"] < 4400
    text = liftbay("power", "--rate", "0.85", "--drop", "10", "--cases", "200", "--discordant", "0.2").stdout
    assert "200 cases find a drop of 10 points in 93.2 % of runs." in text


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--rate", "0.01", "--drop", "2"), "cannot drop"),
        (("--rate", "85", "--drop", "2"), "85"),
        (("--rate", "0.85", "--drop", "10", "--discordant", "0.05"), "no smaller than the drop"),
    ],
)
def test_mistakes_about_power(arguments: tuple[str, ...], why: str) -> None:
    result = liftbay("power", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert why in result.stderr
