"""The sample agent as a newcomer meets it: found by its name, started and stopped, its traces complete."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from command import liftbay

from liftbay.catalog.dataset_types import DATASET_TYPES
from liftbay.catalog.metrics import METRICS
from liftbay.domain.vocabulary import Basis, DatasetType

SETTINGS = "[telemetry]\nport = 0\n"
AT_LEAST = {
    "BASIC_FUNCTION": 50,
    "KNOWLEDGE_QA": 100,
    "MULTI_TURN": 12,
    "ABNORMAL_INPUT": 24,
    "TOOL_CALL": 30,
    "MULTI_INTENT": 24,
    "AMBIGUOUS_INTENT": 24,
    "LONG_DIALOGUE_DECAY": 12,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose runs take any free port for spans."""
    (tmp_path / "liftbay.toml").write_text(SETTINGS)
    return tmp_path


def report(project: Path, *arguments: str) -> dict[str, Any]:
    """The report of a run of the sample agent."""
    done = liftbay("run", "--agent", "demo", "--json", *arguments, cwd=project, PWD=str(project), PYTHONWARNINGS="")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_its_cases_are_good_and_many(project: Path) -> None:
    done = liftbay("datasets", "validate", "demo", "--json", cwd=project)
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    assert (found["errors"], found["warnings"]) == ([], [])
    counts = {version["type"]: version["cases"] for version in found["datasets"]}
    assert set(counts) == {type_.value for type_ in DATASET_TYPES}
    assert {name: count for name, count in counts.items() if count < AT_LEAST[name]} == {}


def test_a_third_of_each_type_is_sealed(project: Path) -> None:
    counts = []
    for name in ("demo", "demo-open", "demo-sealed"):
        done = liftbay("datasets", "validate", name, "--json", cwd=project)
        assert done.returncode == 0, done.stdout
        counts.append({one["type"]: one["cases"] for one in json.loads(done.stdout)["datasets"]})
    everything, opened, sealed = counts
    for type_ in DatasetType:
        assert opened[type_] + sealed[type_] == everything[type_]
        assert abs(sealed[type_] / everything[type_] - 1 / 3) < 0.05


def test_every_module_is_seen(project: Path) -> None:
    """A few cases of every type: no verdict lacks a part of the trace, and no call of E2E_MOCK is without a mock."""
    found = report(project, "--scope", "ALL", "--limit", "4", "--turn-settle", "5")
    assert found["agent"] == "product-centre"
    assert found["agentVersion"]
    assert found["cases"]["total"] == 4 * len(DatasetType)
    by_trace = {
        name: metric
        for name, metric in found["metrics"].items()
        if METRICS[name].basis in (Basis.TRACE, Basis.TRACE_THEN_JUDGE)
    }
    for name, metric in by_trace.items():
        assert metric["errors"] == {}, name
        assert [reason for reason in metric["notApplicable"] if reason.startswith("the trace")] == [], name
    assert found["metrics"]["tool_load_success_rate"]["conditional"]["value"] == 1.0
    for probe in (
        "tool_calls",
        "time_to_first_token",
        "intent_latency",
        "planning_latency",
        "memory_injection_latency",
        "retrieval_latency",
        "hot_update_latency",
    ):
        assert found["probes"][probe]["values"]["n"] > 0, probe
    assert found["spans"]["used"] > 100
    assert found["spans"].get("dropped", 0) == 0


def test_it_is_stopped_at_the_end(project: Path) -> None:
    (project / "demo").mkdir()  # a folder of its name does not stand in its way
    report(project, "--scope", "TOOL_CALL", "--limit", "2")
    processes = Path("/proc").glob("[0-9]*") if Path("/proc").is_dir() else ()
    assert [process for process in processes if _is_of_the_agent(process, project)] == []


def _is_of_the_agent(process: Path, project: Path) -> bool:
    """Whether it was started for a run in this project: it has what liftbay's own environment said."""
    try:
        return f"PWD={project}".encode() in (process / "environ").read_bytes().split(b"\0")
    except OSError:  # it ended meanwhile, or is somebody else's
        return False


def test_mocks_answer_where_the_case_says_so(project: Path) -> None:
    found = report(project, "--scope", "TOOL_CALL", "--eval-mode", "E2E_MOCK")
    called = sum(tool["calls"] for tool in found["tools"].values())
    answered = sum(tool["mocked"] + tool["unmocked"] for tool in found["tools"].values())
    assert called == answered > 10
    store = sqlite3.connect(project / ".liftbay" / "liftbay.db")
    (spans,) = store.execute("SELECT count(*) FROM spans").fetchone()
    store.close()
    assert spans == found["cases"]["total"]
