"""An agent behind HTTP: what is sent to it, and what its answer becomes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from aiohttp import web
from http_agents import CASE, STREAM, TURN, Handler, agent_at, body, events, head, raw_server, sending, serving
from places import synchronous
from yarl import URL

from liftbay.agents.http import HttpAgent
from liftbay.domain.trace import EvalTrace, ModelUsage, Perception, Planning, ToolCallRecord
from liftbay.domain.vocabulary import EvalMode, Route
from liftbay.errors import AgentCrash, AgentProtocol, AgentRefused, AgentTimeout, AgentUnreachable, InputError
from liftbay.ports import AgentAnswer, AgentInput

RESPONSE = '[response]\ntext = "text"\n'
SSE = "text/event-stream"


class Recorder:
    """A server's handler that answers everything alike and remembers what it was asked."""

    def __init__(self, answer: Any = None, **options: Any) -> None:
        self._answer = {"text": "ok"} if answer is None else answer
        self._options = options
        self.asked: list[SimpleNamespace] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        """Remember and answer."""
        self.asked.append(
            SimpleNamespace(
                method=request.method, path=request.raw_path, headers=request.headers, body=await request.read()
            )
        )
        return web.json_response(self._answer, **self._options)


async def sent(rest: str, turn: AgentInput = TURN, path: str = "/chat") -> SimpleNamespace:
    """What one turn sends."""
    recorder = Recorder()
    async with serving(recorder) as url, agent_at(url + path, rest) as agent:
        await agent.answer(turn)
    (asked,) = recorder.asked
    return asked


async def answered(answer: Any, rest: str = RESPONSE) -> AgentAnswer:
    """What becomes of an answer: JSON, or the bytes of a stream."""
    behave = sending(head(kind=SSE) + answer) if isinstance(answer, bytes) else body(json.dumps(answer))
    async with raw_server(behave) as url, agent_at(url, rest) as agent:
        return await agent.answer(TURN)


class TestSending:
    @synchronous
    async def test_a_turn(self) -> None:
        request = """
        [request]
        session = "{sessionId}"
        message = "{userInput}"
        biz = "{bizCode}"
        history = "{history}"
        mock = "{mockDataId}"
        meta = {round = "{round}", trial = "{trial}", id = "{caseId}", mode = "{evalMode}"}
        tools = ["{mockEndpoint}", "{mcpEndpoint}", "{traceparent}"]
        fixed = {n = 1, t = true, f = 1.5}
        """
        asked = await sent(request + RESPONSE)
        assert (asked.method, asked.path) == ("POST", "/chat")
        assert asked.headers["Content-Type"] == "application/json"
        assert asked.headers["Accept-Encoding"] == "identity"
        assert asked.headers["User-Agent"].startswith("liftbay/")
        assert not {"traceparent", "liftbay-mock-data-id", "Authorization"} & {*asked.headers}
        assert json.loads(asked.body) == {
            "session": "s/1",
            "message": "And {tomorrow}?",
            "biz": "IC",
            "history": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "first"},
                {"role": "assistant", "content": "one"},
                {"role": "user", "content": "second"},
                {"role": "assistant", "content": ""},
            ],
            "mock": "M-1",
            "meta": {"round": 3, "trial": 2, "id": "c-1", "mode": "E2E_REAL"},
            "tools": [None, None, None],
            "fixed": {"n": 1, "t": True, "f": 1.5},
        }

    @synchronous
    async def test_without_a_body(self) -> None:
        turn = msgspec.structs.replace(TURN, user_input="a&b=c+d #?{x}/在庫")
        asked = await sent('method = "GET"\n' + RESPONSE, turn, "/chat/{sessionId}?q={userInput}&n={round}")
        url = URL(asked.path, encoded=True)
        assert (asked.method, url.raw_path, asked.body) == ("GET", "/chat/s%2F1", b"")
        assert dict(url.query) == {"q": "a&b=c+d #?{x}/在庫", "n": "3"}
        assert "Content-Type" not in asked.headers

    @synchronous
    async def test_headers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SHOP_TOKEN", "secret-token\n")
        headers = """
        [headers]
        Authorization = "Bearer {env:SHOP_TOKEN}"
        X-Biz = "{bizCode}"
        X-Tools = "{mcpEndpoint}"
        X-Also = "<{mcpEndpoint}>"
        accept = "application/json"
        [request]
        """
        asked = await sent(headers + RESPONSE)
        assert asked.headers["Authorization"] == "Bearer secret-token"
        assert (asked.headers["X-Biz"], asked.headers["X-Also"]) == ("IC", "<>")
        assert asked.headers.getall("Accept") == ["application/json"]
        assert "X-Tools" not in asked.headers

    @synchronous
    async def test_where_spans_and_mocks_belong(self) -> None:
        tools: Any = SimpleNamespace(endpoint="http://127.0.0.1:1/mock/t", mcp_endpoint="http://127.0.0.1:1/mcp/t")
        parent = f"00-{'a' * 32}-{'b' * 16}-01"
        turn = msgspec.structs.replace(TURN, traceparent=parent, tools=tools)
        asked = await sent("[request]\nmcp = '{mcpEndpoint}'\nmock = '{mockEndpoint}'\n" + RESPONSE, turn)
        assert json.loads(asked.body) == {"mcp": "http://127.0.0.1:1/mcp/t", "mock": "http://127.0.0.1:1/mock/t"}
        assert asked.headers["traceparent"] == parent
        assert "liftbay-mock-data-id" not in asked.headers
        mocked = msgspec.structs.replace(turn, case=msgspec.structs.replace(CASE, eval_mode=EvalMode.E2E_MOCK))
        asked = await sent(RESPONSE, mocked)
        assert asked.headers["liftbay-mock-data-id"] == "M-1"
        assert asked.headers["liftbay-mock-endpoint"] == "http://127.0.0.1:1/mock/t"

    @synchronous
    async def test_a_value_that_cannot_be_a_header_is_not_sent(self) -> None:
        turn = msgspec.structs.replace(TURN, user_input="line\nX-Admin: 1")
        with pytest.raises(AgentRefused, match="the header X-Q would hold a control character"):
            await sent('headers = {X-Q = "{userInput}"}\n' + RESPONSE, turn)

    @synchronous
    async def test_a_large_body(self) -> None:
        turn = msgspec.structs.replace(TURN, user_input="x" * (3 << 20))
        asked = await sent('[request]\nq = "{userInput}"\n' + RESPONSE, turn)
        assert len(asked.body) == (3 << 20) + len('{"q":""}')

    @synchronous
    async def test_many_at_once(self) -> None:
        busy = most = 0

        async def slow(request: web.Request) -> web.StreamResponse:
            nonlocal busy, most
            busy += 1
            most = max(most, busy)
            await asyncio.sleep(0.02)
            busy -= 1
            return web.json_response({"text": (await request.json())["q"]})

        async with serving(slow) as url, agent_at(url, '[request]\nq = "{caseId}"\n' + RESPONSE) as agent:
            turns = [
                msgspec.structs.replace(TURN, case=msgspec.structs.replace(CASE, id=f"c-{number}"))
                for number in range(20)
            ]
            answers = await asyncio.gather(*(agent.answer(turn) for turn in turns))
        assert [answer.text for answer in answers] == [turn.case.id for turn in turns]
        assert most == 4


PARTS = """
[response]
text = "text"
trace = "trace"
[response.parts]
intent = "meta.intent"
route = "meta.route"
skill = "meta.skill"
skill_version = "meta.version"
input_tokens = "usage.in"
output_tokens = "usage.out"
tool_calls = "choices.0.message.tool_calls"
"""


class TestJson:
    @synchronous
    async def test_a_text(self) -> None:
        answer = await answered({"answer": [{"text": "在庫 12 点"}]}, '[response]\ntext = "answer.0.text"')
        assert answer == AgentAnswer(text="在庫 12 点")
        assert await answered("just text", '[response]\ntext = ""') == AgentAnswer(text="just text")

    @pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/problem+json", "text/json"])
    @synchronous
    async def test_types_of_content(self, kind: str) -> None:
        async with raw_server(body('{"text": "x"}', kind=kind)) as url, agent_at(url) as agent:
            assert (await agent.answer(TURN)).text == "x"

    @synchronous
    async def test_an_answer_that_does_not_say_its_type(self) -> None:
        async with raw_server(sending(b"HTTP/1.0 200 OK\r\n\r\n", b'{"text": "x"}')) as url, agent_at(url) as agent:
            assert (await agent.answer(TURN)).text == "x"

    @pytest.mark.parametrize("error", [None, "", False, {}, []])
    @synchronous
    async def test_an_empty_error_is_none(self, error: Any) -> None:
        rest = '[response]\ntext = "text"\nerror = "error"'
        assert (await answered({"text": "x", "error": error}, rest)).text == "x"

    @synchronous
    async def test_a_whole_trace(self) -> None:
        trace = {"planning": {"route": "SKILL_HIT"}, "toolCalls": [{"name": "f", "arguments": {"a": 1}}]}
        answer = await answered({"text": "x", "trace": trace}, PARTS)
        assert answer.trace == EvalTrace(
            planning=Planning(route=Route.SKILL_HIT), tool_calls=[ToolCallRecord("f", {"a": 1})]
        )

    @synchronous
    async def test_a_black_box(self) -> None:
        assert (await answered({"text": "x"}, PARTS)).trace is None
        assert (await answered({"text": "x", "trace": None, "meta": {"intent": None}}, PARTS)).trace is None

    @synchronous
    async def test_single_parts(self) -> None:
        answer = await answered(
            {
                "text": "x",
                "meta": {"intent": "stock", "route": "SKILL_HIT", "skill": "stock-query", "version": "7"},
                "usage": {"in": 120, "out": 0},
                "choices": [{"message": {"tool_calls": [{"name": "f", "arguments": {"a": 1}, "success": True}]}}],
            },
            PARTS,
        )
        assert answer.trace == EvalTrace(
            perception=Perception(skill_hit=True, skill="stock-query", skill_version="7", intents=["stock"]),
            planning=Planning(route=Route.SKILL_HIT),
            tool_calls=[ToolCallRecord("f", {"a": 1}, success=True)],
            model=ModelUsage(input_tokens=120, output_tokens=0),
        )

    @synchronous
    async def test_the_trace_outranks_single_parts(self) -> None:
        answer = await answered(
            {
                "text": "x",
                "trace": {"model": {"inputTokens": 1}, "planning": {"decision": "why"}},
                "usage": {"in": 2, "out": 3},
                "meta": {"route": "SKILL_MISS"},
            },
            PARTS,
        )
        assert answer.trace == EvalTrace(
            planning=Planning(route=Route.SKILL_MISS, decision="why"), model=ModelUsage(input_tokens=1, output_tokens=3)
        )

    @synchronous
    async def test_several_intents_and_no_skill(self) -> None:
        rest = RESPONSE + '[response.parts]\nintents = "i"\nskill = "s"'
        answer = await answered({"text": "x", "i": ["a", "b"], "s": None}, rest)
        assert answer.trace == EvalTrace(perception=Perception(skill_hit=False, intents=["a", "b"]))

    @pytest.mark.parametrize(
        ("call", "record"),
        [
            (
                {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": "京都"}'}},
                ToolCallRecord("f", {"a": "京都"}),
            ),
            ({"function": {"name": "f", "arguments": ""}}, ToolCallRecord("f", {})),
            ({"function": {"name": "f"}}, ToolCallRecord("f")),
            (
                {"function": {"name": "f", "arguments": '{"a": '}},
                ToolCallRecord("f", {}, success=False, error='the arguments are no JSON object: {"a": '),
            ),
            (
                {"function": {"name": "f", "arguments": "[1]"}},
                ToolCallRecord("f", {}, success=False, error="the arguments are no JSON object: [1]"),
            ),
            (
                {"name": "f", "arguments": '{"a": 1}', "result": [1], "error": "late", "success": False, "own": 1},
                ToolCallRecord("f", {"a": 1}, success=False, result=[1], error="late"),
            ),
            ({"name": "f", "latencyMs": 1.5}, ToolCallRecord("f", latency_ms=1.5)),
        ],
    )
    @synchronous
    async def test_forms_of_tool_calls(self, call: Any, record: ToolCallRecord) -> None:
        answer = await answered({"text": "x", "choices": [{"message": {"tool_calls": [call]}}]}, PARTS)
        assert answer.trace == EvalTrace(tool_calls=[record])

    @pytest.mark.parametrize(
        ("message", "calls"),
        [
            ({"role": "assistant", "content": "x"}, []),  # so the OpenAI API says that none was made
            ({"tool_calls": None}, []),
            ({"tool_calls": []}, []),
            ({"content": "x"}, None),
        ],
    )
    @synchronous
    async def test_no_call_is_not_the_same_as_none_reported(self, message: Any, calls: list[Any] | None) -> None:
        answer = await answered({"text": "x", "choices": [{"message": message}]}, PARTS)
        assert answer.trace == (None if calls is None else EvalTrace(tool_calls=calls))

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            ({"trace": {"toolCall": []}}, "the trace in the answer has unknown keys: toolCall; known are hotUpdate"),
            ({"trace": []}, "the trace in the answer is not one: Expected `object`, got `array`"),
            ({"trace": {"model": {"calls": "1"}}}, "the trace in the answer is not one: Expected `int | null`"),
            ({"meta": {"route": "LEFT"}}, "the trace in the answer is not one: Invalid enum value 'LEFT'"),
            ({"usage": {"in": "many"}}, "the trace in the answer is not one: Expected `int | null`, got `str`"),
            ({"choices": [{"message": {"tool_calls": {}}}]}, "the tool calls in the answer are no list of objects"),
            ({"choices": [{"message": {"tool_calls": ["f"]}}]}, "the tool calls in the answer are no list of objects"),
            ({"choices": [{"message": {"tool_calls": [{"id": 1}]}}]}, "the trace in the answer is not one: Object mis"),
        ],
    )
    @synchronous
    async def test_a_trace_of_another_form_is_the_agents_fault(self, answer: Any, message: str) -> None:
        with pytest.raises(AgentProtocol) as caught:
            await answered({"text": "x", **answer}, PARTS)
        assert str(caught.value).startswith(message)

    @pytest.mark.parametrize("headers", ["", 'headers = {A = "{env:SHOP_TOKEN}"}\n'])
    @synchronous
    async def test_a_trace_that_is_too_deep_to_be_kept(self, headers: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SHOP_TOKEN", "secret")
        deep: Any = 1
        for _ in range(900):
            deep = [deep]
        trace = {"toolCalls": [{"name": "f", "result": deep}]}
        behave = body(msgspec.json.encode({"text": "x", "trace": trace}))
        async with raw_server(behave) as url, agent_at(url, headers + PARTS) as agent:
            with pytest.raises(AgentProtocol, match="the trace in the answer is nested too deeply"):
                await agent.answer(TURN)


class TestStream:
    @synchronous
    async def test_pieces_make_the_text(self) -> None:
        stream = events({"delta": "在庫"}, {"id": 1}, {"delta": None}, {"delta": " 12 点"}, "[DONE]", {"delta": "no"})
        answer = await answered(stream, STREAM)
        assert (answer.text, answer.trace) == ("在庫 12 点", None)
        assert answer.time_to_first_token_ms is not None

    @synchronous
    async def test_plain_text_with_named_events(self) -> None:
        stream = (
            b"event: ping\ndata: alive\n\n"
            b'event: meta\ndata: {"trace": {"planning": {"route": "SKILL_MISS"}}, "in": 3}\n\n'
            b"event: text\ndata: Hel\n\nevent: text\ndata: lo\ndata: you\n\n"
            b'event: meta\ndata: {"in": 4, "out": 5}\n\nevent: end\ndata: {}\n\n'
        )
        rest = """
        [response.parts]
        input_tokens = "in"
        output_tokens = "out"
        [response.stream]
        delta = ""
        event = "text"
        done = "end"
        trace = "trace"
        """
        answer = await answered(stream, rest)
        assert answer.text == "Hello\nyou"
        assert answer.trace == EvalTrace(
            planning=Planning(route=Route.SKILL_MISS), model=ModelUsage(input_tokens=4, output_tokens=5)
        )

    @synchronous
    async def test_an_end_without_a_blank_line_counts(self) -> None:
        assert (await answered(events({"delta": "x"}) + b"data: [DONE]", STREAM)).text == "x"
        assert (await answered(events({"delta": "x"}) + b"data: [DONE]\r\n", STREAM)).text == "x"

    @synchronous
    async def test_a_stream_without_a_declared_end(self) -> None:
        assert (await answered(events({"delta": "x"}), '[response.stream]\ndelta = "delta"')).text == "x"
        assert (await answered(events({"delta": ""}), '[response.stream]\ndelta = "delta"')).text == ""

    @synchronous
    async def test_parts_of_a_chat_completion_stream(self) -> None:
        chunks = [
            {"choices": [{"delta": {"role": "assistant", "content": ""}}], "usage": None},
            {"choices": [{"delta": {"content": "Hi"}}], "usage": None},
            {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 1}},
        ]
        rest = """
        [response.parts]
        input_tokens = "usage.prompt_tokens"
        output_tokens = "usage.completion_tokens"
        [response.stream]
        delta = "choices.0.delta.content"
        done = "[DONE]"
        """
        answer = await answered(events(*chunks, "[DONE]"), rest)
        assert (answer.text, answer.trace) == ("Hi", EvalTrace(model=ModelUsage(input_tokens=9, output_tokens=1)))

    @synchronous
    async def test_the_first_token_is_the_first_that_can_be_seen(self) -> None:
        async def behave(writer: asyncio.StreamWriter) -> None:
            writer.write(head(kind=SSE) + events({"delta": ""}, {"delta": " \n"}))
            await writer.drain()
            await asyncio.sleep(0.1)
            writer.write(events({"delta": "x"}))
            await writer.drain()
            await asyncio.sleep(0.1)
            writer.write(events({"delta": "y"}, "[DONE]"))
            await writer.drain()
            await asyncio.sleep(30)

        async with raw_server(behave) as url, agent_at(url, STREAM) as agent:
            begun = time.perf_counter()
            answer = await agent.answer(TURN)
            took = (time.perf_counter() - begun) * 1000
        assert answer.time_to_first_token_ms is not None
        assert 100 <= answer.time_to_first_token_ms <= took - 90
        assert took < 20_000  # nobody waits for a server that does not close after the end

    @synchronous
    async def test_json_may_come_too(self) -> None:
        answer = await answered({"text": "x"}, RESPONSE + STREAM)
        assert (answer.text, answer.time_to_first_token_ms) == ("x", None)
        assert (await answered(events({"delta": "y"}, "[DONE]"), RESPONSE + STREAM)).text == "y"


@asynccontextmanager
async def shop(routes: dict[str, Handler], rest: str) -> AsyncIterator[HttpAgent]:
    """An agent whose file names further addresses of its server as `HOME`."""

    async def handler(request: web.Request) -> web.StreamResponse:
        return await routes[request.path](request)

    async with serving(handler) as url, agent_at(f"{url}/chat", rest.replace("HOME", url)) as agent:
        yield agent


def status(*codes: int, answer: Any = None) -> Recorder:
    """A handler that answers with each of the codes once, with the last for ever."""
    left = list(codes)

    class Varying(Recorder):
        async def __call__(self, request: web.Request) -> web.StreamResponse:
            self._options = {"status": left.pop(0) if len(left) > 1 else left[0]}
            return await super().__call__(request)

    return Varying(answer)


class TestBesideTheTurns:
    @synchronous
    async def test_waiting_until_ready(self) -> None:
        ready = status(503, 404, 200)
        async with shop({"/ready": ready}, RESPONSE + '[ready]\nurl = "HOME/ready"') as agent:
            await agent.start()
        assert len(ready.asked) == 3

    @synchronous
    async def test_not_ready_in_time(self) -> None:
        rest = RESPONSE + '[ready]\nurl = "HOME/ready"\ntimeout = 0.2'
        async with shop({"/ready": status(503, answer="warming up")}, rest) as agent:
            with pytest.raises(AgentUnreachable) as caught:
                await agent.start()
        assert str(caught.value) == 'the agent is not ready after 0.2 s: HTTP 503: "warming up"'
        assert caught.value.remedy == "start the agent, or let liftbay start it with [start] command"

    @synchronous
    async def test_a_readiness_address_that_hangs(self) -> None:
        async def hang(request: web.Request) -> web.StreamResponse:
            await asyncio.sleep(30)
            raise AssertionError

        async with shop({"/ready": hang}, RESPONSE + '[ready]\nurl = "HOME/ready"\ntimeout = 0.1') as agent:
            with pytest.raises(AgentUnreachable, match=r"not ready after 0\.1 s: no answer"):
                await agent.start()

    @synchronous
    async def test_nobody_listens(self) -> None:
        async with serving(Recorder()) as url:
            pass
        async with agent_at(url, RESPONSE) as agent:
            with pytest.raises(AgentUnreachable, match="nothing listens there: ") as caught:
                await agent.start()
            assert caught.value.place == url
            with pytest.raises(AgentUnreachable, match="the connection failed: ") as caught:
                await agent.answer(TURN)
        assert caught.value.remedy == "check that the agent runs, and the url in {file}"

    @synchronous
    async def test_without_a_readiness_address_it_is_enough_that_somebody_listens(self) -> None:
        recorder = Recorder()
        async with serving(recorder) as url, agent_at(url, RESPONSE) as agent:
            await agent.start()
        assert recorder.asked == []

    @pytest.mark.parametrize(("said", "version"), [("2.3.1", "2.3.1"), (7, "7"), (1.5, "1.5")])
    @synchronous
    async def test_the_version(self, said: Any, version: str) -> None:
        rest = RESPONSE + '[version]\nurl = "HOME/version"\npath = "build.no"'
        async with shop({"/version": Recorder({"build": {"no": said}})}, rest) as agent:
            await agent.start()
            assert agent.version == version

    @pytest.mark.parametrize(
        ("answer", "message"),
        [(Recorder({"v": 1}), "the answer has nothing at 'version'; there is {v}"), (status(404), "HTTP 404")],
    )
    @synchronous
    async def test_no_version_where_one_was_promised(self, answer: Handler, message: str) -> None:
        async with shop({"/version": answer}, RESPONSE + '[version]\nurl = "HOME/version"') as agent:
            with pytest.raises((AgentProtocol, AgentRefused)) as caught:
                await agent.start()
        assert str(caught.value).startswith(message)

    @pytest.mark.parametrize(("code", "settled"), [(200, True), (202, False), (404, False), (503, False)])
    @synchronous
    async def test_whether_a_session_has_settled(self, code: int, settled: bool) -> None:
        recorder = status(code)
        rest = RESPONSE + '[settled]\nurl = "HOME/settled?session={sessionId}"'
        async with shop({"/settled": recorder}, rest) as agent:
            assert await agent.settled("s/1") is settled
        (asked,) = recorder.asked
        assert (asked.method, asked.path) == ("GET", "/settled?session=s/1")

    @synchronous
    async def test_an_agent_that_cannot_be_asked_has_not_settled(self) -> None:
        async with agent_at("http://127.0.0.1:9/", RESPONSE) as agent:
            assert await agent.settled("s") is False

    @synchronous
    async def test_what_is_asked_beside_the_turns_has_a_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def hang(request: web.Request) -> web.StreamResponse:
            await asyncio.sleep(30)
            raise AssertionError

        monkeypatch.setattr("liftbay.agents.http._SIDE_TIMEOUT", 0.1)
        async with shop({"/settled": hang}, RESPONSE + '[settled]\nurl = "HOME/settled"') as agent:
            with pytest.raises(AgentTimeout, match=r"no answer within 0\.1 s"):
                await agent.settled("s")

    @synchronous
    async def test_headers_go_to_the_agent_only(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SHOP_TOKEN", "secret-token")
        headers = """
        [headers]
        Authorization = "Bearer {env:SHOP_TOKEN}"
        X-Session = "{sessionId}"
        X-Round = "{round}"
        """
        own, other = Recorder(), Recorder({"version": "1"})
        async with serving(other) as elsewhere:
            rest = f'{headers}{RESPONSE}[settled]\nurl = "HOME/settled"\n[version]\nurl = "{elsewhere}/version"'
            async with shop({"/settled": own}, rest) as agent:
                await agent.start()
                await agent.settled("s")
        assert own.asked[0].headers["Authorization"] == "Bearer secret-token"
        assert own.asked[0].headers["X-Session"] == "s"
        assert "X-Round" not in own.asked[0].headers
        assert not {"Authorization", "X-Session"} & {*other.asked[0].headers}


SERVER = """
import http.server, json, os, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        names = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL", "SHOP_KEY", "OWN")
        body = json.dumps({"text": json.dumps([os.environ.get(name) for name in names])}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if os.environ.get("OWN") == "die":
            print("out of memory, key", os.environ["SHOP_KEY"], flush=True)
            os._exit(7)

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
STARTED = """
[response]
text = "text"
[start]
command = ["python", "server.py", "{port}"]
env = {SHOP_KEY = "{env:SHOP_TOKEN}", OWN = "OWN_VALUE"}
[trace]
otlp = true
"""


class TestItsProcess:
    @synchronous
    async def test_it_is_started_and_gets_where_to_send_spans(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SHOP_TOKEN", "tok")
        (tmp_path / "server.py").write_text(SERVER)
        options = {"folder": tmp_path, "otlp_endpoint": "http://127.0.0.1:4318"}
        rest = STARTED.replace("OWN_VALUE", "{otlpEndpoint}/own")
        async with agent_at("http://127.0.0.1:{port}/chat", rest, **options) as agent:
            await agent.start()
            answer = await agent.answer(TURN)
        assert json.loads(answer.text) == [
            "http://127.0.0.1:4318",
            "http/protobuf",
            "tok",
            "http://127.0.0.1:4318/own",
        ]

    @synchronous
    async def test_its_end_is_said_with_its_last_words(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SHOP_TOKEN", "secret-token")
        (tmp_path / "server.py").write_text(SERVER)
        rest = STARTED.replace("OWN_VALUE", "die")
        async with agent_at("http://127.0.0.1:{port}/chat", rest, folder=tmp_path) as agent:
            await agent.start()
            await agent.answer(TURN)
            await asyncio.sleep(0.1)  # it ends as soon as it has answered
            with pytest.raises(AgentCrash) as caught:
                await agent.answer(TURN)
        assert "the agent's process has ended with exit code 7" in str(caught.value)
        assert str(caught.value).endswith("out of memory, key ***")
        assert caught.value.retry_may_help is False

    @synchronous
    async def test_a_fixed_port_must_be_free(self) -> None:
        async with serving(Recorder()) as url, agent_at(url, RESPONSE + '[start]\ncommand = ["true"]') as agent:
            with pytest.raises(InputError) as caught:
                await agent.start()
        assert str(caught.value) == f"something listens at {url} already"
        assert caught.value.place == "agents/shop.toml: start.command"
