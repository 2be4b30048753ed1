"""HTTP agents that misbehave: each ends a turn with the right kind of error, in bounded time and memory."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from http_agents import CASE, STREAM, TURN, Behave, agent_at, body, events, head, raw_server, sending
from places import synchronous

from liftbay.domain.episode import Episode, FaultKind
from liftbay.engine.drive import drive
from liftbay.engine.pace import Pace
from liftbay.errors import AgentCrash, AgentError, AgentProtocol, AgentRefused, AgentUnreachable

SSE = "text/event-stream"
JSON_FILE = '[response]\ntext = "answer.text"\nerror = "error.message"\n'
ENDLESS_STREAM = '[response.stream]\ndelta = "delta"\n'
MEBIBYTE = b" " * (1 << 20)


def chunked(*chunks: bytes, kind: str = "application/json") -> bytes:
    """An answer in chunks, without the last one that ends it."""
    pieces = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + pieces


def slowly(*pieces: bytes) -> Behave:
    """Send these bytes, a moment after one another, and keep the connection open."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.02)
        await asyncio.sleep(30)

    return behave


HELLO = events({"delta": "Hel"}, {"delta": "lo"})
BAD: dict[str, tuple[str, Behave, type[AgentError], str]] = {
    "a redirect": (
        JSON_FILE,
        body("", "302 Found", extra="Location: http://other.test/chat\r\n"),
        AgentRefused,
        "HTTP 302: it redirects to http://other.test/chat",
    ),
    "200 with an error": (
        JSON_FILE,
        body('{"answer": {"text": "sorry"}, "error": {"message": "model overloaded"}}'),
        AgentCrash,
        "the agent says that it failed: model overloaded",
    ),
    "HTML": (
        JSON_FILE,
        body("<html>Bad gateway</html>", kind="text/html; charset=utf-8"),
        AgentProtocol,
        "the answer is of the type text/html, not JSON: <html>Bad gateway</html>",
    ),
    "JSON as text/plain": (
        JSON_FILE,
        body('{"answer": {"text": "x"}}', kind="text/plain"),
        AgentProtocol,
        "the answer is of the type text/plain, not JSON",
    ),
    "429": (JSON_FILE, body('{"error": "slow"}', "429 Too Many Requests"), AgentUnreachable, 'HTTP 429: {"error"'),
    "500": (JSON_FILE, body("Traceback …", "500 Oops"), AgentUnreachable, "HTTP 500: Traceback …"),
    "400": (JSON_FILE, body("no field `q`", "400 Bad Request"), AgentRefused, "HTTP 400: no field `q`"),
    "not UTF-8": (
        JSON_FILE,
        body('{"answer": {"text": "在庫"}}'.encode("cp932")),
        AgentProtocol,
        "the answer is not JSON: Invalid UTF-8",
    ),
    "100,000 deep": (
        JSON_FILE,
        body(b'{"answer": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        AgentProtocol,
        "the answer is not JSON: maximum recursion depth",
    ),
    "NaN": (JSON_FILE, body('{"answer": {"text": "x"}, "score": NaN}'), AgentProtocol, "the answer is not JSON"),
    "an empty body": (JSON_FILE, body(""), AgentProtocol, "the answer is empty"),
    "204": (JSON_FILE, sending(b"HTTP/1.1 204 No Content\r\n\r\n"), AgentProtocol, "the answer is empty"),
    "cut JSON": (JSON_FILE, body('{"answer": {"te'), AgentProtocol, "the answer is not JSON: Input data was truncated"),
    "another path": (
        JSON_FILE,
        body('{"answer": {"reply": "x", "lang": "ja"}}'),
        AgentProtocol,
        "the answer has nothing at 'answer.text'; there is answer: {reply, lang}",
    ),
    "a list at the top": (
        JSON_FILE,
        body("[1, 2]"),
        AgentProtocol,
        "the answer has nothing at 'answer.text'; there is [2]",
    ),
    "no text at the path": (
        JSON_FILE,
        body('{"answer": {"text": null}}'),
        AgentProtocol,
        "what the answer has at 'answer.text' is no text: null",
    ),
    "a stream where JSON was described": (
        JSON_FILE,
        sending(head(kind=SSE) + HELLO),
        AgentProtocol,
        "the answer is a stream of events, where JSON was expected",
    ),
    "JSON where a stream was described": (
        STREAM,
        body('{"delta": "x"}'),
        AgentProtocol,
        'the answer is JSON, where a stream of events was expected: {"delta": "x"}',
    ),
    "a dropped connection": (JSON_FILE, sending(), AgentUnreachable, "the connection failed: ServerDisconnected"),
    "a body cut short": (
        JSON_FILE,
        sending(head(extra="Content-Length: 1000\r\n") + b'{"answer": '),
        AgentUnreachable,
        "the connection failed: ClientPayloadError",
    ),
    "chunks cut short": (JSON_FILE, sending(chunked(b'{"answer": ')), AgentUnreachable, "the connection failed"),
    "chunked nonsense": (
        JSON_FILE,
        sending(chunked(b'{"answer": ') + b"zz\r\nwhat\r\n"),
        AgentProtocol,
        "the answer is not HTTP: ",
    ),
    "chunked nonsense later": (
        JSON_FILE,
        slowly(chunked(b'{"answer": '), b"zz\r\nwhat\r\n"),
        AgentProtocol,
        "the answer is not HTTP: ",
    ),
    "chunked nonsense in a stream": (
        STREAM,
        slowly(chunked(HELLO, kind=SSE), b"data: what\r\n"),
        AgentProtocol,
        "the answer is not HTTP: ",
    ),
    "a chunked error with nonsense": (
        JSON_FILE,
        slowly(chunked(b"Oops").replace(b"200 OK", b"500 Oops"), b"zz\r\nwhat\r\n"),
        AgentProtocol,
        "the answer is not HTTP: ",
    ),
    "no HTTP at all": (JSON_FILE, sending(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), AgentProtocol, "the answer is not HTTP"),
    "gzip that is none": (
        JSON_FILE,
        body('{"answer": {"text": "x"}}', extra="Content-Encoding: gzip\r\n"),
        AgentUnreachable,
        "the connection failed",
    ),
    "a stream without its end": (
        STREAM,
        sending(head(kind=SSE) + HELLO),
        AgentUnreachable,
        "the stream was cut in half: [DONE] did not come",
    ),
    "a stream cut in an event": (
        ENDLESS_STREAM,
        sending(head(kind=SSE) + HELLO + b'data: {"delta": "wor'),
        AgentUnreachable,
        "the stream was cut in half: its last event is not finished",
    ),
    "a chunked stream cut": (
        ENDLESS_STREAM,
        sending(chunked(HELLO, kind=SSE)),
        AgentUnreachable,
        "the connection failed",
    ),
    "a stream of nonsense": (
        STREAM,
        sending(head(kind=SSE) + events("{delta}", "[DONE]")),
        AgentProtocol,
        "an event is not JSON",
    ),
    "an undeclared end": (
        ENDLESS_STREAM,
        sending(head(kind=SSE) + HELLO + events("[DONE]")),
        AgentProtocol,
        "an event is not JSON: JSON is malformed: invalid character (byte 1): [DONE]",
    ),
    "a stream without text": (
        STREAM,
        sending(head(kind=SSE) + events({"content": "x", "id": 1}, "[DONE]")),
        AgentProtocol,
        "no event of the stream has a text at 'delta'; in the last one there is {content, id}",
    ),
    "a stream that is empty": (STREAM, sending(head(kind=SSE) + events("[DONE]")), AgentProtocol, "no event"),
    "a stream of numbers": (
        STREAM,
        sending(head(kind=SSE) + events({"delta": 1})),
        AgentProtocol,
        "what the answer has at 'delta' is no text: number",
    ),
    "a stream that says it failed": (
        STREAM,
        sending(head(kind=SSE) + HELLO + b'event: error\ndata: {"message": "overloaded"}\n\n'),
        AgentCrash,
        'the agent says that it failed: {"message": "overloaded"}',
    ),
    "an error in an event": (
        f'[response]\nerror = "error"\n{STREAM}',
        sending(head(kind=SSE) + HELLO + events({"error": {"code": 1}}, "[DONE]")),
        AgentCrash,
        'the agent says that it failed: {"code":1}',
    ),
    "an event 100,000 deep": (
        STREAM,
        sending(head(kind=SSE) + events("[" * 100_000)),
        AgentProtocol,
        "an event is not JSON: maximum recursion depth",
    ),
}


@pytest.mark.parametrize("name", BAD)
@synchronous
async def test_each_fault_is_said(name: str) -> None:
    rest, behave, kind, message = BAD[name]
    async with raw_server(behave) as url, agent_at(url, rest) as agent:
        with pytest.raises(kind) as caught:
            async with asyncio.timeout(10):
                await agent.answer(TURN)
    assert type(caught.value) is kind
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("status", "asked", "wait"),
    [
        ("429 Too Many Requests", "7", 7.0),
        ("503 Service Unavailable", "0.5", 0.5),
        ("500 Oops", "7", None),
        ("429 Too Many Requests", "soon", None),
        ("429 Too Many Requests", "inf", None),
        ("429 Too Many Requests", "Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ],
)
@synchronous
async def test_what_a_busy_agent_asks_to_wait_is_kept(status: str, asked: str, wait: float | None) -> None:
    behave = body("busy", status, extra=f"Retry-After: {asked}\r\n")
    async with raw_server(behave) as url, agent_at(url, JSON_FILE) as agent:
        with pytest.raises(AgentUnreachable) as caught:
            await agent.answer(TURN)
    assert (caught.value.retry_after, caught.value.retry_may_help) == (wait, True)


@pytest.fixture
def _measured() -> Iterator[None]:
    """Memory is traced."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


class Flood:
    """Sends 100 MiB, and keeps count."""

    def __init__(self, beginning: bytes, piece: bytes) -> None:
        self._beginning = beginning
        self._piece = piece
        self.mebibytes = 0

    async def __call__(self, writer: asyncio.StreamWriter) -> None:
        """Send it all, unless the client goes."""
        writer.write(self._beginning)
        for _ in range(100):
            writer.write(self._piece)
            await writer.drain()
            self.mebibytes += 1


@pytest.mark.usefixtures("_measured")
@pytest.mark.parametrize(
    ("rest", "beginning", "piece", "message"),
    [
        (JSON_FILE, head(), MEBIBYTE, "the answer is longer than 32 MiB"),
        (JSON_FILE, head(extra=f"Content-Length: {100 << 20}\r\n"), MEBIBYTE, "the answer is longer than 32 MiB"),
        (JSON_FILE, head("500 Oops"), MEBIBYTE, "the answer is longer than 32 MiB"),
        (STREAM, head(kind=SSE), events({"delta": "x" * (1 << 20)}), "the answer is longer than 32 MiB"),
        (STREAM, head(kind=SSE), b": " + MEBIBYTE + b"\n", "the answer is longer than 32 MiB"),
        (STREAM, head(kind=SSE) + b"data: ", MEBIBYTE, "an event of the stream is longer than 8192 KiB"),
    ],
    ids=["endless", "announced", "error", "stream", "comments", "one event"],
)
@synchronous
async def test_a_flood_is_cut_off(rest: str, beginning: bytes, piece: bytes, message: str) -> None:
    flood = Flood(beginning, piece)
    async with raw_server(flood) as url, agent_at(url, rest) as agent:
        with pytest.raises(AgentProtocol, match=message):
            await agent.answer(TURN)
        sent = flood.mebibytes
    _, peak = tracemalloc.get_traced_memory()
    assert sent < 48
    assert peak < 100 << 20


async def driven(behave: Behave, rest: str, seconds: float) -> Episode:
    """The episode of a turn."""
    async with raw_server(behave) as url, agent_at(url, rest) as agent, asyncio.timeout(5):
        return await drive(agent, CASE, 1, turn_timeout=seconds, turn_settle=0, pace=Pace())


async def drip(writer: asyncio.StreamWriter) -> None:
    """Send a piece of text every 10 ms, for ever."""
    writer.write(head(kind=SSE))
    while True:
        writer.write(events({"delta": "x"}))
        await writer.drain()
        await asyncio.sleep(0.01)


async def drip_json(writer: asyncio.StreamWriter) -> None:
    """Send a blank every 10 ms, for ever."""
    writer.write(head())
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.01)


async def hang(writer: asyncio.StreamWriter) -> None:
    """Answer nothing."""
    await asyncio.sleep(30)


@pytest.mark.parametrize(("behave", "rest"), [(drip, STREAM), (drip_json, JSON_FILE), (hang, JSON_FILE)])
@synchronous
async def test_slow_answers_end_with_the_timeout(behave: Behave, rest: str) -> None:
    episode = await driven(behave, rest, 0.2)
    assert episode.fault is not None
    assert (episode.fault.kind, episode.fault.message) == (FaultKind.TIMEOUT, "no answer within 0.2 s")


SECRET = 'sk-日本/"very+secret"'
ASCII_SECRET = "sk-very/secret+value="
ECHO = f"""
headers = {{Authorization = "Bearer {{env:SHOP_TOKEN}}"}}
{JSON_FILE}
trace = "trace"
[response.parts]
tool_calls = "calls"
{STREAM}
"""
CALLS: list[dict[str, Any]] = [
    {"name": "f", "arguments": {ASCII_SECRET: [ASCII_SECRET]}, "result": f"Bearer {ASCII_SECRET}"}
]
LEAKS: dict[str, Behave] = {
    "text": body(json.dumps({"answer": {"text": f"you sent Bearer {ASCII_SECRET}."}})),
    "trace": body(json.dumps({"answer": {"text": "x"}, "trace": {"planning": {"decision": ASCII_SECRET}}})),
    "calls": body(json.dumps({"answer": {"text": "x"}, "calls": CALLS})),
    "stream": sending(head(kind=SSE) + events({"delta": ASCII_SECRET[:9]}, {"delta": ASCII_SECRET[9:]}, "[DONE]")),
    "error": body(f"bad token {ASCII_SECRET}", "500 Oops"),
    "escaped error": body(json.dumps({"token": ASCII_SECRET}).replace("/", "\\/"), "401 Unauthorized"),
    "redirect": body("", "302 Found", extra="Location: /login?token=sk-very%2Fsecret%2Bvalue%3D\r\n"),
    "reason": body("", f"500 {ASCII_SECRET}"),
    "HTML": body("x" * 290 + ASCII_SECRET, kind="text/html"),
    "key": body(json.dumps({ASCII_SECRET: 1})),
    "said": body(json.dumps({"error": {"message": f"no {ASCII_SECRET}"}})),
    "not HTTP": sending(f"{ASCII_SECRET} 200 OK\r\n\r\n".encode()),
    "bad header": sending(f"HTTP/1.1 200 OK\r\n{ASCII_SECRET}\r\n\r\n".encode()),
    "event": sending(head(kind=SSE) + events(f"{{{ASCII_SECRET}")),
    "unknown trace": body(json.dumps({"answer": {"text": "x"}, "trace": {ASCII_SECRET: 1}})),
    "wrong trace": body(json.dumps({"answer": {"text": "x"}, "trace": {"planning": {"route": ASCII_SECRET}}})),
    "wrong arguments": body(
        json.dumps({"answer": {"text": "x"}, "calls": [{"name": "f", "arguments": f"no {ASCII_SECRET}"}]})
    ),
}


@pytest.mark.parametrize("name", LEAKS)
@synchronous
async def test_a_secret_never_comes_back(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", ASCII_SECRET)
    caplog.set_level("DEBUG")
    async with raw_server(LEAKS[name]) as url, agent_at(url, ECHO) as agent:
        episode = await drive(agent, CASE, 1, turn_timeout=5, turn_settle=0, pace=Pace())
        kept = repr((episode, agent, caplog.text))
    for spelling in (ASCII_SECRET, "sk-very", "secret+value", "secret%2Bvalue"):
        assert spelling not in kept, kept


@synchronous
async def test_secrets_of_any_letters_are_hidden_and_short_values_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", SECRET)
    monkeypatch.setenv("SHOP_TENANT", "jp")
    rest = ECHO.replace("headers = {", 'headers = {tenant = "{env:SHOP_TENANT}", ')
    for ascii_only in (True, False):
        behave = body(json.dumps({"token": SECRET, "tenant": "jp"}, ensure_ascii=ascii_only), "400 Bad Request")
        async with raw_server(behave) as url, agent_at(url, rest) as agent:
            with pytest.raises(AgentRefused) as caught:
                await agent.answer(TURN)
        assert str(caught.value) == 'HTTP 400: {"token": "***", "tenant": "jp"}'
