"""`liftbay diagnose` as a user meets it: blame, replays, resume, and what cannot be replayed."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from chat_server import serving
from command import liftbay, write_lines
from judge_double import completion
from places import synchronous

from liftbay.domain.blame import Culprit
from liftbay.stores.open import open_store

AGENT = """
import pathlib

FOUND = {"content": "queryTags の上限は毎秒200回", "id": "kb-1"}
OTHER = {"content": "食堂は水曜定休", "id": "kb-2"}
LOG = pathlib.Path(__file__).with_name("log")
STOP = pathlib.Path(__file__).with_name("stop")

def answer(text, overrides):
    with LOG.open("a") as log:
        log.write(f"{text} {overrides.route} {overrides.chunks is not None}\\n")
    if STOP.exists() and overrides.chunks is not None:
        import os, signal
        STOP.unlink()
        os.kill(os.getpid(), signal.SIGINT)
    wrong_route = "route" in text
    route = overrides.route or ("SKILL_HIT" if wrong_route else "SKILL_MISS")
    if route == "SKILL_HIT":
        return {"text": "商品を選んでください", "trace": traced(route, [])}
    chunks = [OTHER if "memory" in text else FOUND]
    if overrides.chunks is not None:
        chunks = [{"content": one.content, "id": one.id} for one in overrides.chunks]
    said = "; ".join(one["content"] for one in chunks)
    return {"text": said if "generation" not in text else "…", "trace": traced(route, [chunks])}

def traced(route, found):
    hit = route == "SKILL_HIT"
    return {
        "perception": {"intents": ["knowledge_qa"], "skillHit": hit},
        "planning": {"route": str(route)},
        "toolCalls": [],
        "retrievals": [{"count": len(chunks), "chunks": chunks} for chunks in found],
    }
"""
WITHOUT = """
def answer(text):
    return "…"
"""


def make_project(folder: Path) -> Path:
    """Cases of which a route, retrieval, generation or nothing is wrong."""
    (folder / "shop.py").write_text(AGENT, encoding="utf-8")
    (folder / "plain.py").write_text(WITHOUT, encoding="utf-8")
    (folder / "datasets").mkdir()
    (folder / "liftbay.toml").write_text('[agent]\ndefault = "python:shop:answer"\n', encoding="utf-8")
    kinds = ["good"] * 6 + ["memory"] * 6 + ["generation"] * 3
    cases = [
        {
            "id": f"{kind}-{number}",
            "datasetType": "KNOWLEDGE_QA",
            "userInput": f"{kind} {number}",
            "expectedRoute": "SKILL_MISS",
            "expectedIntent": "knowledge_qa",
            "referenceOutput": "毎秒200回",
            "expectedKnowledge": ["queryTags の上限は毎秒200回"],
        }
        for number, kind in enumerate(kinds)
    ]
    write_lines(folder / "datasets" / "cases.jsonl", cases)
    return folder


async def judge(request: web.Request) -> web.StreamResponse:
    """Passes what tells the figure, or a passage that holds it."""
    if request.path.endswith("/models"):
        return web.json_response({"data": [{"id": "the-judge"}]})
    body = await request.json()
    schema = body["response_format"]["json_schema"]["schema"]["properties"]
    question = body["messages"][-1]["content"]
    good = "食堂" not in question and "…" not in question
    if "items" not in schema:
        words = schema["verdict"]["enum"]
        return web.json_response(completion({"reasoning": "-", "verdict": words[0] if good else words[1]}))
    item = schema["items"]["items"]["properties"]
    word = item["verdict"]["enum"][0 if good else 1]
    items = [{"id": id_, "reasoning": "-", "verdict": word} for id_ in item["id"]["enum"]]
    return web.json_response(completion({"items": items}))


async def command(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command while the judge of this process answers."""
    return await asyncio.to_thread(lambda: liftbay(*arguments, cwd=folder))


def of_module(found: dict[str, Any], module: Culprit) -> dict[str, Any]:
    """What the replays say of a module."""
    by_module: dict[str, dict[str, Any]] = {one["culprit"]: one for one in found["confirmation"]["modules"]}
    return by_module[module.value]


@synchronous
async def test_from_a_bad_run_to_a_confirmed_cause(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    async with serving(judge) as url:
        run = await command(project, "run", "--scope", "KNOWLEDGE_QA", "--judge", url, "--json")
        assert run.returncode == 0, run.stderr
        report = json.loads(run.stdout)
        assert (report["cases"]["passed"], report["cases"]["failed"]) == (6, 9)

        blamed = await command(project, "diagnose", "last")
        assert blamed.returncode == 0, blamed.stderr
        assert "The first fault of 9 trials: memory 6" in blamed.stdout

        (project / "stop").touch()
        stopped = await command(project, "diagnose", "last", "--confirm", "--concurrency", "1")
        assert stopped.returncode == 130, stopped.stderr
        assert f"liftbay diagnose {report['run']} --confirm" in stopped.stderr
        assert not (project / "stop").exists()

        confirmed = await command(project, "diagnose", "last", "--confirm", "--json")
        assert confirmed.returncode == 0, confirmed.stderr
        found = json.loads(confirmed.stdout)
        log = (project / "log").read_text(encoding="utf-8")
        again = await command(project, "diagnose", "last", "--confirm", "--limit", "9")
        assert (project / "log").read_text(encoding="utf-8") == log, "what is kept is not run again"
    assert found["run"] == report["run"]
    memory = of_module(found, Culprit.MEMORY)
    assert (memory["replayed"], memory["passed"], memory["blamedPassed"]["value"]) == (6, 6, 1.0)
    assert memory["points"]["value"] == pytest.approx(6 / 15)
    assert memory["points"]["low"] > 0
    assert memory["asExpected"] == 3
    assert of_module(found, Culprit.PLANNING)["replayed"] == 0
    assert found["confirmation"]["repeated"]["value"] == 0
    assert "memory: 6 of 6 failed trials pass with its output put right." in again.stdout
    await _kept_as_runs(project, report["run"])
    refused = await command(project, "run", "--resume", f"{report['run']}-memory")
    assert refused.returncode == 2
    assert f"liftbay diagnose {report['run']} --confirm" in refused.stderr


async def _kept_as_runs(project: Path, run: str) -> None:
    store = await open_store(f"sqlite:///{project}/.liftbay/liftbay.db")
    replays = [one for one in await store.runs() if one.request.confirms is not None]
    assert {one.id for one in replays} == {f"{run}-memory", f"{run}-repeated"}
    assert {one.request.confirms.run for one in replays if one.request.confirms} == {run}
    assert {one.state.value for one in replays} == {"finished"}
    await store.close()


def test_an_agent_without_overrides_is_told_what_it_needs(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    run = liftbay("run", "--scope", "KNOWLEDGE_QA", "--agent", "python:plain:answer", cwd=project)
    assert run.returncode == 0, run.stderr
    told = liftbay("diagnose", "last", "--confirm", cwd=project)
    assert told.returncode == 2
    assert "this agent takes no overrides" in told.stderr
    assert "give the function a parameter named overrides" in told.stderr


def test_no_failed_trial(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    assert liftbay("run", "--scope", "PLANNING", "--dataset-type", "KNOWLEDGE_QA", cwd=project).returncode == 0
    nothing = liftbay("diagnose", "last", "--confirm", cwd=project)
    assert nothing.returncode == 0, nothing.stderr
    assert "No trial failed" in nothing.stdout
    assert "No trial could be replayed." in nothing.stdout
