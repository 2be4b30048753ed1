"""Completions in a stream, from servers that keep to the protocol and from those that do not."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from chat_server import Handler, ScriptedChat, delta, saying, serving, sse, usage
from places import synchronous

from liftbay.errors import AgentError, AgentProtocol, AgentRefused, AgentTimeout, AgentUnreachable
from liftbay.transport import chat_stream
from liftbay.transport.chat_endpoint import ChatEndpoint
from liftbay.transport.chat_stream import ChatModel, Completion

KEY = "sk-very-secret"


async def ask(handler: Handler, *, stream: bool = True, times: int = 1, seconds: float | None = 5) -> Completion:
    """The last of some completions."""
    async with serving(handler) as url, ChatEndpoint(url, KEY, connections=2, timeout=seconds) as endpoint:
        model = ChatModel(endpoint, stream=stream)
        for _ in range(times - 1):
            await model.ask({"model": "m"})
        return await model.ask({"model": "m"}, {"traceparent": "00-1-2-01"})


def calls(completion: Completion) -> list[tuple[str | None, str, str]]:
    """The calls of a completion."""
    return [(call.id, call.name, call.arguments) for call in completion.tool_calls]


def piece(index: int | None, id_: str | None = None, name: str | None = None, arguments: Any = None) -> dict[str, Any]:
    """A delta with a piece of a call, without the keys that are None."""
    function = {"name": name, "arguments": arguments}
    call = {"index": index, "id": id_, "function": {k: v for k, v in function.items() if v is not None}}
    return delta(tool_calls=[{k: v for k, v in call.items() if v is not None}])


@synchronous
async def test_text_tokens_model_and_end() -> None:
    chat = ScriptedChat(saying("京都です。", (12, 7)))
    completion = await ask(chat)
    assert (completion.text, completion.tool_calls, completion.finish_reason) == ("京都です。", [], "stop")
    assert (completion.model, completion.input_tokens, completion.output_tokens) == ("m-1", 12, 7)
    assert chat.asked == [{"model": "m", "stream": True, "stream_options": {"include_usage": True}}]
    assert chat.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert chat.headers[0]["traceparent"] == "00-1-2-01"
    assert chat.headers[0]["Accept"] == "text/event-stream"


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        pytest.param(
            [piece(0, "a", "f", ""), piece(0, arguments='{"x"'), piece(0, arguments=": 1}"), piece(1, "b", "g", "{}")],
            [("a", "f", '{"x": 1}'), ("b", "g", "{}")],
            id="in pieces",
        ),
        pytest.param(
            [piece(0, "a", "f"), piece(1, "b", "f"), piece(1, arguments="[1]"), piece(0, arguments="[0]")],
            [("a", "f", "[0]"), ("b", "f", "[1]")],
            id="interleaved",
        ),
        pytest.param(
            [piece(None, None, "f", '{"x": 1}'), piece(None, None, "f", '{"x": 2}')],
            [(None, "f", '{"x": 1}'), (None, "f", '{"x": 2}')],
            id="whole, without index and id",
        ),
        pytest.param(
            [piece(None, "a", "f", '{"x"'), piece(None, "a", None, ": 1}"), piece(None, "b", "f", "{}")],
            [("a", "f", '{"x": 1}'), ("b", "f", "{}")],
            id="without index, with ids",
        ),
        pytest.param(
            [piece(None, "a", "f", '{"x"'), piece(None, None, None, ": 1}")], [("a", "f", '{"x": 1}')], id="bare rest"
        ),
        pytest.param(
            [piece(0, "a", "f", "{}"), piece(0, "b", "g", "{}")],
            [("a", "f", "{}"), ("b", "g", "{}")],
            id="all numbered 0",
        ),
        pytest.param(
            [piece(0, "a", "f", '{"x"'), piece(0, "b", "", ": 1}")], [("a", "f", '{"x": 1}')], id="an id per piece"
        ),
        pytest.param(
            [piece(0, "a", "f", '{"x"'), piece(0, "a", "f", ": 1}")], [("a", "f", '{"x": 1}')], id="name again"
        ),
        pytest.param([piece(0, "a", "get_"), piece(0, None, "time", "{}")], [("a", "get_time", "{}")], id="name cut"),
        pytest.param([piece(0, "a", "f", {"x": "京"})], [("a", "f", '{"x":"京"}')], id="an object"),
        pytest.param([piece(3, "", "f", "{}")], [(None, "f", "{}")], id="empty id"),
    ],
)
def test_tool_calls(chunks: list[Any], expected: list[tuple[str | None, str, str]]) -> None:
    completion = asyncio.run(ask(ScriptedChat(sse(*chunks, delta("tool_calls")))))
    assert calls(completion) == expected
    assert completion.first_visible_at is None


@synchronous
async def test_the_first_visible_character_is_timed() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        for text in ("", " \n", "あ", "い"):
            await asyncio.sleep(0.05)
            await response.write(sse(delta(content=text), done=False))
        await response.write(sse(delta("stop")))
        return response

    begun = time.perf_counter()
    completion = await ask(handler)
    ended = time.perf_counter()
    assert completion.first_visible_at is not None
    assert begun + 0.14 < completion.first_visible_at < ended - 0.04
    assert completion.text == " \nあい"


def answering(**arguments: Any) -> Handler:
    """A server that gives one answer."""

    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(**arguments)

    return handler


def event_stream(body: bytes) -> Handler:
    """A server that streams a body."""
    return answering(body=body, content_type="text/event-stream")


@pytest.mark.parametrize(
    ("handler", "kind", "says"),
    [
        (answering(status=429, text="slow down"), AgentUnreachable, "HTTP 429: slow down"),
        (answering(status=500), AgentUnreachable, "HTTP 500"),
        (answering(status=401), AgentRefused, "HTTP 401"),
        (answering(status=302, headers={"Location": "http://other/"}), AgentRefused, "redirects"),
        (answering(text="<html>"), AgentProtocol, "not a chat completion"),
        (answering(text='{"error": {"message": "no memory"}}'), AgentProtocol, "reports an error: .*no memory"),
        (answering(text='{"error": {"message": "busy", "code": 503}}'), AgentUnreachable, "busy"),
        (answering(text="{}"), AgentProtocol, "no choice"),
        (answering(text='{"choices": [{}]}'), AgentProtocol, "no choice"),
        (event_stream(sse(delta(content="a"), done=False)), AgentUnreachable, "ended in the middle"),
        (event_stream(b""), AgentUnreachable, "ended in the middle"),
        (event_stream(b'{"error": "no stream at all"}'), AgentUnreachable, "ended in the middle"),
        (event_stream(sse()), AgentProtocol, "no choice"),
        (event_stream(sse("{garbage")), AgentProtocol, "not a chat completion: .*garbage"),
        (event_stream(sse("[" * 100_000)), AgentProtocol, "not a chat completion"),
        (event_stream(sse({"choices": 3})), AgentProtocol, "Expected `array"),
        (event_stream(sse(delta(content=3))), AgentProtocol, "the text of the answer is int"),
        (event_stream(sse(delta(content="a"), {"error": {"message": "out"}})), AgentProtocol, "reports an error"),
        (event_stream(sse({"error": {"message": "out", "code": "502"}})), AgentUnreachable, "reports an error"),
        (event_stream(sse({"error": f"your key {KEY}"})), AgentProtocol, r"your key \*\*\*"),
        (event_stream(b"\xff\xfe\n\n" + sse("\0")), AgentProtocol, "not a chat completion"),
    ],
)
def test_answers_that_are_none(handler: Handler, kind: type[AgentError], says: str) -> None:
    with pytest.raises(kind, match=says):
        asyncio.run(ask(handler))


@synchronous
async def test_a_stream_that_ends_without_a_mark_but_with_a_reason_is_whole() -> None:
    completion = await ask(event_stream(sse(delta(content="a"), delta("stop"), done=False)))
    assert (completion.text, completion.input_tokens, completion.output_tokens) == ("a", None, None)
    completion = await ask(event_stream(sse(delta(content="a"))))
    assert (completion.text, completion.finish_reason) == ("a", None)


@synchronous
async def test_a_stream_that_is_cut_off_is_no_answer() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(sse(delta(content="a"), done=False)[:-5])
        assert request.transport is not None
        request.transport.abort()
        return response

    with pytest.raises(AgentUnreachable):
        await ask(handler)


def dripping(chunk: Callable[[], bytes]) -> Handler:
    """A server that sends chunks for six seconds."""

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for _ in range(300):
            await response.write(chunk())
            await asyncio.sleep(0.02)
        return response

    return handler


@synchronous
async def test_a_slow_drip_is_a_timeout() -> None:
    with pytest.raises(AgentTimeout):
        await ask(dripping(lambda: b": still here\n\n"), seconds=0.3)


@synchronous
async def test_the_end_of_the_turn_reaches_a_drip() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await ask(dripping(lambda: sse(delta(content="a"), done=False)), seconds=None)


@synchronous
async def test_a_server_that_does_not_end_after_its_last_word_is_not_waited_for() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(saying("a"))
        await asyncio.sleep(30)
        return response

    begun = time.perf_counter()
    assert (await ask(handler)).text == "a"
    assert time.perf_counter() - begun < 20


def test_a_flood_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_stream, "MAX_ANSWER_BYTES", 100_000)
    sent = []

    def chunk() -> bytes:
        sent.append(1)
        return sse(delta(content="x" * 10_000), done=False)

    with pytest.raises(AgentProtocol, match="longer than"):
        asyncio.run(ask(dripping(chunk)))
    assert len(sent) < 20
    with pytest.raises(AgentProtocol, match="longer than"):
        asyncio.run(ask(dripping(lambda: b"x" * 10_000)))


@synchronous
async def test_a_server_that_ignores_the_wish_for_a_stream() -> None:
    message = {"content": [{"type": "text", "text": "whole"}], "tool_calls": [{"function": {"name": "f"}}]}
    whole = {"model": "m-2", "choices": [{"message": message, "finish_reason": "stop"}], **usage_of(3, 4)}
    completion = await ask(ScriptedChat(whole))
    assert (completion.text, calls(completion), completion.first_visible_at) == ("whole", [(None, "f", "")], None)
    assert (completion.model, completion.input_tokens, completion.output_tokens) == ("m-2", 3, 4)


def usage_of(input_tokens: int, output_tokens: int) -> dict[str, Any]:
    """The tokens of a whole answer."""
    return {"usage": usage(input_tokens, output_tokens)["usage"]}


@synchronous
async def test_without_a_stream() -> None:
    chat = ScriptedChat({"choices": [{"message": {"content": "whole"}}], **usage_of(3, 4)})
    completion = await ask(chat, stream=False)
    assert (completion.text, completion.input_tokens, completion.first_visible_at) == ("whole", 3, None)
    assert chat.asked == [{"model": "m"}]
    assert chat.headers[0]["Accept"] == "application/json"


class Picky:
    """A server that refuses some requests."""

    def __init__(self, refuses: Callable[[dict[str, Any]], bool], status: int = 400) -> None:
        self.asked: list[bool] = []
        self._refuses = refuses
        self._status = status

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        """Answer a request; note whether it holds the options."""
        body = await request.json()
        self.asked.append("stream_options" in body)
        if self._refuses(body):
            return web.Response(status=self._status, text=json.dumps({"error": "extra fields not permitted"}))
        return web.Response(body=saying("a"), content_type="text/event-stream")


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_that_refuses_the_options_is_asked_without_and_this_is_remembered(status: int) -> None:
    server = Picky(lambda body: "stream_options" in body, status)
    assert asyncio.run(ask(server, times=3)).text == "a"
    assert server.asked == [True, False, False, False]


def test_a_server_that_refuses_everything_is_not_taken_to_refuse_the_options() -> None:
    server = Picky(lambda body: len(server.asked) <= 2)

    async def run() -> None:
        async with serving(server) as url, ChatEndpoint(url, KEY, connections=1, timeout=5) as endpoint:
            model = ChatModel(endpoint, stream=True)
            with pytest.raises(AgentRefused):
                await model.ask({})
            await model.ask({})
            server.asked.clear()
            with pytest.raises(AgentRefused):  # it took the options before: they are not what is wrong
                await model.ask({})

    asyncio.run(run())
    assert server.asked == [True]


@synchronous
async def test_the_connection_is_used_again_after_a_stream() -> None:
    ports = set()

    async def handler(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        ports.add(request.transport.get_extra_info("peername")[1])
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(saying("a"))
        await asyncio.sleep(0.01)  # the end of the body comes in a packet of its own
        return response

    await ask(handler, times=5)
    assert len(ports) == 1


def test_without_a_key_there_is_no_header_for_it() -> None:
    chat = ScriptedChat(saying("a"))

    async def run() -> None:
        async with serving(chat) as url, ChatEndpoint(url, "", connections=1, timeout=5) as endpoint:
            await ChatModel(endpoint, stream=True).ask({})

    asyncio.run(run())
    assert "Authorization" not in chat.headers[0]


async def raw(answers: list[bytes], body: bytes = b"", *, seconds: float = 3) -> tuple[Completion, int]:
    """The last of as many completions as there are `answers`, from a server that writes these bytes and closes."""
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
            writer.write(answers.pop(0))
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with (
        server,
        ChatEndpoint(f"http://127.0.0.1:{port}/v1", KEY, connections=1, timeout=seconds) as endpoint,
    ):
        model = ChatModel(endpoint, stream=True)
        for _ in range(len(answers) - 1):
            await model.ask({})
        return await model.ask({"body": body.decode()}), connections


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        HEAD + b"zz\r\nnonsense\r\n",
        HEAD + b"5\r\ndata:\r\nnonsense",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100\r\n\r\ndata: {}\n\n",
    ],
)
def test_what_is_no_http_is_a_fault_at_once(answer: bytes) -> None:
    with pytest.raises((AgentUnreachable, AgentProtocol)):
        asyncio.run(raw([answer]))


@pytest.mark.parametrize("nonsense", [b"zz\r\nnonsense\r\n", b"8\r\ndata: {}\r\nzz\r\n", b"5\r\ndata:XX\r\n"])
def test_a_malformed_chunk_is_a_fault_at_once_though_the_connection_stays(nonsense: bytes) -> None:
    async def run() -> None:
        done = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(HEAD)
            await asyncio.sleep(0.05)
            writer.write(nonsense)
            await done.wait()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, ChatEndpoint(f"http://127.0.0.1:{port}/v1", KEY, connections=1, timeout=3) as endpoint:
            with pytest.raises(AgentUnreachable, match="MalformedBody"):
                await ChatModel(endpoint, stream=True).ask({})
            done.set()
            await asyncio.sleep(0.01)

    asyncio.run(run())


def chunked(body: bytes) -> bytes:
    """An answer with its end."""
    return HEAD + f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"


@pytest.mark.parametrize("body", [b"", b"x" * 2_000_000])
def test_a_connection_that_was_closed_after_the_last_answer_is_not_a_fault(body: bytes) -> None:
    completion, connections = asyncio.run(raw([chunked(saying(text)) for text in "abc"], body))
    assert (completion.text, connections) == ("c", 3)
