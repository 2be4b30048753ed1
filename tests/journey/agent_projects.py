"""Projects with an agent file, cases and mock data, for agents that run in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from command import liftbay, read_lines, write_lines

AGENTS = Path(__file__).parent / "agents"
PATIENCE = 60.0
SETTINGS = """
[telemetry]
port = 0

[prices]
input_per_million = 1
output_per_million = 2

[prices.models."desk-1"]
input_per_million = 10
output_per_million = 100
"""
# Where `shop_agent.py` answers, as its owner would say it.
SHOP: dict[str, Any] = {
    "kind": "http",
    "url": "http://127.0.0.1:{port}/chat",
    "version": {"url": "http://127.0.0.1:{port}/version", "path": "build.version"},
    "request": {"session": "{sessionId}", "message": "{userInput}"},
    "response": {"stream": {"delta": "delta", "done": "[DONE]"}},
    "trace": {"otlp": True},
    "ready": {"url": "http://127.0.0.1:{port}/ready"},
    "settled": {"url": "http://127.0.0.1:{port}/settled/{sessionId}"},
    "start": {
        "command": [sys.executable, str(AGENTS / "shop_agent.py"), "{port}"],
        "env": {"OTEL_EXPORTER_OTLP_TIMEOUT": "1"},  # seconds; it tries so long to send when it is told to end
    },
}


def project(
    folder: Path, agent: dict[str, Any], cases: Sequence[dict[str, Any]] = (), mocks: dict[str, Any] | None = None
) -> Path:
    """A folder with an agent file, `agent.toml`, cases, and the mock data `M`: the answers of tools by tool."""
    folder.mkdir(exist_ok=True)
    (folder / "liftbay.toml").write_text(SETTINGS)
    (folder / "agent.toml").write_text("".join(f"{key} = {as_toml(value)}\n" for key, value in agent.items()))
    for name in ("datasets", "mocks"):
        (folder / name).mkdir(exist_ok=True)
    write_lines(folder / "datasets" / "cases.jsonl", list(cases))
    write_lines(folder / "mocks" / "mocks.jsonl", [{"mockDataId": "M", "tools": mocks}] if mocks else [])
    return folder


def as_toml(value: Any) -> str:
    """A value as TOML writes it in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {as_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    return json.dumps(value)


def tool_case(id_: str, user_input: str, *tools: tuple[str, dict[str, Any]], mocked: bool = False) -> dict[str, Any]:
    """A case that expects these calls, with mock data or for real."""
    mode = {"evalMode": "E2E_MOCK", "mockDataId": "M"} if mocked else {"evalMode": "E2E_REAL"}
    expected = [{"name": name, "arguments": arguments} for name, arguments in tools]
    return {"id": id_, "datasetType": "TOOL_CALL", "userInput": user_input, "expectedTools": expected, **mode}


def run(folder: Path, *options: object, scope: str = "TOOL_CALL") -> dict[str, Any]:
    """The report of `liftbay run` on the agent file of the folder."""
    arguments = ("run", "--scope", scope, "--agent", "agent.toml", "--retries", 0, "--json", *options)
    return report_of(liftbay(*arguments, cwd=folder))


def report_of(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The JSON that a command printed."""
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def exported(folder: Path, run_id: str = "last") -> dict[str, dict[str, Any]]:
    """The results of a run by case."""
    ended = liftbay("runs", "export", run_id, "--output", "exported.jsonl", cwd=folder)
    assert ended.returncode == 0, ended.stderr
    return {result["case"]["id"]: result for result in read_lines(folder / "exported.jsonl")}


def trace_of(result: dict[str, Any], turn: int = 0) -> dict[str, Any]:
    """The trace of a turn of a result."""
    found: dict[str, Any] = result["episode"]["turns"][turn]["trace"]
    return found


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait for what must happen."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "what the test waits for does not happen"
        time.sleep(0.01)
