"""The agent's parts, and the agent as a process."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("bm25s")
pytest.importorskip("sudachipy")
pytest.importorskip("mcp")

import liftbay_demo
from liftbay_demo.memory.knowledge import KnowledgeBase
from liftbay_demo.perception.offline import OfflinePerception
from liftbay_demo.places import KNOWLEDGE, SKILLS, TOOLS
from liftbay_demo.planning.offline import OfflinePlanning
from liftbay_demo.tools.catalogue import tools_in
from liftbay_demo.tools.skills import SkillFolder
from liftbay_demo.words import Words

Ask = Callable[..., dict[str, Any]]
Serve = Callable[..., AbstractContextManager[str]]


@pytest.fixture(scope="session")
def words() -> Words:
    return Words()


@pytest.fixture(scope="session")
def knowledge(words: Words) -> KnowledgeBase:
    return KnowledgeBase(KNOWLEDGE, words)


@pytest.fixture(scope="session")
def perception(words: Words, knowledge: KnowledgeBase) -> OfflinePerception:
    perception = OfflinePerception(words, knowledge)
    SkillFolder(SKILLS, perception.use).load()
    return perception


@pytest.fixture(scope="session")
def planning(words: Words) -> OfflinePlanning:
    planning = OfflinePlanning(tools_in(TOOLS), words)
    SkillFolder(SKILLS, planning.use).load()
    return planning


@pytest.fixture(scope="session")
def serve() -> Serve:
    return _serve


@pytest.fixture(scope="session")
def ask() -> Ask:
    return _ask


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """An agent that the tests share, each in sessions of its own."""
    with _serve() as address:
        yield address


@contextlib.contextmanager
def _serve(*arguments: str, env: dict[str, str] | None = None) -> Iterator[str]:
    source = str(Path(liftbay_demo.__file__).parent.parent)
    process = subprocess.Popen(
        [sys.executable, "-m", "liftbay_demo", "serve", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": source} | (env or {}),
    )
    assert process.stdout is not None
    try:
        assert select.select([process.stdout], [], [], 30)[0], "the agent did not start"
        address = process.stdout.readline().split()[-1]
        _wait_until_ready(address)
        yield address
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _wait_until_ready(address: str) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with contextlib.suppress(urllib.error.HTTPError), urllib.request.urlopen(f"{address}/ready") as response:
            assert response.status == 200
            return
        time.sleep(0.02)
    raise AssertionError("the agent is not ready")


def _ask(address: str, message: str, session: str, **more: Any) -> dict[str, Any]:
    body = json.dumps({"session": session, "message": message, **more}).encode()
    request = urllib.request.Request(f"{address}/chat", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            answer: dict[str, Any] = json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return {"status": error.code, **json.load(error)}
    return answer
