"""Agents that an agent file describes, in processes of their own: `liftbay run` on them, and `liftbay agents check`."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from agent_projects import PATIENCE, SHOP, exported, project, report_of, run, tool_case, trace_of, wait_until
from command import LIFTBAY, environment, liftbay, read_lines
from scripted_model import ANSWER, serving

from liftbay.cli.main import main

PUBLISHING = 300.0  # milliseconds until a Skill that `shop_agent.py` publishes is in effect
STOCK_OF = {fruit: ("stock", {"fruit": fruit}) for fruit in ("apple", "pear")}
HOOK = {
    "url": "http://127.0.0.1:{port}/publish",
    "skill": "stock",
    "input": "how many apple?",
    "request": {"version": "{skillVersion}"},
}


class Shop:
    """A run on the shop, its results and what the shop itself noted."""

    def __init__(self, folder: Path) -> None:
        cases = [
            tool_case("mocked", "how many apple?", STOCK_OF["apple"], mocked=True),
            tool_case("unmocked", "what price has apple?", STOCK_OF["apple"], ("price", {}), mocked=True),
            tool_case("real", "how many apple and pear?", *STOCK_OF.values()),
        ]
        self.folder = project(folder, SHOP, cases, {"stock": [{"result": 99}]})
        began = time.monotonic()
        self.report = run(self.folder)
        self.seconds = time.monotonic() - began
        self.results = exported(self.folder)
        self.asked_for_real = read_lines(self.folder / "real.log")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """One run for several tests."""
    return Shop(tmp_path_factory.mktemp("shop"))


@pytest.fixture(scope="module", autouse=True)
def waiting_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """A run that waits for spans in vain, for 10 s: it is begun early, and other tests run meanwhile."""
    cases = [
        tool_case("late", "late apple?", STOCK_OF["apple"], ("tidy", {})),
        tool_case("tardy", "tardy pear?", STOCK_OF["pear"]),
        tool_case("silent", "silent", STOCK_OF["apple"]),
    ]
    folder = project(tmp_path_factory.mktemp("late"), SHOP, cases)
    command = [*LIFTBAY, "run", "--scope", "TOOL_CALL", "--agent", "agent.toml", "--retries", "0", "--json"]
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        yield folder, process
        process.terminate()


class TestRunOnAnHttpAgent:
    def test_every_case_is_decided_from_spans(self, shop: Shop) -> None:
        cases = shop.report["cases"]
        assert (cases["total"], cases["passed"], cases["undecided"]) == (3, 3, 0)
        metrics = shop.report["metrics"]
        assert metrics["tool_call_accuracy"]["conditional"]["value"] == 1.0
        assert metrics["parameter_mapping_accuracy"]["conditional"]["n"] == 5
        assert metrics["tool_decision_accuracy"]["beside"]["whetherToCall"]["n"] == 3

    def test_mock_data_answer_in_e2e_mock_and_the_real_tool_in_e2e_real(self, shop: Shop) -> None:
        assert shop.asked_for_real == [{"tool": "stock", "fruit": "apple"}, {"tool": "stock", "fruit": "pear"}]
        (mocked,) = trace_of(shop.results["mocked"])["toolCalls"]
        assert (mocked["mocked"], mocked["success"], mocked["result"]) == (True, True, "99")
        assert "99" in shop.results["mocked"]["episode"]["turns"][0]["answer"]
        real = trace_of(shop.results["real"])["toolCalls"]
        assert [(call["arguments"]["fruit"], call["result"]) for call in real] == [("apple", "3"), ("pear", "0")]
        assert not any(call.get("mocked") for call in real)

    def test_an_unmocked_call_is_seen(self, shop: Shop) -> None:
        assert shop.report["unmocked"] == {"trials": 1, "examples": ["unmocked #1: price"]}
        assert shop.report["tools"]["price"]["unmocked"] == 1
        stock = {"calls": 4, "succeeded": 4, "failed": 0, "unknown": 0, "mocked": 2, "unmocked": 0}
        assert shop.report["tools"]["stock"] == stock
        success = shop.report["metrics"]["tool_call_success_rate"]
        assert (success["conditional"]["n"], success["beside"]["mocked"]["n"]) == (2, 2)
        assert success["beside"]["mocked"]["value"] == 1.0, "what no mock answers is in neither number"

    def test_times_tokens_and_money(self, shop: Shop) -> None:
        probes = {name: probe["values"] for name, probe in shop.report["probes"].items()}
        each_turn = ("time_to_first_token", "response_latency", "intent_latency", "planning_latency")
        for probe in (*each_turn, "memory_injection_latency"):
            assert probes[probe]["n"] == 3
        assert 0 < probes["time_to_first_token"]["mean"] < probes["response_latency"]["mean"]
        assert (probes["tool_call_latency"]["n"], probes["tool_call_latency"]["p50"] >= 10) == (2, True)
        assert (probes["input_tokens"]["mean"], probes["output_tokens"]["mean"]) == (100, 20)
        assert probes["cost"]["mean"] == pytest.approx((100 * 10 + 20 * 100) / 1e6), "desk-1 has prices of its own"

    def test_the_agent_and_its_version_are_recorded(self, shop: Shop) -> None:
        assert (shop.report["agent"], shop.report["agentVersion"]) == ("agent", "2.1.0")
        assert shop.report["warnings"] == []

    def test_spans_are_counted_and_the_process_is_gone(self, shop: Shop) -> None:
        spans = shop.report["spans"]
        assert spans["received"] == spans["used"] == 3 * 5 + 5
        assert shop.seconds < 10
        assert not is_alive(shop.folder)

    def test_the_text_says_it_too(self, shop: Shop) -> None:
        shown = liftbay("rescope", "last", "TOOL", cwd=shop.folder)
        assert shown.returncode == 0, shown.stderr
        assert "agent 2.1.0 · TOOL · " in shown.stdout
        assert "Unmocked calls in 1 trials: no mock answers them, and the real tool was not asked" in shown.stdout
        assert "  unmocked #1: price" in shown.stdout
        assert "Spans: 20 received, 20 used; late: 0, of no trial: 0, repeated: 0, dropped: 0" in shown.stdout
        text = liftbay("--lang", "ja", "rescope", "last", "ALL", cwd=shop.folder).stdout
        cost = next(line for line in text.splitlines() if line.startswith("cost"))
        assert cost.split()[2] == "0.003", "a fraction of a cent is not nothing"


def pid_of(folder: Path) -> int:
    """The process of the shop."""
    return int((folder / "shop.pid").read_text())


def is_alive(folder: Path) -> bool:
    """Whether the shop's process still runs; what only waits to be reaped does not."""
    try:
        return "Z" not in Path(f"/proc/{pid_of(folder)}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def kept(folder: Path) -> int:
    """How many results the store has, while another process writes to it."""
    path = folder / ".liftbay" / "liftbay.db"
    if not (folder / "real.log").exists():
        return 0
    with closing(sqlite3.connect(path, timeout=PATIENCE)) as store:
        (count,) = store.execute("SELECT count(*) FROM results").fetchone()
    return int(count)


def test_killed_in_the_middle_the_agent_goes_too_and_the_run_goes_on(tmp_path: Path) -> None:
    cases = [tool_case(f"T-{n:02}", "how many apple?", STOCK_OF["apple"]) for n in range(80)]
    project(tmp_path, SHOP, cases)
    command = [*LIFTBAY, "run", "--scope", "TOOL_CALL", "--agent", "agent.toml", "--concurrency", "2"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: kept(tmp_path) > 0)
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: not is_alive(tmp_path))
    (listed,) = json.loads(liftbay("runs", "list", "--json", cwd=tmp_path).stdout)
    assert (listed["state"], 0 < listed["results"] < 80) == ("running", True)
    first = set(exported(tmp_path))
    resumed = report_of(
        liftbay("run", "--resume", "last", "--concurrency", 8, "--json", cwd=tmp_path, SHOP_VERSION="2.2.0")
    )
    assert (resumed["state"], resumed["cases"]["passed"], resumed["cases"]["total"]) == ("finished", 80, 80)
    assert resumed["warnings"] == ["the agent's version changed during the run: 2.1.0 → 2.2.0"]
    calls = len(read_lines(tmp_path / "real.log"))
    assert 80 <= calls <= 160 - len(first), "what was kept was not asked again"
    assert not is_alive(tmp_path)


def test_late_spans_and_none_at_all(waiting_run: tuple[Path, subprocess.Popen[str]]) -> None:
    folder, process = waiting_run
    said, complained = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, complained
    report = json.loads(said)
    record = report_of(liftbay("runs", "show", "last", "--json", cwd=folder))
    took = datetime.fromisoformat(record["ended"]) - datetime.fromisoformat(record["started"])
    assert 10 <= took.total_seconds() < 15, "so long for the spans that never come, and no longer"
    assert (report["cases"]["passed"], report["cases"]["undecided"]) == (2, 1)
    assert report["cases"]["undecidedByReason"] == {"trace incomplete": 1}
    assert report["metrics"]["tool_call_accuracy"]["errors"] == {"trace incomplete": 1}
    assert report["spans"] == {"received": 14, "used": 13, "late": 1}
    results = exported(folder)
    assert [call["name"] for call in trace_of(results["late"])["toolCalls"]] == ["stock", "tidy"]
    assert [call["name"] for call in trace_of(results["tardy"])["toolCalls"]] == ["stock"]
    assert "trace" not in results["silent"]["episode"]["turns"][0]


class TestHotUpdate:
    def test_it_is_measured_beside_the_run(self, tmp_path: Path) -> None:
        cases = [tool_case("T-1", "how many apple?", STOCK_OF["apple"])]
        project(tmp_path, {**SHOP, "publish_skill": HOOK}, cases)
        report = run(tmp_path, scope="TOOL")
        values = report["probes"]["hot_update_latency"]["values"]
        assert values["n"] == 1
        assert PUBLISHING <= values["mean"] < PUBLISHING + 1000, "turns start every 50 ms, where the machine keeps up"
        assert (report["warnings"], report["cases"]["total"]) == ([], 1)

    def test_a_hook_that_fails_is_a_note_in_the_report(self, tmp_path: Path) -> None:
        hook = {**HOOK, "url": "http://127.0.0.1:{port}/nowhere"}
        agent = {**SHOP, "trace": {"otlp": False}, "publish_skill": hook}
        project(tmp_path, agent, [tool_case("T-1", "how many apple?", STOCK_OF["apple"])])
        report = run(tmp_path, scope="TOOL")
        assert (report["probes"]["hot_update_latency"]["values"]["n"], report["cases"]["total"]) == (0, 1)
        (note,) = report["warnings"]
        assert note.startswith("hot_update_latency was not measured: ")
        assert "404" in note


class TestAgentsCheck:
    def test_an_http_agent(self, tmp_path: Path) -> None:
        project(tmp_path, SHOP)
        text = liftbay("agents", "check", "agent.toml", "--input", "how many apple?", cwd=tmp_path)
        assert text.returncode == 0, text.stderr
        assert text.stdout.splitlines()[:2] == ["agent 2.1.0", "user: how many apple?"]
        assert '"name":"stock","arguments":{"fruit":"apple"},"success":true' in text.stdout
        assert "Scopes that these traces can feed: 15 of 15" in text.stdout
        assert "  tool_loads  (for tool_load_success_rate)" in text.stdout
        assert read_lines(tmp_path / "real.log") == [{"tool": "stock", "fruit": "apple"}], "for real, once"

    def test_a_model_behind_an_endpoint(self, tmp_path: Path) -> None:
        with serving() as address:
            project(tmp_path, {"kind": "openai_chat", "name": "desk", "base_url": address, "model": "m"})
            found = report_of(liftbay("agents", "check", "agent.toml", "--json", cwd=tmp_path))
        assert (found["agent"], found["version"], found["answer"].strip()) == ("desk", "m", ANSWER)
        assert found["trace"]["model"]["byModel"] == {"m-2026": {"calls": 1, "inputTokens": 100, "outputTokens": 20}}
        assert (found["spans"], found["caveats"]) == (None, [])
        down = liftbay("agents", "check", "agent.toml", cwd=tmp_path)
        assert (down.returncode, "It did not answer: the connection failed" in down.stdout) == (1, True)

    def test_tools_that_could_not_be_loaded_are_named_with_the_reason(self, tmp_path: Path) -> None:
        with serving() as address:
            tools = {"mcp": [{"name": "hotels", "command": ["no-such-program"]}]}
            project(tmp_path, {"kind": "openai_chat", "name": "d", "base_url": address, "model": "m", "tools": tools})
            found = report_of(liftbay("agents", "check", "agent.toml", "--json", cwd=tmp_path))
        (note,) = found["caveats"]
        assert note.startswith("the tools of hotels could not be loaded: ")
        assert found["trace"]["toolLoads"] == [{"kind": "mcp", "name": "hotels", "success": False}]

    def test_a_record(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        project(tmp_path, {"kind": "replay", "file": "talks.json", "name": "old"})
        talk = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "yes"}]
        (tmp_path / "talks.json").write_text(json.dumps([{"task_id": "check", "reward": 1, "traj": talk}]))
        assert main(["agents", "check", str(tmp_path / "agent.toml")]) == 0
        said = capsys.readouterr().out
        assert said.startswith("old\n")
        assert "agent: yes" in said
        assert "time to first token not reported" in said

    def test_a_python_function_in_japanese(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.path", list(sys.path))
        (tmp_path / "checked_agents.py").write_text(
            "def black_box(text): return text\ndef broken(text): raise ValueError(text)\n"
        )
        for function, code, said in (
            ("black_box", 0, "トレースがありません"),
            ("broken", 1, "ValueError: こんにちは"),
        ):
            project(tmp_path, {"kind": "python", "function": f"checked_agents:{function}", "version": "3"})
            arguments = ["--lang", "ja", "agents", "check", str(tmp_path / "agent.toml"), "--input", "こんにちは"]
            assert main(arguments) == code
            shown = capsys.readouterr()
            assert said in shown.out
            assert (f"checked_agents:{function} 3" in shown.out, shown.err) == (True, "")


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"url": "http://x/"}, "kind: the field is missing", "give one of: openai_chat, http, python, replay"),
    ({"kind": "htpp"}, "kind: there is no htpp", "give one of: openai_chat, http, python, replay"),
    ({**SHOP, "setled": {"url": "x"}}, "setled: unknown key", "did you mean settled?"),
    ({**SHOP, "response": {"txt": "a"}}, "response.txt: unknown key", "did you mean response.text?"),
    ({**SHOP, "start": {"comand": []}}, "start.comand: unknown key", "did you mean start.command?"),
    (
        {"kind": "openai_chat", "name": "x", "base_url": "http://x/", "tools": {"mcp": [{"nmae": "a"}]}},
        "tools.mcp[0].nmae: unknown key",
        "did you mean tools.mcp[0].name?",
    ),
    (
        {"kind": "openai_chat", "name": "x", "base_url": "http://x/", "parameters": {"n": 2}},
        "parameters: liftbay sets n itself",
        "",
    ),
    ({"kind": "python", "function": "no_such_module:f"}, "function: the function cannot be imported", "check the name"),
    (
        {"kind": "python", "function": "json:dumps", "mocked": ["json:no"]},
        "mocked: the function cannot be imported",
        "",
    ),
    (
        {"kind": "python", "function": "json:dumps", "mcp_stand_in": {}},
        "mcp_stand_in: give exactly one of command, url and tools",
        "",
    ),
    (
        {**SHOP, "headers": {"Authorization": "Bearer {env:LIFTBAY_TEST_UNSET}"}},
        "headers.Authorization: the environment variable LIFTBAY_TEST_UNSET is not set",
        "set it: export LIFTBAY_TEST_UNSET=…",
    ),
]


@pytest.mark.parametrize(("agent", "cause", "remedy"), WRONG, ids=lambda value: str(value)[:40])
def test_a_mistake_in_the_agent_file_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], agent: dict[str, Any], cause: str, remedy: str
) -> None:
    path = project(tmp_path, agent) / "agent.toml"
    assert main(["--lang", "en", "agents", "check", str(path)]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(f"liftbay: error: {path}: {cause}")
    assert (f"remedy: {remedy}" in shown.err) == bool(remedy)
    assert shown.out == ""


def test_an_agent_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--lang", "en", "agents", "check", "nowhere.toml"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "liftbay: error: nowhere.toml: there is no such file",
        "  remedy: check the path",
    ]


@contextmanager
def taken_port() -> Iterator[int]:
    """A port that somebody listens at."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_port_that_is_in_use(tmp_path: Path) -> None:
    project(tmp_path, SHOP, [tool_case("T-1", "how many apple?", STOCK_OF["apple"])])
    with taken_port() as port:
        (tmp_path / "liftbay.toml").write_text(f"[telemetry]\nport = {port}\n")
        ended = liftbay("run", "--scope", "TOOL_CALL", "--agent", "agent.toml", cwd=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.splitlines() == [
        f"liftbay: error: 127.0.0.1:{port}: the port is in use",
        "  remedy: set host and port under [telemetry] in liftbay.toml; port = 0 takes any that is free",
    ]
    assert not (tmp_path / "shop.pid").exists(), "the agent was not started for nothing"


def check_without(package: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """`liftbay agents check` in a process that cannot import a package."""
    (folder / "sitecustomize.py").write_text(f"import sys\nsys.modules[{package!r}] = None\n")
    return liftbay("agents", "check", "agent.toml", cwd=folder, PYTHONPATH=str(folder))


def test_a_missing_extra_is_named_with_the_command_that_brings_it(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text("def answer(text): return text\n")
    project(tmp_path, SHOP)
    otel = check_without("opentelemetry", tmp_path)
    assert (otel.returncode, otel.stdout) == (2, "")
    assert 'remedy: install it: pip install "liftbay[otel]"' in otel.stderr
    project(tmp_path, {"kind": "python", "function": "echo:answer", "mcp_stand_in": {"command": ["x"]}})
    mcp = check_without("mcp", tmp_path)
    assert (mcp.returncode, mcp.stdout) == (2, "")
    assert 'remedy: install it: pip install "liftbay[mcp]"' in mcp.stderr
    project(tmp_path, {"kind": "python", "function": "echo:answer"})
    neither = check_without("opentelemetry", tmp_path)
    assert (neither.returncode, "agent: Hello." in neither.stdout) == (0, True), "who needs none is not held up"
