"""A judge that fails in every way: the run ends, and the counts are right."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from aiohttp import web
from chat_server import Handler, serving
from judge_double import completion
from judge_project import CASES, VERDICTS, make_project, obliging
from places import synchronous

import liftbay
from liftbay.transport import retry

NO_ANSWER = "the judge did not answer: "
UNREADABLE = "the judge's answer cannot be read"


def body(content: bytes, status: int = 200) -> Handler:
    """Answers with these bytes."""

    async def reply(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, body=content, content_type="application/json", headers={"Retry-After": "1"})

    return reply


def model(text: Any) -> Handler:
    """A model that always says the same."""

    async def reply(_: web.Request) -> web.StreamResponse:
        return web.json_response(completion(text))

    return reply


async def hang(_: web.Request) -> web.StreamResponse:
    """Never answers."""
    await asyncio.Event().wait()
    raise AssertionError


FAULTS: dict[str, tuple[Handler, str]] = {
    "slow": (hang, NO_ANSWER + "timeout"),
    "500": (body(b"oh", 500), NO_ANSWER + "it could not be reached"),
    "429": (body(b"busy", 429), NO_ANSWER + "it could not be reached"),
    "401": (body(b"who", 401), NO_ANSWER + "the request was refused"),
    "wrong JSON": (body(b'{"answer": 42}'), NO_ANSWER + "the answer could not be understood"),
    "half JSON": (body(b'{"choices": [{"message": {"cont'), NO_ANSWER + "the answer could not be understood"),
    "an error with 200": (body(b'{"error": {"message": "x"}}'), NO_ANSWER + "the answer could not be understood"),
    "half a verdict": (model('{"reasoning": "the answer'), UNREADABLE),
    "a verdict outside the enum": (model({"reasoning": "x", "verdict": "so so"}), UNREADABLE),
    "1 MB": (model("x" * 1_200_000), UNREADABLE),
    "nonsense": (model("\x00{[}{" * 1000), UNREADABLE),
    "nothing": (model(""), UNREADABLE),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, where nobody waits between two tries."""

    async def sleep(_: float) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr(retry, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.chdir(tmp_path)
    return make_project(tmp_path)


async def judged(project: Path, url: str) -> dict[str, Any]:
    """The report of a run with a judge that waits a tenth of a second for an answer."""
    (project / "judge.toml").write_text(f'url = "{url}"\nmodel = "m"\ntimeout = 0.1\n')
    report = await liftbay.run_async("KNOWLEDGE_QA", "python:shop:answer", judge=str(project / "judge.toml"))
    found: dict[str, Any] = msgspec.to_builtins(report)
    return found


def errors(report: dict[str, Any]) -> Counter[str]:
    """How many verdicts of the judge ended in which error."""
    return sum((Counter(one["errors"]) for one in report["metrics"].values()), Counter())


@pytest.mark.parametrize(("reply", "reason"), FAULTS.values(), ids=FAULTS)
@synchronous
async def test_one_that_always_fails(project: Path, reply: Handler, reason: str) -> None:
    async with serving(reply) as url:
        report = await judged(project, url)
    assert (report["state"], report["cases"]["total"], report["cases"]["undecided"]) == ("finished", CASES, CASES)
    assert errors(report) == {reason: VERDICTS}
    routing = report["metrics"]["routing_accuracy"]
    assert (routing["conditional"]["n"], routing["conditional"]["value"]) == (CASES, 1), "what the trace says stands"


@synchronous
async def test_one_that_is_down(project: Path) -> None:
    report = await judged(project, "http://127.0.0.1:9/v1")
    assert (report["state"], errors(report)) == ("finished", {NO_ANSWER + "it could not be reached": VERDICTS})


@synchronous
async def test_one_that_fails_now_and_then(project: Path) -> None:
    """Every question fails once in some way that another try mends: a fault in between, or prose in place of JSON."""

    async def moody(request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        key = re.sub("data-[0-9a-f]{16}", "", asked["messages"][1]["content"])
        seen[key] += 1
        if seen[key] == 1:
            return await replies[len(seen) % len(replies)](request)
        return web.json_response(obliging(asked))

    seen: Counter[str] = Counter()
    replies = [body(b"oh", 500), body(b"busy", 429), model("I would pass it."), model({"verdict": "?"})]
    async with serving(moody) as url:
        report = await judged(project, url)
    assert errors(report) == {}
    assert report["passRate"]["value"] == 1
    assert len(seen) == VERDICTS


@synchronous
async def test_one_that_fails_for_some(project: Path) -> None:
    """What it says of the one case stands, whatever becomes of the other."""

    async def partly(request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        if "質問 3" in asked["messages"][1]["content"]:
            return await body(b"oh", 500)(request)
        return web.json_response(obliging(asked))

    async with serving(partly) as url:
        report = await judged(project, url)
    assert errors(report) == {NO_ANSWER + "it could not be reached": 4}
    assert (report["cases"]["passed"], report["cases"]["undecided"]) == (CASES - 1, 1)
    task = report["metrics"]["task_completion_rate"]
    assert (task["conditional"]["n"], task["allCases"]["n"]) == (CASES - 1, CASES)
