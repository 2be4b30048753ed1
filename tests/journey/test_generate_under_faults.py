"""`liftbay jmultiwoz generate` as a process, against an endpoint that fails in one known way."""

import contextlib
import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ENDPOINT = Path(__file__).with_name("faulty_endpoint.py")
LIFTBAY = (sys.executable, "-m", "liftbay", "--lang", "en", "jmultiwoz", "generate")
PATIENCE = 60.0
CLOCK = 0.01  # what two clocks may differ by


class Endpoint:
    """A faulty endpoint in a process of its own."""

    def __init__(self, address: str) -> None:
        self.base_url = f"{address}/v1"
        self._address = address

    def asked(self) -> dict[str, list[float]]:
        """For each id the times of its requests."""
        found: dict[str, list[float]] = self._get("counts")["asked"]
        return found

    def outcomes(self) -> dict[str, int]:
        """How often the endpoint did what."""
        found: dict[str, int] = self._get("counts")["outcomes"]
        return found

    def release(self) -> None:
        """Let go what `--hold-after` holds."""
        self._get("release")

    def _get(self, path: str) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self._address}/{path}", timeout=PATIENCE) as answer:
            return dict(json.load(answer))


@contextlib.contextmanager
def endpoint(*options: str) -> Iterator[Endpoint]:
    command = [sys.executable, str(ENDPOINT), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Endpoint(process.stdout.readline().split()[2])
        finally:
            process.terminate()


class Run:
    """The files of one generation and the command that makes it."""

    def __init__(self, folder: Path, records: int) -> None:
        self._folder = folder
        self.ids = [f"r{number:03}" for number in range(records)]
        self.result = folder / "output/result_faulty.jsonl"
        self.manifest = folder / "output/manifest_faulty.json"
        (folder / "tools.json").write_text(json.dumps([{"type": "function", "function": {"name": "find"}}]), "utf-8")
        (folder / "input.jsonl").write_text("".join(map(_input_line, self.ids)), "utf-8")

    def command(self, at: Endpoint, *options: str) -> list[str]:
        files = ("--tools", str(self._folder / "tools.json"), "--input", str(self._folder / "input.jsonl"))
        where = ("--base-url", at.base_url, "--model", "faulty", "--output-dir", str(self.result.parent))
        return [*LIFTBAY, *files, *where, *options]

    def go(self, at: Endpoint, *options: str) -> subprocess.CompletedProcess[str]:
        command = self.command(at, *options)
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)

    def start(self, at: Endpoint, *options: str) -> subprocess.Popen[bytes]:
        command = self.command(at, *options)
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def lines(self) -> list[str]:
        content = self.result.read_text("utf-8") if self.result.exists() else ""
        assert not content or content.endswith("\n")
        return content.splitlines()

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines()]

    def found_ids(self) -> list[str]:
        return sorted(record["data_id"] for record in self.records())

    def outcomes(self) -> list[str]:
        return [session["outcome"] for session in json.loads(self.manifest.read_text("utf-8"))["sessions"]]


def _input_line(id_: str) -> str:
    question = [{"role": "user", "content": f"record:{id_}"}]
    return json.dumps({"data_id": id_, "dialogue_id": f"dialogue_{id_}", "question": question}) + "\n"


def right(id_: str) -> list[dict[str, Any]]:
    return [{"name": "find", "arguments": {"place": id_}}]


def wait_until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "what the test waits for does not happen"
        time.sleep(0.02)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("PYTHONWARNINGS", "error")


@pytest.fixture
def _ctrl_c_works() -> Iterator[None]:
    """A child must not inherit that SIGINT is ignored, as it is where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_retry_after_is_waited_for(tmp_path: Path) -> None:
    run = Run(tmp_path, 1)
    with endpoint("--outcomes", "slow_down,right", "--retry-after", "2") as at:
        assert run.go(at).returncode == 0
        first, second = at.asked()["r000"]
    assert second - first >= 2 - CLOCK
    assert run.records()[0]["tool_calls"] == right("r000")


def test_a_429_does_not_spend_the_tries_of_a_timeout(tmp_path: Path) -> None:
    run = Run(tmp_path, 1)
    script = "hang,slow_down,slow_down,slow_down,slow_down,hang,right"
    with endpoint("--outcomes", script, "--retry-after", "0") as at:
        assert run.go(at, "--timeout", "1", "--max-retries", "3").returncode == 0
        assert len(at.asked()["r000"]) == 7
    assert run.records()[0]["tool_calls"] == right("r000")


def test_a_timeout_is_tried_so_often_in_all_two_seconds_apart(tmp_path: Path) -> None:
    run = Run(tmp_path, 1)
    with endpoint("--outcomes", "hang") as at:
        assert run.go(at, "--timeout", "0.2", "--max-retries", "2").returncode == 0
        first, second = at.asked()["r000"]
    assert second - first >= 2 - CLOCK
    dialogue = "dialogue_r000"
    assert run.records() == [
        {"data_id": "r000", "dialogue_id": dialogue, "tool_calls": [], "error": "TimeoutError"},
    ]


def test_another_4xx_is_an_error_record_at_once(tmp_path: Path) -> None:
    run = Run(tmp_path, 5)
    with endpoint("--outcomes", "bad_request") as at:
        assert run.go(at).returncode == 0
        assert [len(times) for times in at.asked().values()] == [1] * 5
    assert run.found_ids() == run.ids
    assert all(record["error"].startswith("AgentRefused: HTTP 400") for record in run.records())


@pytest.mark.parametrize("outcome", ["cut_json", "not_json", "wrong_types", "bad_arguments"])
def test_an_answer_that_is_no_completion_is_an_error_record_at_once(tmp_path: Path, outcome: str) -> None:
    run = Run(tmp_path, 12)
    with endpoint("--outcomes", outcome) as at:
        assert run.go(at).returncode == 0
        assert [len(times) for times in at.asked().values()] == [1] * 12
    assert run.found_ids() == run.ids
    assert all(record["error"].startswith("AgentProtocol: ") for record in run.records())


@pytest.mark.parametrize("outcome", ["reset", "half", "server_error", "unavailable"])
def test_a_server_fault_is_tried_again(tmp_path: Path, outcome: str) -> None:
    run = Run(tmp_path, 2)
    with endpoint("--outcomes", f"{outcome},right") as at:
        assert run.go(at).returncode == 0
        assert [len(times) for times in at.asked().values()] == [2, 2]
    assert {record["data_id"]: record["tool_calls"] for record in run.records()} == {id_: right(id_) for id_ in run.ids}


def test_refusals_from_the_first_on_stop_the_run_and_are_not_recorded(tmp_path: Path) -> None:
    run = Run(tmp_path, 40)
    with endpoint("--outcomes", "bad_request") as at:
        ended = run.go(at, "--concurrency", "4")
        asked = sum(map(len, at.asked().values()))
    assert ended.returncode == 1
    assert "refused the first 20 requests" in ended.stderr
    assert 'HTTP 400: {"error": {"message": "bad_request"}}' in ended.stderr.splitlines()[-2]
    assert run.result.read_bytes() == b""
    assert 20 <= asked < 20 + 4
    assert run.outcomes() == ["failed"]


def test_of_refusals_that_come_all_at_once_none_is_recorded(tmp_path: Path) -> None:
    run = Run(tmp_path, 100)
    with (
        endpoint("--outcomes", "bad_request", "--hold-after", "0") as at,
        run.start(at, "--concurrency", "64") as process,
    ):
        wait_until(lambda: len(at.asked()) == 64)
        process.send_signal(signal.SIGSTOP)
        at.release()
        wait_until(lambda: sum(at.outcomes().values()) == 64)
        process.send_signal(signal.SIGCONT)
        assert process.wait(PATIENCE) == 1
    assert run.result.read_bytes() == b""


@pytest.mark.usefixtures("_ctrl_c_works")
@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_leaves_a_whole_file_and_goes_on_from_there(
    tmp_path: Path, number: signal.Signals, exit_code: int
) -> None:
    run = Run(tmp_path, 30)
    with endpoint("--outcomes", "right", "--hold-after", "10") as at:
        with run.start(at, "--concurrency", "4") as process:
            wait_until(lambda: len(run.lines()) == 10)
            process.send_signal(number)
            assert process.wait(PATIENCE) == exit_code
        held = run.lines()
        assert len(held) == 10
        at.release()
        assert run.go(at).returncode == 0
        asked = at.asked()
    assert run.lines()[:10] == held
    assert run.found_ids() == run.ids
    assert all(len(asked[json.loads(line)["data_id"]]) == 1 for line in held)
    assert run.outcomes() == ["interrupted", "finished"]


def test_a_second_generator_on_the_same_file_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    run = Run(tmp_path, 20)
    with endpoint("--outcomes", "right", "--hold-after", "3") as at, run.start(at, "--concurrency", "2") as first:
        wait_until(lambda: len(run.lines()) == 3)
        held = run.lines()
        second = run.go(at)
        assert second.returncode == 1
        assert "another process is generating into this file" in second.stderr
        assert run.lines() == held
        at.release()
        assert first.wait(PATIENCE) == 0
        assert [len(times) for times in at.asked().values()] == [1] * 20
    assert run.found_ids() == run.ids
    assert run.outcomes() == ["finished"]


def test_error_records_are_asked_for_again_only_on_demand(tmp_path: Path) -> None:
    run = Run(tmp_path, 5)
    with endpoint("--outcomes", "not_json,right") as at:
        assert run.go(at).returncode == 0
        assert all("error" in record for record in run.records())
        assert run.go(at).returncode == 0
        assert [len(times) for times in at.asked().values()] == [1] * 5
        assert run.go(at, "--retry-errors").returncode == 0
        assert [len(times) for times in at.asked().values()] == [2] * 5
    assert run.found_ids() == run.ids
    assert all(record["tool_calls"] == right(record["data_id"]) for record in run.records())
