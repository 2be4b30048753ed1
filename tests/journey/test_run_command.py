"""`liftbay run` and `liftbay rescope` as a user meets them, in a project that `liftbay init` made."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import LIFTBAY, environment, liftbay, read_lines, write_lines

PATIENCE = 60.0
RATE = {"value", "low", "high", "n"}
SLOW_AGENT = """
import asyncio, os

async def answer(text, biz_code, trial):
    note(f"start {biz_code} {trial}")
    await asyncio.sleep(0.02)
    note(f"end {biz_code} {trial}")
    return {"text": text, "trace": {"toolCalls": []}}

def note(line):
    log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, (line + "\\n").encode())
    os.close(log)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A new project."""
    made = liftbay("init", "shop", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    return tmp_path / "shop"


def report_of(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The report that a command printed as JSON."""
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def slow_project(folder: Path, cases: int = 60) -> list[str]:
    """An agent that takes its time and cases for it; returns their ids."""
    ids = [f"T-{number:03}" for number in range(cases)]
    (folder / "slow.py").write_text(SLOW_AGENT)
    (folder / "datasets").mkdir()
    write_lines(
        folder / "datasets" / "cases.jsonl",
        [{"id": id_, "bizCode": id_, "datasetType": "TOOL_CALL", "userInput": "?", "expectedTools": []} for id_ in ids],
    )
    return ids


def logged(folder: Path, what: str) -> Counter[str]:
    """How often the agent noted this of each case."""
    log = folder / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    return Counter(line.split()[1] for line in lines if line.startswith(what))


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait for what must happen."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "what the test waits for does not happen"
        time.sleep(0.01)


def test_the_contract_for_scripts(project: Path) -> None:
    result = liftbay("run", "--scope", "TOOL_CALL", "--agent", "python:agent:answer", "--json", cwd=project)
    report = report_of(result)
    assert report["scope"] == "TOOL_CALL"
    assert report["passRate"]["value"] == 0.75
    assert {key: report["main"][key]["n"] for key in ("conditional", "allCases", "coverage")} == {
        "conditional": 4,
        "allCases": 4,
        "coverage": 4,
    }
    assert report["main"]["metric"] == "tool_call_accuracy"
    for rate in (report["passRate"], *(report["main"][key] for key in ("conditional", "allCases", "coverage"))):
        assert set(rate) == RATE
    assert report["metrics"]["parameter_mapping_accuracy"]["conditional"]["value"] == 1.0
    assert report["probes"]["tool_calls"]["values"]["mean"] == 0.5
    assert (report["cases"]["total"], report["cases"]["passed"], report["cases"]["failed"]) == (4, 3, 1)
    assert (report["passAtK"], report["passHatK"]) == (None, None)
    assert report["run"] in result.stderr
    listed = json.loads(liftbay("runs", "list", "--json", cwd=project).stdout)
    assert [(run["id"], run["state"], run["results"]) for run in listed] == [(report["run"], "finished", 4)]


def test_the_text(project: Path) -> None:
    result = liftbay("run", "--scope", "TOOL_CALL", cwd=project)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("agent:answer · TOOL_CALL · ")
    assert lines[1] == "75.0 % of the decided cases pass (13.1–98.4)."
    assert "4 trials: 3 passed ●, 1 failed ✕, 0 undecided ◌" in lines
    assert "  TOOL_CALL TC-002 #1: tool_call_accuracy: an expected tool was not called" in lines
    assert "4 of 4 trials" in result.stderr


def test_in_japanese(tmp_path: Path) -> None:
    assert liftbay("--lang", "ja", "init", "店", cwd=tmp_path).returncode == 0
    result = liftbay("--lang", "ja", "run", "--scope", "END_TO_END", "--turn-settle", 0, cwd=tmp_path / "店")
    assert result.returncode == 0, result.stderr
    for shown in ("品質", "コストとパフォーマンス", "多輪対話完了率", "報告なし"):
        assert shown in result.stdout
    for english in ("Quality", "trials", "not reported", "No case"):
        assert english not in result.stdout
        assert english not in result.stderr
    assert "警告" in result.stderr
    wrong = liftbay("--lang", "ja", "run", "--scope", "NOWHERE", cwd=tmp_path / "店")
    assert (wrong.returncode, "エラー" in wrong.stderr, "対処" in wrong.stderr) == (2, True, True)
    assert "there is no such scope" not in wrong.stderr


def test_missing_dataset_types_are_named_and_the_rest_runs(project: Path) -> None:
    result = liftbay("run", "--scope", "PLANNING", "--json", cwd=project)
    report = report_of(result)
    assert "warning: no cases of these dataset types of the scope: BASIC_FUNCTION, KNOWLEDGE_QA" in result.stderr
    assert report["missingDatasetTypes"] == ["BASIC_FUNCTION", "KNOWLEDGE_QA"]
    assert (report["cases"]["total"], report["main"]["coverage"]["n"]) == (4, 0)


class TestNarrowing:
    def test_limit(self, project: Path) -> None:
        report = report_of(liftbay("run", "--scope", "ALL", "--limit", 1, "--turn-settle", 0, "--json", cwd=project))
        assert {name: sum(counts.values()) for name, counts in report["cases"]["byDataset"].items()} == {
            "MULTI_TURN": 1,
            "TOOL_CALL": 1,
        }

    def test_trials(self, project: Path) -> None:
        report = report_of(liftbay("run", "--scope", "TOOL_CALL", "--trials", 3, "--json", cwd=project))
        assert (report["trials"], report["cases"]["total"], report["passRate"]["n"]) == (3, 12, 12)
        assert report["passAtK"] == report["passHatK"] == [0.75] * 3

    def test_dataset_type(self, project: Path) -> None:
        report = report_of(liftbay("run", "--scope", "ALL", "--dataset-type", "TOOL_CALL", "--json", cwd=project))
        assert list(report["cases"]["byDataset"]) == ["TOOL_CALL"]
        assert report["main"]["metric"] == "task_completion_rate"
        assert report["missingDatasetTypes"] == []

    def test_eval_mode(self, project: Path) -> None:
        mocked = {
            "id": "TC-M",
            "datasetType": "TOOL_CALL",
            "evalMode": "E2E_MOCK",
            "mockDataId": "MOCK-WEATHER-001",
            "userInput": "What will the weather in Sendai be tomorrow?",
            "expectedTools": [{"name": "get_weather", "arguments": {"city": "Sendai", "date": "tomorrow"}}],
        }
        write_lines(project / "datasets" / "mocked.jsonl", [mocked])
        for mode, total in (("E2E_MOCK", 1), ("E2E_REAL", 4)):
            report = report_of(liftbay("run", "--scope", "TOOL_CALL", "--eval-mode", mode, "--json", cwd=project))
            assert report["cases"]["total"] == total
            success = report["metrics"]["tool_call_success_rate"]
            assert ("mocked" in success["beside"], success["conditional"]["n"] == 0) == (total == 1, total == 1)


def test_dry_run_asks_nobody(tmp_path: Path) -> None:
    slow_project(tmp_path)
    result = liftbay("run", "--scope", "TOOL", "--agent", "python:slow:answer", "--dry-run", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for shown in ("tool_call_accuracy", "tool_call_latency", "60 trials", "TOOL_CALL", "TOOL · slow:answer"):
        assert shown in result.stdout
    assert not (tmp_path / "log").exists()
    assert liftbay("runs", "list", cwd=tmp_path).stdout in ("", "there are no runs\n")


def comparable(report: dict[str, Any]) -> dict[str, Any]:
    """The report without what differs between two runs of the same agent: ids and clocks."""
    kept = {key: value for key, value in report.items() if key not in ("run", "probes")}
    probes = {name: probe for name, probe in report["probes"].items() if name != "response_latency"}
    trade_offs = [{**one, "latencyMs": None} for one in report["tradeOffs"]]
    return kept | {"probes": probes, "tradeOffs": trade_offs}


@pytest.mark.parametrize("scope", ["TOOL", "PLANNING", "MULTI_TURN", "CORE_MODULE"])
def test_rescope_says_what_a_run_under_that_scope_says(project: Path, scope: str) -> None:
    first = report_of(liftbay("run", "--scope", "ALL", "--turn-settle", 0, "--json", cwd=project))
    (project / "agent.py").write_text("raise SystemExit('nobody is asked')")
    rescoped = report_of(liftbay("rescope", first["run"], scope, "--json", cwd=project))
    assert rescoped["run"] == first["run"]
    assert liftbay("init", "again", cwd=project).returncode == 0
    direct = report_of(liftbay("run", "--scope", scope, "--turn-settle", 0, "--json", cwd=project / "again"))
    left, right = comparable(rescoped), comparable(direct)
    for key in ("datasets",):  # paths differ, and the first run had more of them
        versions = [{(one["type"], one["version"]) for one in report.pop(key)} for report in (left, right)]
        assert versions[1] <= versions[0]
    assert left == right


def test_rescope_of_a_run_that_is_not_there(project: Path) -> None:
    result = liftbay("rescope", "nowhere", "TOOL", cwd=project)
    assert (result.returncode, "there is no store" in result.stderr) == (2, True)
    assert not (project / ".liftbay" / "liftbay.db").exists()
    liftbay("run", "--scope", "TOOL", "--limit", 1, cwd=project)
    result = liftbay("rescope", "nowhere", "TOOL", cwd=project)
    assert (result.returncode, "nowhere: there is no such run" in result.stderr) == (2, True)


class TestMistakes:
    """Exit code 2, with what is wrong and what to do."""

    @staticmethod
    def said(folder: Path, *arguments: object) -> str:
        result = liftbay("run", *arguments, cwd=folder)
        assert result.returncode == 2, result.stderr
        assert "remedy: " in result.stderr
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        return result.stderr

    def test_no_scope(self, project: Path) -> None:
        assert "--scope: there is no scope" in self.said(project)

    def test_an_unknown_scope(self, project: Path) -> None:
        said = self.said(project, "--scope", "NOWHERE")
        assert "NOWHERE: there is no such scope" in said
        assert "CORE_MODULE" in said

    def test_no_agent(self, tmp_path: Path) -> None:
        assert "--agent: there is no agent" in self.said(tmp_path, "--scope", "TOOL")

    @pytest.mark.parametrize(
        ("agent", "why"),
        [
            ("robot", "this names no agent"),
            ("http://x", "this names no agent"),
            ("python:agent", "this names no function"),
            ("python:nowhere:answer", "the function cannot be imported"),
            ("python:agent:nothing", "the function cannot be imported"),
            ("python:agent:CITIES", "this is not callable"),
            ("replay:nowhere.jsonl", "the file cannot be read"),
            ("replay:agent.py", "invalid JSON"),
        ],
    )
    def test_an_agent_that_is_not_there(self, project: Path, agent: str, why: str) -> None:
        result = liftbay("run", "--scope", "TOOL", "--agent", agent, cwd=project)
        assert (result.returncode, why in result.stderr) == (2, True), result.stderr

    def test_no_dataset(self, tmp_path: Path) -> None:
        (tmp_path / "bot.py").write_text("def answer(text): return text")
        self.said(tmp_path, "--scope", "TOOL", "--agent", "python:bot:answer")

    def test_no_case_of_the_scope(self, project: Path) -> None:
        said = self.said(project, "--scope", "PERCEPTION")
        assert "the scope PERCEPTION has no case to run" in said
        assert "BASIC_FUNCTION, KNOWLEDGE_QA, MULTI_INTENT, AMBIGUOUS_INTENT" in said

    def test_bad_cases(self, project: Path) -> None:
        with (project / "datasets/tool_call.jsonl").open("a") as file:
            file.write('{"id": "TC-005", "datasetType": "TOOL_CALL", "userInput": "x"}\n')
        said = self.said(project, "--scope", "TOOL")
        assert "tool_call.jsonl:5: expectedTools: a case of TOOL_CALL needs expectedTools" in said
        assert "mistakes in the datasets: 1" in said
        report = report_of(liftbay("run", "--scope", "TOOL", "--skip-invalid", "--json", cwd=project))
        assert report["cases"]["total"] == 4

    @pytest.mark.parametrize("store", ["mongodb://here", "nowhere", "sqlite://"])
    def test_a_store_of_another_kind(self, project: Path, store: str) -> None:
        self.said(project, "--scope", "TOOL", "--store", store)

    @pytest.mark.parametrize(
        "option",
        [
            ("--dataset-type", "NOTHING"),
            ("--dataset-type", "MULTI_TURN"),
            ("--eval-mode", "REAL"),
            ("--dataset", "nowhere.jsonl"),
            ("--limit", "0"),
            ("--trials", "many"),
        ],
    )
    def test_options(self, project: Path, option: tuple[str, str]) -> None:
        result = liftbay("run", "--scope", "TOOL", *option, cwd=project)
        assert (result.returncode, result.stdout) == (2, ""), result.stderr
        assert result.stderr.startswith("liftbay: error: ")

    def test_a_run_to_resume_that_is_not_there(self, project: Path) -> None:
        assert "there is no store" in self.said(project, "--resume", "nowhere")
        liftbay("run", "--scope", "TOOL", "--limit", 1, cwd=project)
        assert "nowhere: there is no such run" in self.said(project, "--resume", "nowhere")

    def test_what_belongs_to_the_run_cannot_be_changed_when_it_goes_on(self, project: Path) -> None:
        liftbay("run", "--scope", "TOOL", "--limit", 1, cwd=project)
        said = self.said(project, "--resume", "last", "--trials", "3")
        assert "--trials" in said
        assert "keeps what it was started with" in said


def test_whatever_the_rates_a_run_that_finished_ends_with_0(project: Path) -> None:
    (project / "bad.py").write_text("def answer(text): raise ValueError('no')")
    result = liftbay(
        "run", "--scope", "TOOL_CALL", "--agent", "python:bad:answer", "--retries", 0, "--json", cwd=project
    )
    report = report_of(result)
    assert (report["state"], report["passRate"]["value"], report["cases"]["undecided"]) == ("finished", None, 4)


def test_a_run_that_its_budget_stopped_ends_with_1(project: Path) -> None:
    (project / "dear.py").write_text(
        "def answer(text): return {'text': text, 'trace': {'toolCalls': [], 'model': {'inputTokens': 600}}}"
    )
    result = liftbay(
        *("run", "--scope", "TOOL_CALL", "--agent", "python:dear:answer", "--max-tokens", 1000),
        *("--concurrency", 1, "--json"),
        cwd=project,
    )
    assert result.returncode == 1
    report = json.loads(result.stdout)
    assert (report["state"], report["cases"]["total"]) == ("cancelled", 2)
    assert "--resume" in result.stderr


class TestStopping:
    @staticmethod
    def stopped(folder: Path, with_signal: int) -> tuple[str, int]:
        """Start a run, stop it when a few cases are done; the id of the run and the exit code."""
        command = ("run", "--scope", "TOOL_CALL", "--agent", "python:slow:answer", "--concurrency", "3", "--json")
        with subprocess.Popen(
            [*LIFTBAY, *command],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            wait_until(lambda: logged(folder, "end").total() >= 10)
            process.send_signal(with_signal)
            said, complained = process.communicate(timeout=PATIENCE)
        assert said == ""
        assert "Traceback" not in complained
        assert "liftbay: stopped" in complained
        (run,) = json.loads(liftbay("runs", "list", "--json", cwd=folder).stdout)
        assert run["state"] == "interrupted"
        assert f"liftbay run --resume {run['id']}" in complained
        assert 10 <= run["results"] < 60
        return run["id"], process.returncode

    @pytest.mark.parametrize(("with_signal", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_a_run_that_was_stopped_goes_on_where_it_was(self, tmp_path: Path, with_signal: int, code: int) -> None:
        ids = slow_project(tmp_path)
        run, returned = self.stopped(tmp_path, with_signal)
        assert returned == code
        before = logged(tmp_path, "end")
        report = report_of(liftbay("run", "--resume", run, "--json", cwd=tmp_path))
        assert (report["run"], report["state"], report["cases"]["passed"]) == (run, "finished", 60)
        exported = liftbay("runs", "export", run, "--output", "out.jsonl", cwd=tmp_path)
        assert exported.returncode == 0, exported.stderr
        assert [line["case"]["id"] for line in read_lines(tmp_path / "out.jsonl")] == ids
        again = {id_ for id_, times in logged(tmp_path, "start").items() if times > 1}
        assert len(again) <= 3
        assert {id_ for id_ in before if logged(tmp_path, "end")[id_] > 1} <= again
        asked = logged(tmp_path, "start").total()
        assert report_of(liftbay("run", "--resume", run, "--json", cwd=tmp_path))["cases"]["passed"] == 60
        assert logged(tmp_path, "start").total() == asked, "a run that is finished asks nobody again"

    def test_it_goes_on_by_the_name_last_and_may_go_faster_but_not_measure_otherwise(self, tmp_path: Path) -> None:
        slow_project(tmp_path)
        run, _ = self.stopped(tmp_path, signal.SIGINT)
        refused = liftbay("run", "--resume", "last", "--trials", 2, cwd=tmp_path)
        assert refused.returncode == 2
        assert "--trials: a run that goes on keeps what it was started with" in refused.stderr
        report = report_of(liftbay("run", "--resume", "last", "--concurrency", 30, "--json", cwd=tmp_path))
        assert (report["run"], report["cases"]["passed"]) == (run, 60)

    @pytest.mark.parametrize("change", ["changed", "gone", "more"])
    def test_it_does_not_go_on_with_other_datasets(self, tmp_path: Path, change: str) -> None:
        slow_project(tmp_path)
        run, _ = self.stopped(tmp_path, signal.SIGINT)
        path = tmp_path / "datasets" / "cases.jsonl"
        lines = path.read_text()
        match change:
            case "changed":
                path.write_text(lines.replace("T-059", "T-999"))
            case "gone":
                path.write_text("".join(lines.splitlines(keepends=True)[:-1]))
            case "more":
                path.write_text(lines + lines.splitlines()[0].replace("T-000", "T-999") + "\n")
        result = liftbay("run", "--resume", run, cwd=tmp_path)
        assert result.returncode == 2
        assert f"{run}: the datasets have changed since the run began: TOOL_CALL" in result.stderr
        path.write_text(lines)
        assert report_of(liftbay("run", "--resume", run, "--json", cwd=tmp_path))["cases"]["passed"] == 60


def test_it_does_not_go_on_without_a_dataset_type_that_it_began_with(project: Path) -> None:
    first = report_of(liftbay("run", "--scope", "ALL", "--turn-settle", 0, "--json", cwd=project))
    (project / "datasets" / "multi_turn.jsonl").unlink()
    result = liftbay("run", "--resume", first["run"], cwd=project)
    assert (result.returncode, "the datasets have changed since the run began: MULTI_TURN" in result.stderr) == (
        2,
        True,
    )


def test_what_an_agent_prints_is_not_in_the_report(project: Path) -> None:
    (project / "loud.py").write_text("print('import')\ndef answer(text):\n    print('answer')\n    return text\n")
    result = liftbay("run", "--scope", "TOOL_CALL", "--agent", "python:loud:answer", "--json", cwd=project)
    assert json.loads(result.stdout)["state"] == "finished"
    assert "import" in result.stderr


def test_why_an_agent_crashed_is_in_the_report(project: Path) -> None:
    (project / "bad.py").write_text("class Own(BaseException): pass\ndef answer(text): raise Own('no keys left')\n")
    options = ("--scope", "TOOL_CALL", "--agent", "python:bad:answer", "--retries", 0)
    result = liftbay("run", *options, cwd=project)
    assert result.returncode == 0
    assert "for example TC-001 #1: the agent raised Own: no keys left" in result.stdout


def test_one_process_works_on_a_run(project: Path) -> None:
    (project / "slow.py").write_text("import time\ndef answer(text):\n    time.sleep(60)\n    return text\n")
    options = ("run", "--scope", "TOOL_CALL", "--agent", "python:slow:answer")
    with subprocess.Popen([*LIFTBAY, *options], cwd=project, env=environment(), stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert b"4 trials" in process.stderr.readline()
        for command in (("run", "--resume", "last"), ("runs", "rm", "last")):
            result = liftbay(*command, cwd=project)
            assert (result.returncode, "another process works on this run" in result.stderr) == (2, True)
        process.kill()
    assert liftbay("runs", "rm", "last", cwd=project).returncode == 0


def test_an_agent_that_cannot_be_stopped_does_not_keep_the_command(project: Path) -> None:
    (project / "stuck.py").write_text("import time\nasync def answer(text):\n    time.sleep(60)\n")
    options = ("run", "--scope", "TOOL_CALL", "--agent", "python:stuck:answer")
    with subprocess.Popen([*LIFTBAY, *options], cwd=project, env=environment(), stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert b"4 trials" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 143
