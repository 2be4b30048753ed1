"""How overrides reach agents, and how it is known that they do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from http_agents import TURN, agent_at, agent_of, serving
from places import synchronous

import liftbay
from liftbay.agents.python import PythonAgent, PythonFile, python_agent_of
from liftbay.domain.case import Message
from liftbay.domain.override import GivenResult, Overrides
from liftbay.domain.toolcall import ToolCall
from liftbay.domain.trace import Chunk
from liftbay.domain.vocabulary import Route
from liftbay.ports import OverridableAgent

RESPONSE = '[response]\ntext = "text"\n'
REQUEST = '[request]\nmessage = "{userInput}"\noverrides = "{overrides}"\n'
EVERYTHING = Overrides(
    intents=["stock-query"],
    skill="stock-query",
    route=Route.SKILL_HIT,
    history=[Message("user", "P-1?")],
    chunks=[Chunk("毎秒 200 回", id="kb-1")],
    tool_calls=[ToolCall("query_stock", {"id": "P-1"})],
    tool_results=[GivenResult("query_stock", {"left": 4})],
)


@synchronous
async def test_over_http_they_are_a_value_of_the_request_or_null() -> None:
    asked: list[Any] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        asked.append((await request.json())["overrides"])
        return web.json_response({"text": "ok"})

    async with serving(answer) as url, agent_at(f"{url}/chat", REQUEST + RESPONSE) as agent:
        assert agent.takes_overrides
        await agent.answer(TURN)
        await agent.answer(msgspec.structs.replace(TURN, overrides=EVERYTHING))
    assert asked == [
        None,
        {
            "intents": ["stock-query"],
            "skill": "stock-query",
            "route": "SKILL_HIT",
            "history": [{"role": "user", "content": "P-1?"}],
            "chunks": [{"content": "毎秒 200 回", "id": "kb-1"}],
            "toolCalls": [{"name": "query_stock", "arguments": {"id": "P-1"}}],
            "toolResults": [{"name": "query_stock", "result": {"left": 4}}],
        },
    ]


def test_the_sample_agent_reads_all_of_them() -> None:
    from liftbay_demo.overrides import Overrides as OfTheSample  # noqa: PLC0415

    read = msgspec.json.decode(msgspec.json.encode(EVERYTHING), type=OfTheSample)
    assert json.loads(msgspec.json.encode(read))["route"] == "SKILL_HIT"
    assert None not in msgspec.structs.astuple(read)


def test_an_http_agent_without_a_place_for_them_takes_none() -> None:
    agent = agent_of("http://127.0.0.1:9/chat", RESPONSE)
    assert isinstance(agent, OverridableAgent)
    assert not agent.takes_overrides


async def with_parameter(text: str, overrides: Overrides) -> str:
    """An agent that takes them as an argument."""
    return overrides.skill or text


def with_function(text: str) -> str:
    """An agent that asks for them somewhere inside."""
    return liftbay.overrides().skill or text


@pytest.mark.parametrize("function", [with_parameter, with_function])
@synchronous
async def test_a_python_agent_has_them_as_an_argument_or_asks_for_them(function: Any) -> None:
    agent = PythonAgent(function, "bot")
    assert (await agent.answer(TURN)).text == TURN.user_input
    assert (await agent.answer(msgspec.structs.replace(TURN, overrides=EVERYTHING))).text == "stock-query"
    assert liftbay.overrides() == Overrides()


def test_a_python_agent_says_that_it_takes_them(tmp_path: Path) -> None:
    assert PythonAgent(with_parameter, "bot").takes_overrides
    assert not PythonAgent(with_function, "bot").takes_overrides
    assert not PythonAgent(lambda text, **more: text, "bot").takes_overrides
    (tmp_path / "deepbot.py").write_text("def answer(text):\n    return text\n", encoding="utf-8")
    assert python_agent_of(PythonFile(function="deepbot:answer", overrides=True), tmp_path).takes_overrides
