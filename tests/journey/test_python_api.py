"""`liftbay.run` and `liftbay.run_async` in a script, a test or a notebook."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from command import liftbay as command
from command import write_lines
from scripted import ScriptedAgent, calling

import liftbay
from liftbay import AgentAnswer, Report
from liftbay.errors import InputError, LiftbayError
from liftbay.ports import AgentInput
from liftbay.wiring.agents import agent_of

CASES = [
    {
        "id": f"T-{number}",
        "datasetType": "TOOL_CALL",
        "userInput": str(number),
        "expectedTools": [{"name": "search"}] if number % 2 else [],
    }
    for number in range(6)
]


@pytest.fixture
def cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of cases in the working folder."""
    monkeypatch.chdir(tmp_path)
    return write_lines(tmp_path / "cases.jsonl", CASES)


def never_calls(_user_input: str) -> dict[str, Any]:
    """Right in half of the cases."""
    return {"text": "done", "trace": {"toolCalls": []}}


def share(report: Report) -> float | None:
    """The pass rate."""
    return report.pass_rate.value


def test_a_function(cases: Path) -> None:
    report = liftbay.run("TOOL_CALL", never_calls, dataset=cases)
    assert isinstance(report, Report)
    assert (report.state, report.agent, share(report), report.pass_rate.n) == ("finished", "never_calls", 0.5, 6)
    assert str(report).startswith("never_calls · TOOL_CALL · ")
    assert report._repr_html_().startswith("<pre>never_calls · TOOL_CALL")


def test_an_async_function_with_answers_of_its_own(cases: Path) -> None:
    async def agent(user_input: str) -> AgentAnswer:
        await asyncio.sleep(0)
        return calling(*(["search"] if int(user_input) % 2 else []))

    assert share(liftbay.run("TOOL_CALL", agent, dataset=[cases], concurrency=6)) == 1.0


def test_in_an_event_loop(cases: Path) -> None:
    async def notebook() -> Report:
        return await liftbay.run_async("TOOL_CALL", never_calls, dataset=str(cases), trials=2)

    report = asyncio.run(notebook())
    assert (report.cases.total, report.pass_hat_k) == (12, [0.5, 0.5])


def test_an_agent_is_closed_at_the_end_however_it_ends(cases: Path) -> None:
    agent = ScriptedAgent(calling("search"))
    assert share(liftbay.run("TOOL_CALL", agent, dataset=cases)) == 0.5
    assert agent.closed
    unused = ScriptedAgent()
    with pytest.raises(InputError):
        liftbay.run("NOWHERE", unused, dataset=cases)
    assert unused.closed


def test_a_specification_and_the_datasets_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command("init", ".", cwd=tmp_path).returncode == 0
    shutil.move(tmp_path / "agent.py", tmp_path / "an_agent_for_python.py")
    monkeypatch.chdir(tmp_path)
    report = liftbay.run("TOOL_CALL", "python:an_agent_for_python:answer")
    assert (report.agent, share(report)) == ("an_agent_for_python:answer", 0.75)


def test_results_can_be_kept(cases: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/kept/runs.db"
    report = liftbay.run("TOOL_CALL", never_calls, dataset=cases, store=url)
    shown = command("runs", "show", report.run, "--store", url, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "never_calls" in shown.stdout
    assert not (tmp_path / ".liftbay").exists()
    rescoped = command("rescope", report.run, "PLANNING", "--store", url, cwd=tmp_path)
    assert rescoped.returncode == 0, rescoped.stderr


def test_options_are_those_of_the_command(cases: Path) -> None:
    report = liftbay.run(
        "ALL", never_calls, dataset=cases, limit=2, dataset_types=["TOOL_CALL"], eval_mode="E2E_REAL", turn_settle=0
    )
    assert (report.cases.total, report.missing_dataset_types) == (2, [])


@pytest.mark.parametrize(
    ("scope", "options", "message"),
    [
        ("NOWHERE", {}, "there is no such scope"),
        ("MULTI_TURN", {}, "the scope MULTI_TURN has no case to run"),
        ("TOOL", {"dataset_types": ["NOTHING"]}, "there is no NOTHING"),
        ("TOOL", {"eval_mode": "REAL"}, "there is no REAL"),
        ("TOOL", {"eval_mode": "E2E_MOCK"}, "the scope TOOL has no case of the mode E2E_MOCK to run"),
        ("TOOL", {"concurrency": 0}, "concurrency is at least 1, not 0"),
        ("TOOL", {"trials": 0}, "trials is at least 1, not 0"),
        ("TOOL", {"limit": -1}, "limit is at least 1, not -1"),
        ("TOOL", {"timeout": 0}, "timeout is at least 0.001, not 0"),
        ("TOOL", {"retry_wait": -3}, "retry_wait is at least 0, not -3"),
        ("TOOL", {"dataset": "nowhere.jsonl"}, "there is no such file or folder"),
        ("TOOL", {"store": "nowhere"}, "store"),
    ],
)
def test_mistakes_are_errors_of_liftbay(cases: Path, scope: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(LiftbayError, match=message) as caught:
        liftbay.run(scope, never_calls, **({"dataset": cases} | options))
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("agent", ["robot", "", "replay:", "http://localhost"])
def test_a_specification_that_names_no_agent(agent: str) -> None:
    with pytest.raises(InputError, match="this names no agent"):
        agent_of(agent)


def test_an_agent_that_can_be_called_is_still_an_agent() -> None:
    class Both(ScriptedAgent):
        def __call__(self, turn: AgentInput) -> str:
            raise AssertionError

    both = Both()
    assert agent_of(both).agent is both
