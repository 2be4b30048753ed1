"""Servers that stand in for agents behind HTTP, well-behaved or down to the bytes, and the adapter before them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from liftbay.agents.http import HttpAgent
from liftbay.agents.http_file import HttpFile
from liftbay.domain.case import Case, Message
from liftbay.domain.episode import Turn
from liftbay.domain.vocabulary import DatasetType
from liftbay.ports import AgentInput

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Behave = Callable[[asyncio.StreamWriter], Awaitable[None]]

CASE = Case(
    id="c-1",
    dataset_type=DatasetType.TOOL_CALL,
    user_input="What's in stock?",
    biz_code="IC",
    mock_data_id="M-1",
    history=[Message("system", "be brief")],
)
TURN = AgentInput(
    session_id="s/1",
    case=CASE,
    trial=2,
    round=3,
    user_input="And {tomorrow}?",
    earlier=(Turn(1, "first", "one"), Turn(2, "second")),
)
STREAM = """
[response.stream]
delta = "delta"
done = "[DONE]"
"""


def agent_of(url: str, rest: str = '[response]\ntext = "text"\n', **options: Any) -> HttpAgent:
    """The agent of a file that begins with `url` and goes on with `rest`."""
    file = msgspec.toml.decode(f'kind = "http"\nurl = "{url}"\n{rest}', type=HttpFile)
    options = {"connections": 4, "otlp_endpoint": None, **options}
    return HttpAgent(file, "agents/shop.toml", options.pop("folder", Path.cwd()), **options)


@asynccontextmanager
async def agent_at(url: str, rest: str = '[response]\ntext = "text"\n', **options: Any) -> AsyncIterator[HttpAgent]:
    """The same, closed at the end; it is not started."""
    agent = agent_of(url, rest, **options)
    try:
        yield agent
    finally:
        await agent.close()


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """A server that answers everything with `handler`; gives its address."""

    async def answer(request: web.Request) -> web.StreamResponse:
        return await handler(request)

    app = web.Application(client_max_size=1 << 30)
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def raw_server(behave: Behave) -> AsyncIterator[str]:
    """A server that takes a request whole and then does what `behave` does; gives its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            await reader.readexactly(int(length[1]) if length else 0)
            await behave(writer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


def sending(*pieces: bytes) -> Behave:
    """Send these bytes and close."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return behave


def head(status: str = "200 OK", kind: str = "application/json", extra: str = "") -> bytes:
    """The head of an answer whose body ends with the connection."""
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n{extra}\r\n".encode()


def body(content: bytes | str, status: str = "200 OK", kind: str = "application/json", extra: str = "") -> Behave:
    """Send a whole answer."""
    content = content.encode() if isinstance(content, str) else content
    return sending(head(status, kind, f"{extra}Content-Length: {len(content)}\r\n") + content)


def events(*data: Any, end: str = "\n\n") -> bytes:
    """Events with these data, texts as they stand and all else as JSON."""
    texts = (item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in data)
    return "".join(f"data: {text}{end}" for text in texts).encode()
