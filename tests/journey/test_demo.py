"""`make demo`: END_TO_END on the sample agent with recorded answers of a judge, none of which may be missing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import ROOT, liftbay, printed_by

from agent_runs import CASES_OF_EACH_DATASET, run_options

FOLDER = ROOT / "demo" / "output" / "agent"
ANSWERS = ROOT / "demo" / "judge_answers.jsonl"
UNRECORDED = "not in the recorded answers"


@pytest.fixture(scope="module")
def printed() -> str:
    """What the demo prints."""
    return printed_by(ROOT / "demo" / "run.py", timeout=120)


def test_it_says_that_the_judge_was_recorded_and_where_the_report_is(printed: str) -> None:
    assert "was recorded" in printed
    assert "0 without a decision" in printed
    assert (FOLDER / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_every_verdict_of_the_judge_is_a_replay(printed: str) -> None:
    assert printed
    report = report_of("last")
    (judge,) = report["judges"]
    assert judge["verdicts"] == judge["cached"] > 0
    assert (judge["calls"], judge["inputTokens"], judge["meanLatencyMs"]) == (0, 0, None)


def report_of(run: str) -> dict[str, Any]:
    """The report of a run of the demo."""
    result = liftbay("report", run, "--format", "json", cwd=FOLDER)
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.fixture(scope="module")
def all_cases(printed: str) -> str:
    """The id of a run of ALL that replays the record."""
    assert printed
    result = liftbay(*run_options("ALL", "--judge", f"cache:{ANSWERS}"), "--json", cwd=FOLDER)
    assert result.returncode == 0, result.stderr
    return str(json.loads(result.stdout)["run"])


@pytest.mark.parametrize("scope", ["END_TO_END", "PERCEPTION", "PLANNING", "MEMORY", "TOOL", "CORE_MODULE", "ALL"])
def test_the_judge_decides_nearly_everything_in_every_scope(all_cases: str, scope: str) -> None:
    result = liftbay("rescope", all_cases, scope, "--json", cwd=FOLDER)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["cases"]["total"] >= CASES_OF_EACH_DATASET
    coverage = {id_: one["coverage"]["value"] for id_, one in report["metrics"].items() if "J" in one["basis"]}
    assert all(value is None or value >= 0.95 for value in coverage.values()), coverage
    assert UNRECORDED not in result.stdout
