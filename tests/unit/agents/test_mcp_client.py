"""Tools of real MCP servers as tools of an agent: what they answer, how they fail, and the secrets that they get."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_server
import pytest
from aiohttp import web
from chat_server import serving
from places import synchronous

from liftbay.agents.chat_tools import ToolFailed
from liftbay.agents.mcp_client import McpServer, McpTools
from liftbay.agents.secrets import Secrets
from liftbay.errors import AgentError, InputError, MissingExtra

SERVER = mcp_server.__file__
SECRET = "very-secret-token"


@asynccontextmanager
async def connected(**server: Any) -> AsyncIterator[McpTools]:
    """The tools of a server, which is disconnected in the end."""
    tools = McpTools(McpServer(name="hotels", **server), Path(SERVER).parent, Secrets({"TOKEN": SECRET}))
    try:
        yield tools
    finally:
        await tools.close()


STDIO = {"command": [sys.executable, "mcp_server.py"]}


@synchronous
async def test_stdio(capfd: pytest.CaptureFixture[str]) -> None:
    async with connected(**STDIO, env=["TOKEN"]) as server:
        tools = {tool.name: tool for tool in await server.tools()}
        assert tools["price"].definition["type"] == "function"
        assert tools["price"].definition["function"]["description"] == "The price of a night in a hotel, in yen."
        assert tools["price"].definition["function"]["parameters"]["required"] == ["hotel"]
        call = tools["price"].call
        assert call is not None
        assert await call({"hotel": "京都"}) == "京都: 12,300 円"
        assert await server.call("add", {"a": 1, "b": 2}) == "3"
        with pytest.raises(ToolFailed, match="Error executing tool fail"):
            await server.call("fail", {})
        with pytest.raises(ToolFailed, match="valid integer"):
            await server.call("add", {"a": "x", "b": 2})
        assert await server.call("variable", {"name": "TOKEN"}) == SECRET
        assert await server.call("variable", {"name": "LD_LIBRARY_PATH"}) == "(unset)"
        assert len(await server.call("long", {"length": 3_000_000})) == 3_000_000
    assert capfd.readouterr() == ("", "")


@synchronous
async def test_a_server_that_is_lost_is_an_error_of_the_call_and_there_again_for_the_next() -> None:
    async with connected(**STDIO) as server:
        await server.tools()
        with pytest.raises(ToolFailed, match=r"^hotels: the connection to the MCP server was lost$"):
            await server.call("die", {})
        assert await server.call("add", {"a": 1, "b": 1}) == "2"


@synchronous
async def test_headers_are_sent_and_their_secrets_are_in_no_error() -> None:
    seen = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append(request.headers["Authorization"])
        error = {"code": -32603, "message": f"your header {request.headers['Authorization']}"}
        return web.json_response({"jsonrpc": "2.0", "id": (await request.json())["id"], "error": error})

    async with (
        serving(handler) as url,
        connected(url=url, headers={"Authorization": "Bearer {env:TOKEN}"}) as server,
    ):
        with pytest.raises(AgentError, match=r"your header Bearer \*\*\*"):
            await server.tools()
    assert set(seen) == {f"Bearer {SECRET}"}


@synchronous
async def test_a_refusal_of_the_server_is_an_error_of_the_call() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        if asked["method"] != "initialize":
            error = {"code": -32603, "message": f"no seat for {request.headers['Authorization']}"}
            return web.json_response({"jsonrpc": "2.0", "id": asked.get("id", 0), "error": error})
        known = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": known})

    async with serving(handler) as url, connected(url=url, headers={"Authorization": "Bearer {env:TOKEN}"}) as server:
        with pytest.raises(ToolFailed, match=r"the MCP server hotels answers with an error: no seat for Bearer \*\*\*"):
            await server.call("add", {"a": 1, "b": 1})


@pytest.mark.parametrize(
    ("server", "says"),
    [
        ({}, "either command or url"),
        ({"command": ["a"], "url": "http://b"}, "either command or url"),
        ({"command": ["a"], "env": ["NOT_SET"]}, "NOT_SET is not set"),
        ({"url": "http://b", "headers": {"A": "{env:NOT_SET}"}}, "NOT_SET is not set"),
        ({"url": "http://b", "headers": {"A": "{token}"}}, "unknown placeholder"),
    ],
)
def test_descriptions_that_are_refused(server: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        McpTools(McpServer(name="hotels", **server), Path(), Secrets({}))


def test_the_library_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)

    async def run() -> None:
        async with connected(**STDIO) as server:
            await server.tools()

    with pytest.raises(MissingExtra):
        asyncio.run(run())
