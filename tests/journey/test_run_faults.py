"""`liftbay run` against agents that break in every way, stores that cannot be written, and kill -9."""

from __future__ import annotations

import asyncio
import json
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command import LIFTBAY, ROOT, environment, liftbay, read_lines, write_lines

from liftbay.agents.python import PythonAgent
from liftbay.domain.result import CaseResult, RunRecord, RunRequest, RunState
from liftbay.engine.run import Control
from liftbay.errors import StoreError
from liftbay.jobs.execute import Silent, execute
from liftbay.jobs.prepare import Prepared, prepare
from liftbay.stores.sqlite import SqliteStore

DRILL = ROOT / "bench/engine_faults.py"
PATIENCE = 60.0
AGENT = """
import asyncio, sys, time

CALLS = {"toolCalls": [{"name": "search", "arguments": {}, "success": True}]}

def plain(text, biz_code):
    match text:
        case "hang": time.sleep(3600)
        case "crash": raise ZeroDivisionError("broken")
        case "exit": sys.exit(3)
        case "gone": raise ConnectionResetError("gone")
        case "int": return 42
        case "bytes": return b"bytes"
        case "none": return None
        case "object": return {"text": "x", "trace": {"toolCalls": [{"name": "f", "result": object()}]}}
        case "surrogate": return "half a character: \\ud83d"
        case "empty": return ""
        case "big": return {"text": "\u5927" * 3_500_000, "trace": CALLS}
    return {"text": "fine", "trace": CALLS}

async def asynchronous(text, biz_code):
    match text:
        case "hang": await asyncio.Event().wait()
        case "exit": raise SystemExit(3)
        case "cancelled": raise asyncio.CancelledError
        case _: return plain(text, biz_code)
"""
REASONS = {
    "hang": "the trial did not finish: timeout",
    "crash": "the trial did not finish: the agent crashed",
    "exit": "the trial did not finish: the agent crashed",
    "cancelled": "the trial did not finish: the agent crashed",
    "gone": "the trial did not finish: the agent could not be reached",
    "int": "the trial did not finish: the answer could not be understood",
    "bytes": "the trial did not finish: the answer could not be understood",
    "none": "the trial did not finish: the answer could not be understood",
    "object": "the trial did not finish: the answer could not be understood",
    "surrogate": "the trial did not finish: the answer could not be understood",
    "empty": "trace incomplete",
}


def a_project(folder: Path, kinds: list[str], agent: str = AGENT) -> Path:
    """A folder with the agent, and a case for each kind of what it does."""
    (folder / "bot.py").write_text(agent)
    (folder / "datasets").mkdir()
    write_lines(
        folder / "datasets" / "cases.jsonl",
        [
            {
                "id": f"case-{number:03}",
                "bizCode": f"case-{number:03}",
                "datasetType": "TOOL_CALL",
                "userInput": kind,
                "expectedTools": [{"name": "search", "arguments": {}}],
            }
            for number, kind in enumerate(kinds)
        ],
    )
    return folder


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait for what must happen."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "what the test waits for does not happen"
        time.sleep(0.01)


def exported(folder: Path, run: str) -> list[dict[str, Any]]:
    """Everything that the store holds of a run."""
    result = liftbay("runs", "export", run, "--output", "exported.jsonl", cwd=folder)
    assert result.returncode == 0, result.stderr
    return read_lines(folder / "exported.jsonl")


@pytest.mark.parametrize("function", ["plain", "asynchronous"])
def test_whatever_the_agent_does_is_counted_and_the_run_finishes(tmp_path: Path, function: str) -> None:
    kinds = [kind for kind in REASONS if kind != "cancelled" or function == "asynchronous"] + ["fine", "big"]
    # So many that hang that they would fill any pool of threads.
    a_project(tmp_path, [*kinds, *["hang"] * 40, *["fine"] * 10])
    result = liftbay(
        *("run", "--scope", "TOOL_CALL", "--agent", f"python:bot:{function}", "--json"),
        *("--timeout", 0.5, "--retries", 0, "--concurrency", 16),
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    expected: dict[str, int] = {REASONS["hang"]: 40}
    for kind in kinds:
        if kind in REASONS:
            expected[REASONS[kind]] = expected.get(REASONS[kind], 0) + 1
    cases = report["cases"]
    assert cases["undecidedByReason"] == expected
    assert (cases["passed"], cases["failed"], cases["undecided"]) == (12, 0, sum(expected.values()))
    assert report["passRate"]["value"] == 1.0
    accuracy = report["metrics"]["tool_call_accuracy"]
    assert accuracy["allCases"]["value"] == 12 / cases["total"], "what broke counts against it here"
    assert accuracy["coverage"]["n"] == cases["total"]
    results = {line["case"]["userInput"]: line for line in exported(tmp_path, report["run"])}
    assert results["big"]["episode"]["turns"][0]["answer"] == "大" * 3_500_000
    assert results["empty"]["episode"]["turns"][0]["answer"] == ""
    assert "ZeroDivisionError: broken" in results["crash"]["episode"]["fault"]["message"]
    assert "not a text" in results["int"]["episode"]["fault"]["message"]


def test_an_agent_that_breaks_is_tried_again(tmp_path: Path) -> None:
    agent = "import pathlib\ndef answer(text, session_id):\n    log = pathlib.Path('log').open('a')\n"
    agent += "    with log: log.write(session_id + '\\n')\n    raise ValueError\n"
    a_project(tmp_path, ["x"], agent)
    result = liftbay(
        *("run", "--scope", "TOOL_CALL", "--agent", "python:bot:answer", "--retries", 1, "--json"), cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert len(set((tmp_path / "log").read_text().split())) == 2, "each try is a session of its own"


def test_an_agent_that_takes_the_process_with_it_loses_only_its_own_trial(tmp_path: Path) -> None:
    agent = (
        "import asyncio, os, pathlib\n"
        "async def answer(text, biz_code):\n"
        "    await asyncio.sleep(0.01)\n"
        "    if biz_code == 'case-030' and not pathlib.Path('died').exists():\n"
        "        pathlib.Path('died').touch()\n"
        "        await asyncio.sleep(1)\n"  # what finished before is committed by then
        "        os._exit(42)\n"
        "    return {'text': 'fine', 'trace': {'toolCalls': [{'name': 'search', 'arguments': {}}]}}\n"
    )
    a_project(tmp_path, ["x"] * 31, agent)
    died = liftbay("run", "--scope", "TOOL_CALL", "--agent", "python:bot:answer", cwd=tmp_path)
    assert died.returncode == 42
    (run,) = json.loads(liftbay("runs", "list", "--json", cwd=tmp_path).stdout)
    assert (run["state"], run["results"]) == ("running", 30)
    resumed = liftbay("run", "--resume", run["id"], "--json", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["cases"]["passed"] == 31


def test_killed_at_random_moments_and_resumed() -> None:
    command = [sys.executable, str(DRILL), "--cases", "200", "--kills", "3", "--concurrency", "8", "--slack", "1"]
    drill = subprocess.run(command, capture_output=True, text=True, check=False)
    assert drill.returncode == 0, drill.stdout + drill.stderr


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process, as it were, writes to the file."""
    other = sqlite3.connect(path, isolation_level=None, timeout=PATIENCE)
    try:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
    finally:
        other.close()


def test_a_store_that_is_locked_for_a_while_is_waited_for(tmp_path: Path) -> None:
    agent = "import asyncio, pathlib\nasync def answer(text):\n    pathlib.Path('begun').touch()\n"
    agent += "    await asyncio.sleep(0.01)\n    return {'text': text, 'trace': {'toolCalls': []}}\n"
    a_project(tmp_path, ["x"] * 30, agent)
    command = [*LIFTBAY, "run", "--scope", "TOOL_CALL", "--agent", "python:bot:answer", "--json"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_until((tmp_path / "begun").exists)
        with locked(tmp_path / ".liftbay" / "liftbay.db"):
            time.sleep(0.5)
        said, complained = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, complained
    assert json.loads(said)["cases"]["failed"] == 30


def prepared_run(folder: Path, agent: PythonAgent) -> Prepared:
    """A run of the cases in the folder."""
    return prepare(RunRequest(scope="TOOL_CALL", agent="bot", dataset=[str(folder / "datasets")]), agent)


def test_a_store_that_stays_locked_ends_the_run_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    a_project(tmp_path, ["x"] * 10)
    asked: list[str] = []

    async def answer(_text: str, biz_code: str) -> dict[str, Any]:
        asked.append(biz_code)
        await asyncio.sleep(0.02)
        return {"text": "", "trace": {"toolCalls": []}}

    agent = PythonAgent(answer, "bot")
    run = prepared_run(tmp_path, agent)

    async def fails() -> None:
        store = SqliteStore(path, busy_timeout=0.1)
        await store.open()
        await store.add_run(run.record)
        try:
            with pytest.raises(StoreError, match="locked by another process") as caught:
                await execute(run.record, run.plan, locking(run), agent, store, Silent(), Control())
            assert caught.value.place == str(path)
            assert caught.value.exit_code == 1
        finally:
            await store.close()

    def locking(run: Prepared) -> Iterator[Any]:
        """The cases; from the fourth on the store is locked."""
        for number, case in enumerate(run.cases()):
            if number == 3:
                lock.execute("BEGIN IMMEDIATE")
            yield case

    async def goes_on() -> tuple[RunRecord, list[CaseResult]]:
        store = SqliteStore(path)
        await store.open()
        try:
            kept = await store.run(run.record.id)
            assert kept is not None
            record = await execute(kept, run.plan, run.cases(), agent, store, Silent(), Control())
            return record, [result async for result in store.results(record.id)]
        finally:
            await store.close()

    lock = sqlite3.connect(path, isolation_level=None)
    try:
        asyncio.run(fails())
        lock.execute("ROLLBACK")
    finally:
        lock.close()
    record, results = asyncio.run(goes_on())
    assert record.state is RunState.FINISHED
    assert [result.case.id for result in results] == [f"case-{number:03}" for number in range(10)]


def test_a_full_disk_ends_the_run_and_it_goes_on_when_there_is_room(tmp_path: Path) -> None:
    agent = (
        "import asyncio, os\n"
        "async def answer(text):\n"
        "    await asyncio.sleep(0.01)\n"
        "    return {'text': os.urandom(20_000).hex(), 'trace': {'toolCalls': []}}\n"
    )
    a_project(tmp_path, ["x"] * 200, agent)
    limit = 1_000_000
    command = [*LIFTBAY, "run", "--scope", "TOOL_CALL", "--agent", "python:bot:answer", "--json"]
    full = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert full.returncode == 1
    assert full.stdout == ""
    assert "disk is full" in full.stderr or "cannot be read or written" in full.stderr
    assert "remedy: make room on the disk" in full.stderr
    assert "Traceback" not in full.stderr
    (run,) = json.loads(liftbay("runs", "list", "--json", cwd=tmp_path).stdout)
    assert 0 <= run["results"] < 200
    before = {line["case"]["id"]: line["episode"]["sessionId"] for line in exported(tmp_path, run["id"])}
    resumed = liftbay("run", "--resume", run["id"], "--json", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    after = {line["case"]["id"]: line["episode"]["sessionId"] for line in exported(tmp_path, run["id"])}
    assert len(after) == 200
    assert {id_: after[id_] for id_ in before} == before, "what was stored was not run again"
    assert json.loads(resumed.stdout)["cases"]["total"] == 200


def test_a_plain_function_that_hangs_does_not_hold_up_ctrl_c(tmp_path: Path) -> None:
    agent = "import pathlib, time\ndef answer(text):\n    pathlib.Path('hangs').touch()\n    time.sleep(3600)\n"
    a_project(tmp_path, ["x"] * 4, agent)
    command = [*LIFTBAY, "run", "--scope", "TOOL_CALL", "--agent", "python:bot:answer"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_until((tmp_path / "hangs").exists)
        process.send_signal(signal.SIGINT)
        _, complained = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "liftbay: stopped" in complained
