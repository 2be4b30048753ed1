"""The chat agent against scripted endpoints: its loop, its trace, its sessions, and every way to go wrong."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_server
import msgspec
import pytest
from aiohttp import web
from chat_server import Handler, ScriptedChat, calling, delta, saying, serving, sse
from places import synchronous
from trial_double import TrialDouble

from liftbay.agents import openai_chat
from liftbay.agents.openai_chat import OpenAIChatAgent, OpenAIChatFile
from liftbay.domain.case import Case, ConversationRound, Message
from liftbay.domain.episode import FaultKind, Turn
from liftbay.domain.trace import ModelTokens, ModelUsage, ToolCallRecord, ToolLoad
from liftbay.domain.vocabulary import DatasetType
from liftbay.engine.drive import drive
from liftbay.engine.pace import Pace
from liftbay.errors import AgentProtocol, AgentRefused, AgentUnreachable, InputError, LiftbayError
from liftbay.ports import AgentAnswer, AgentInput, Intercepted

FUNCTIONS = '''
"""Tools."""
import asyncio

async def price(hotel: str) -> int:
    """The price of a night."""
    return {"京都": 12300}[hotel]

def huge() -> str:
    return "x" * 5_000_000

async def hangs() -> None:
    await asyncio.sleep(60)
'''
STDIO = {"name": "hotels", "command": [sys.executable, mcp_server.__file__]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the agent file."""
    monkeypatch.setattr("sys.path", list(sys.path))
    monkeypatch.delitem(sys.modules, "chat_functions", raising=False)
    monkeypatch.delenv("LIFTBAY_OPENAI_API_KEY", raising=False)
    (tmp_path / "chat_functions.py").write_text(FUNCTIONS, encoding="utf-8")
    return tmp_path


def chat_agent(url: str, folder: Path, **keys: Any) -> OpenAIChatAgent:
    """The agent of a file with these keys."""
    file = {"kind": "openai_chat", "name": "test", "base_url": url, "model": "m-0", **keys}
    return OpenAIChatAgent(msgspec.convert(file, OpenAIChatFile), folder, connections=4)


@asynccontextmanager
async def started(handler: Handler, folder: Path, **keys: Any) -> AsyncIterator[OpenAIChatAgent]:
    """An agent that has started, with its endpoint."""
    async with serving(handler) as url:
        agent = chat_agent(url, folder, **keys)
        try:
            await agent.start()
            yield agent
        finally:
            await agent.close()


def case(**fields: Any) -> Case:
    """A case of one turn."""
    return Case(id="case-1", dataset_type=DatasetType.TOOL_CALL, user_input="いくら？", **fields)


def turn(
    case_: Case | None = None, tools: TrialDouble | None = None, earlier: Sequence[Turn] = (), **fields: Any
) -> AgentInput:
    """A turn."""
    asked = {"session_id": "s-1", "trial": 1, "round": len(earlier) + 1, "user_input": "いくら？", **fields}
    return AgentInput(case=case_ or case(), earlier=earlier, tools=tools, **asked)


async def answered(chat: Handler, folder: Path, asked: AgentInput | None = None, **keys: Any) -> AgentAnswer:
    """The answer of one turn."""
    async with started(chat, folder, **keys) as agent:
        return await agent.answer(asked or turn())


PRICE = {"python": ["chat_functions:price"]}


@synchronous
async def test_an_answer_without_tools(folder: Path) -> None:
    chat = ScriptedChat(saying("12,300 円です。", (20, 8)))
    answer = await answered(chat, folder, turn(traceparent="00-ab-cd-01"), parameters={"temperature": 0, "seed": 1})
    assert answer.text == "12,300 円です。"
    assert answer.trace is not None
    assert (answer.trace.tool_calls, answer.trace.tool_loads) == ([], [])
    assert answer.trace.model == ModelUsage(
        calls=1, input_tokens=20, output_tokens=8, by_model={"m-1": ModelTokens(1, 20, 8)}
    )
    assert answer.time_to_first_token_ms is not None
    assert 0 < answer.time_to_first_token_ms < 5000
    assert chat.asked == [
        {
            "temperature": 0,
            "seed": 1,
            "model": "m-0",
            "messages": [{"role": "user", "content": "いくら？"}],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ]
    assert chat.headers[0]["traceparent"] == "00-ab-cd-01"
    assert "Authorization" not in chat.headers[0]


@synchronous
async def test_the_loop_calls_tools_in_order_until_the_model_answers(folder: Path) -> None:
    chat = ScriptedChat(
        calling(("price", '{"hotel": "京都"}'), ("price", '{"hotel": "奈良"}'), text="調べます", tokens=(10, 5)),
        calling(("price", '{"hotel"'), ("nothing", "{}"), tokens=(30, 6)),
        saying("12,300 円です。", (50, 7)),
    )
    answer = await answered(chat, folder, tools=PRICE)
    assert answer.text == "12,300 円です。"
    assert answer.trace is not None
    assert answer.trace.tool_calls is not None
    one, two, three, four = answer.trace.tool_calls
    assert (one.name, one.arguments, one.success, one.result) == ("price", {"hotel": "京都"}, True, 12300)
    assert one.latency_ms is not None
    assert (two.success, two.error) == (False, "KeyError: '奈良'")
    assert (three.success, three.arguments, three.latency_ms) == (False, {}, None)
    assert three.error is not None
    assert three.error.startswith("the arguments are not a JSON object")
    assert (four.name, four.error) == ("nothing", "there is no tool of the name nothing")
    assert answer.trace.model is not None
    assert (answer.trace.model.calls, answer.trace.model.input_tokens, answer.trace.model.output_tokens) == (3, 90, 18)

    first, second, third = chat.asked
    assert [tool["function"]["name"] for tool in first["tools"]] == ["price"]
    assert second["messages"][1] == {
        "role": "assistant",
        "content": "調べます",
        "tool_calls": [
            {"id": "c0", "type": "function", "function": {"name": "price", "arguments": '{"hotel": "京都"}'}},
            {"id": "c1", "type": "function", "function": {"name": "price", "arguments": '{"hotel": "奈良"}'}},
        ],
    }
    assert second["messages"][2:] == [
        {"role": "tool", "tool_call_id": "c0", "content": "12300"},
        {"role": "tool", "tool_call_id": "c1", "content": """{"error":"KeyError: '奈良'"}"""},
    ]
    assert third["messages"][4]["tool_calls"][0]["function"]["arguments"] == "{}"  # servers refuse what is no JSON
    assert third["messages"][4]["content"] is None


@synchronous
async def test_calls_without_an_id_of_their_own_get_one(folder: Path) -> None:
    pieces = [{"index": i, "id": "same", "function": {"name": "price", "arguments": "{}"}} for i in range(2)]
    pieces.append({"index": 2, "function": {"name": "price"}})
    chat = ScriptedChat(sse(delta(tool_calls=pieces), delta("tool_calls")), saying("ok"))
    await answered(chat, folder, tools=PRICE)
    ids = [call["id"] for call in chat.asked[1]["messages"][1]["tool_calls"]]
    assert ids[0] == "same"
    assert len(set(ids)) == 3
    assert [message["tool_call_id"] for message in chat.asked[1]["messages"][2:]] == ids


@synchronous
async def test_mock_data_answers_in_place_of_the_tool(folder: Path) -> None:
    chat = ScriptedChat(calling(("price", '{"hotel": "奈良"}'), ("other", "{}")), saying("9,000 円です。"))
    definitions = [{"type": "function", "function": {"name": "other", "parameters": {"type": "object"}}}]
    trial = TrialDouble(price=Intercepted(result={"yen": 9000}, latency_ms=1), other=Intercepted(unmocked=True))
    answer = await answered(chat, folder, turn(case(tools=definitions), trial), tools=PRICE)
    assert answer.trace is not None
    assert answer.trace.tool_calls == [
        ToolCallRecord("price", {"hotel": "奈良"}, success=True, result={"yen": 9000}, mocked=True),
        ToolCallRecord("other", {}, success=False, error="unmocked call", unmocked=True),
    ]
    assert trial.asked == [("price", {"hotel": "奈良"}), ("other", {})]
    assert [message["content"] for message in chat.asked[1]["messages"][2:]] == [
        '{"yen":9000}',
        '{"error":"unmocked call"}',
    ]


@synchronous
async def test_the_case_may_bring_tools_and_describe_those_of_the_agent(folder: Path) -> None:
    (folder / "tools.json").write_text('[{"type": "function", "function": {"name": "mine"}}]', encoding="utf-8")
    described = {"type": "function", "function": {"name": "price", "description": "otherwise"}}
    theirs = {"type": "function", "function": {"name": "theirs"}}
    chat = ScriptedChat(calling(("price", '{"hotel": "京都"}'), ("mine", "{}"), ("theirs", "")), saying("ok"))
    asked = turn(case(tools=[described, theirs]), TrialDouble(None))
    answer = await answered(chat, folder, asked, tools={**PRICE, "file": "tools.json"})
    offered = {tool["function"]["name"]: tool["function"] for tool in chat.asked[0]["tools"]}
    assert list(offered) == ["mine", "price", "theirs"]
    assert offered["price"]["description"] == "otherwise"
    assert answer.trace is not None
    assert answer.trace.tool_calls is not None
    assert [call.success for call in answer.trace.tool_calls] == [True, False, False]
    assert {call.error for call in answer.trace.tool_calls[1:]} == {"there is no implementation behind this tool"}


@synchronous
async def test_the_system_prompt_and_the_history_come_first(folder: Path) -> None:
    (folder / "prompt.txt").write_text("短く答える。", encoding="utf-8")
    history = [Message("user", "こんにちは"), Message("assistant", "はい")]
    for keys in ({"system_prompt": "短く答える。"}, {"system_prompt_file": "prompt.txt"}):
        chat = ScriptedChat(saying("ok"))
        await answered(chat, folder, turn(case(history=history)), **keys)
        assert chat.asked[0]["messages"] == [
            {"role": "system", "content": "短く答える。"},
            {"role": "user", "content": "こんにちは"},
            {"role": "assistant", "content": "はい"},
            {"role": "user", "content": "いくら？"},
        ]


def conversation(rounds: int = 3) -> Case:
    """A case of several turns."""
    chain = [ConversationRound(number + 1, f"問い {number + 1}") for number in range(rounds)]
    return Case(id="c", dataset_type=DatasetType.MULTI_TURN, conversation_chain=chain)


@synchronous
async def test_a_session_keeps_its_calls_and_is_forgotten_after_its_last_turn(folder: Path) -> None:
    chat = ScriptedChat(calling(("price", '{"hotel": "京都"}')), saying("12,300 円"), saying("はい"), saying("どうも"))
    async with started(chat, folder, tools={"mcp": [STDIO]}, system_prompt="短く") as agent:
        episode = await drive(agent, conversation(), 1, turn_timeout=20, turn_settle=0, pace=Pace())
        assert [turn.answer for turn in episode.turns] == ["12,300 円", "はい", "どうも"]
        roles = [message["role"] for message in chat.asked[3]["messages"]]
        assert roles == ["system", "user", "assistant", "tool", *["assistant", "user"] * 2]
        assert [message["content"] for message in chat.asked[3]["messages"] if message["role"] == "user"] == [
            "問い 1",
            "問い 2",
            "問い 3",
        ]
        loads = [turn.trace.tool_loads for turn in episode.turns if turn.trace]
        assert loads == [[ToolLoad("mcp", "hotels", success=True)], [], []]  # loaded once
        assert agent._histories == {}


@synchronous
async def test_sessions_that_are_never_ended_are_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_chat, "_SESSIONS", 2)
    chat = ScriptedChat(saying("答え"))
    case_ = conversation()
    async with started(chat, folder) as agent:
        for session in ("a", "b", "c"):
            await agent.answer(turn(case_, session_id=session, round=1))
        assert list(agent._histories) == ["b", "c"]
        earlier = [Turn(1, "問い 1", "答えた"), Turn(2, "問い 2")]
        await agent.answer(turn(case_, earlier=earlier, session_id="a"))  # what was said is still known
    assert [message["content"] for message in chat.asked[-1]["messages"]] == [
        "問い 1",
        "答えた",
        "問い 2",
        "",
        "いくら？",
    ]


@synchronous
async def test_without_a_stream_there_is_no_first_token(folder: Path) -> None:
    whole = {"choices": [{"message": {"content": "whole"}}], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}
    chat = ScriptedChat(whole)
    answer = await answered(chat, folder, stream=False)
    assert (answer.text, answer.time_to_first_token_ms) == ("whole", None)
    assert answer.trace is not None
    assert answer.trace.model == ModelUsage(
        calls=1, input_tokens=3, output_tokens=4, by_model={"m-0": ModelTokens(1, 3, 4)}
    )
    assert "stream" not in chat.asked[0]


@synchronous
async def test_tokens_that_are_not_told_every_time_are_not_told(folder: Path) -> None:
    chat = ScriptedChat(calling(("price", "{}")), sse(delta(content="a"), delta("stop")))
    answer = await answered(chat, folder, tools=PRICE)
    assert answer.trace is not None
    assert answer.trace.model is not None
    assert (answer.trace.model.calls, answer.trace.model.input_tokens) == (2, None)


@synchronous
async def test_the_first_token_is_the_first_that_is_shown_in_the_turn(folder: Path) -> None:
    async def slow(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await asyncio.sleep(0.2)
        await response.write(saying("ok"))
        return response

    late = await answered(ScriptedChat(calling(("price", "{}")), slow), folder, tools=PRICE)
    assert late.time_to_first_token_ms is not None
    assert late.time_to_first_token_ms >= 200
    early = await answered(ScriptedChat(calling(("price", "{}"), text="調べます"), slow), folder, tools=PRICE)
    assert early.time_to_first_token_ms is not None
    assert early.time_to_first_token_ms < 200


@synchronous
async def test_a_model_that_calls_without_end_is_stopped(folder: Path) -> None:
    chat = ScriptedChat(calling(("price", '{"hotel": "京都"}')))
    with pytest.raises(AgentProtocol, match=r"still calls tools after 4 rounds \(max_rounds\)"):
        await answered(chat, folder, tools=PRICE, max_rounds=4)
    assert len(chat.asked) == 4


@synchronous
async def test_a_huge_result_is_not_passed_on(folder: Path) -> None:
    chat = ScriptedChat(calling(("huge", "{}")), saying("ok"))
    answer = await answered(chat, folder, tools={"python": ["chat_functions:huge"]})
    assert answer.trace is not None
    assert answer.trace.tool_calls is not None
    assert answer.trace.tool_calls[0].error == "the result is longer than 1024 KiB"
    assert len(json.dumps(chat.asked[1])) < 2000


@synchronous
async def test_a_tool_that_hangs_ends_with_the_turn_and_holds_up_no_other(folder: Path) -> None:
    chat = ScriptedChat(calling(("hangs", "{}")), saying("ok"))
    async with started(chat, folder, tools={"python": ["chat_functions:hangs"]}) as agent:
        begun = time.perf_counter()
        episode = await drive(agent, case(), 1, turn_timeout=0.3, turn_settle=0, pace=Pace())
        assert episode.fault is not None
        assert episode.fault.kind is FaultKind.TIMEOUT
        assert (await agent.answer(turn())).text == "ok"
        assert time.perf_counter() - begun < 5


def status(code: int, **arguments: Any) -> Handler:
    """An endpoint that answers with a status."""

    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(status=code, **arguments)

    return handler


@pytest.mark.parametrize(
    ("handler", "kind", "fault"),
    [
        (status(429, headers={"Retry-After": "7"}), AgentUnreachable, FaultKind.UNREACHABLE),
        (status(500), AgentUnreachable, FaultKind.UNREACHABLE),
        (status(404), AgentRefused, FaultKind.CRASH),
        (ScriptedChat(sse(delta(content="a"), done=False)), AgentUnreachable, FaultKind.UNREACHABLE),
        (ScriptedChat(sse("{garbage")), AgentProtocol, FaultKind.PROTOCOL),
        (ScriptedChat(sse({"error": "out of memory"})), AgentProtocol, FaultKind.PROTOCOL),
        (ScriptedChat({"error": "out of memory"}), AgentProtocol, FaultKind.PROTOCOL),
    ],
)
@synchronous
async def test_what_goes_wrong_at_the_endpoint_is_a_fault_and_not_tried_again(
    folder: Path, handler: Handler, kind: type[LiftbayError], fault: FaultKind
) -> None:
    asked = []

    async def counted(request: web.Request) -> web.StreamResponse:
        asked.append(1)
        return await handler(request)

    async with started(counted, folder) as agent:
        with pytest.raises(kind):
            await agent.answer(turn())
        assert len(asked) == 1
        episode = await drive(agent, case(), 1, turn_timeout=20, turn_settle=0, pace=Pace())
    assert episode.fault is not None
    assert episode.fault.kind is fault


@synchronous
async def test_a_fault_in_the_midst_of_the_loop_is_one_of_the_turn(folder: Path) -> None:
    with pytest.raises(AgentUnreachable):
        await answered(ScriptedChat(calling(("price", "{}")), status(503)), folder, tools=PRICE)


@synchronous
async def test_a_slow_drip_ends_with_the_turn(folder: Path) -> None:
    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for _ in range(300):
            await response.write(sse(delta(content="a"), done=False))
            await asyncio.sleep(0.02)
        return response

    async with started(drip, folder) as agent:
        episode = await drive(agent, case(), 1, turn_timeout=0.3, turn_settle=0, pace=Pace())
    assert episode.fault is not None
    assert episode.fault.kind is FaultKind.TIMEOUT


@synchronous
async def test_the_tools_of_an_mcp_server(folder: Path) -> None:
    chat = ScriptedChat(calling(("add", '{"a": 1, "b": 2}'), ("die", ""), ("add", '{"a": 2, "b": 2}')), saying("ok"))
    broken = {"name": "broken", "command": ["/nowhere/server"]}
    async with started(chat, folder, tools={"mcp": [STDIO, broken]}) as agent:
        answer = await agent.answer(turn())
        assert list(agent.load_faults) == ["broken"]
        assert "No such file" in agent.load_faults["broken"]
    assert answer.trace is not None
    assert answer.trace.tool_loads == [
        ToolLoad("mcp", "hotels", success=True),
        ToolLoad("mcp", "broken", success=False),
    ]
    assert answer.trace.tool_calls is not None
    assert [(call.success, call.result) for call in answer.trace.tool_calls] == [
        (True, "3"),
        (False, None),
        (True, "4"),
    ]


@synchronous
async def test_secrets_are_not_in_the_trace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTEL_TOKEN", "very-secret-token")
    chat = ScriptedChat(calling(("variable", '{"name": "HOTEL_TOKEN"}')), saying("ok"))
    answer = await answered(chat, folder, tools={"mcp": [{**STDIO, "env": ["HOTEL_TOKEN"]}]})
    assert answer.trace is not None
    assert answer.trace.tool_calls is not None
    assert answer.trace.tool_calls[0].result == "***"
    assert chat.asked[1]["messages"][-1]["content"] == "very-secret-token"  # the agent itself works with it


@synchronous
async def test_the_key_comes_from_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIFTBAY_OPENAI_API_KEY", "sk-default-key")
    monkeypatch.setenv("OTHER_KEY", "sk-other-key")
    for variable, expected in (("LIFTBAY_OPENAI_API_KEY", "sk-default-key"), ("OTHER_KEY", "sk-other-key")):
        chat = ScriptedChat(saying("ok"))
        await answered(chat, folder, api_key_env=variable)
        assert chat.headers[0]["Authorization"] == f"Bearer {expected}"


def listing(*names: str) -> Handler:
    """An endpoint that lists models, and answers."""

    async def handler(request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/models"):
            return web.json_response({"data": [{"id": name} for name in names]})
        return web.Response(body=saying((await request.json())["model"]), content_type="text/event-stream")

    return handler


@synchronous
async def test_the_only_model_is_taken_and_is_the_version(folder: Path) -> None:
    async with started(listing("org/one"), folder, model=None) as agent:
        assert (agent.name, agent.version) == ("test", "org/one")
        assert (await agent.answer(turn())).text == "org/one"
        assert await agent.settled("s-1")
    async with started(listing("org/one"), folder, model=None, version="7") as agent:
        assert agent.version == "7"


@synchronous
async def test_of_several_models_none_is_taken(folder: Path) -> None:
    with pytest.raises(InputError, match="lists 2 models") as caught:
        await answered(listing("one", "two"), folder, model=None)
    assert caught.value.values["names"] == "one, two"
    with pytest.raises(InputError, match="lists 0 models"):
        await answered(listing(), folder, model=None)
    with pytest.raises(AgentUnreachable) as unreachable:
        await answered(status(500), folder, model=None)
    assert unreachable.value.remedy == "check base_url and the key, or name the model"


@pytest.mark.parametrize(
    ("keys", "says", "place"),
    [
        ({"parameters": {"stream": True, "messages": []}}, "liftbay sets messages, stream itself", "test: parameters"),
        ({"base_url": "localhost:8000"}, "not an http address", "test: base_url"),
        ({"base_url": "http://me:secret@host/v1"}, "user name or a password", "test: base_url"),
        ({"system_prompt": "a", "system_prompt_file": "b"}, "either system_prompt or system_prompt_file", "test"),
        ({"system_prompt_file": "missing.txt"}, "cannot be read", None),
        ({"system_prompt_file": "latin.txt"}, "not UTF-8", None),
        ({"tools": {"file": "missing.json"}}, "cannot be read", None),
        ({"tools": {"python": ["chat_functions:price", "chat_functions:price"]}}, "two tools of the name price", None),
        ({"tools": {"mcp": [{"name": "a"}]}}, "either command or url", "tools.mcp: a"),
    ],
)
def test_files_that_are_refused(folder: Path, keys: dict[str, Any], says: str, place: str | None) -> None:
    (folder / "latin.txt").write_bytes(b"\xe9")
    with pytest.raises(InputError, match=says) as caught:
        chat_agent(keys.pop("base_url", "http://127.0.0.1:9/v1"), folder, **keys)
    assert place is None or caught.value.place == place


def test_a_key_with_a_line_inside_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIFTBAY_OPENAI_API_KEY", "one\ntwo")
    with pytest.raises(InputError, match="control character") as caught:
        chat_agent("http://127.0.0.1:9/v1", folder)
    assert caught.value.place == "LIFTBAY_OPENAI_API_KEY"


@synchronous
async def test_tools_of_one_name_from_two_places_are_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="two tools of the name add"):
        await answered(ScriptedChat(saying("ok")), folder, tools={"mcp": [STDIO, {**STDIO, "name": "again"}]})


@pytest.mark.parametrize(
    "keys", [{"max_rounds": 0}, {"unknown": 1}, {"tools": {"mcp": [{"name": "a", "command": []}]}}]
)
def test_keys_that_no_file_has(folder: Path, keys: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        chat_agent("http://127.0.0.1:9/v1", folder, **keys)


@synchronous
async def test_many_sessions_at_once(folder: Path) -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        text = (await request.json())["messages"][-1]["content"]
        return web.Response(body=saying(text), content_type="text/event-stream")

    async with started(echo, folder) as agent:
        turns = [turn(session_id=str(number), user_input=f"問い {number}") for number in range(100)]
        answers = await asyncio.gather(*(agent.answer(one) for one in turns))
    assert [answer.text for answer in answers] == [f"問い {number}" for number in range(100)]
