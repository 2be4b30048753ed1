"""The ways in which a tool call reaches the interceptor; behind each stands the same real tool."""

from __future__ import annotations

import contextvars
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any
from urllib.parse import quote

import aiohttp
import msgspec
from aiohttp import web
from mcp import MCPError
from mcp.client import Client
from mcp.server.mcpserver import MCPServer
from starlette.applications import Starlette

from liftbay.domain.trace import ToolCallRecord
from liftbay.mocks.asgi_server import AsgiServer
from liftbay.mocks.interceptor import MockTools, OpenTrial, record_of
from liftbay.mocks.mcp_stand_in import McpStandIn
from liftbay.mocks.mock_endpoint import routes
from liftbay.mocks.python_functions import ToolFailed, intercepting
from liftbay.transport.mcp_connection import McpUrl

TOOLS = ("search", "book")


class Said(msgspec.Struct, frozen=True):
    """What a call came to: a result, an error of the tool, or a refusal by liftbay."""

    result: Any = None
    error: str | None = None
    refused: bool = False


class RealTool:
    """Counts its calls; the tool `book` always fails."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def search(self, city: str, people: int = 2) -> dict[str, Any]:
        """Search for hotels."""
        self.calls.append(("search", city))
        return {"really": city}

    def book(self, city: str) -> dict[str, Any]:
        """Book a hotel."""
        self.calls.append(("book", city))
        raise ValueError("really full")


Call = Callable[[str, dict[str, Any]], Awaitable[Said]]
Caller = Callable[[OpenTrial], Call]  # made while the trial is open, in its context; may be used later
Way = Callable[[MockTools, RealTool], Any]


@asynccontextmanager
async def direct(tools: MockTools, real: RealTool) -> AsyncIterator[Caller]:
    """As an adapter asks that owns the tool loop."""

    def caller(trial: OpenTrial) -> Call:
        async def call(name: str, arguments: dict[str, Any]) -> Said:
            answer = trial.intercept(name, arguments)
            if answer is not None:
                trial.record(record_of(name, arguments, answer))
                return Said(answer.result, answer.error)
            try:
                result = getattr(real, name)(**arguments)
            except ValueError as error:
                trial.record(ToolCallRecord(name, arguments, success=False, error=str(error), latency_ms=1.0))
                return Said(error=str(error))
            trial.record(ToolCallRecord(name, arguments, success=True, result=result, latency_ms=1.0))
            return Said(result)

        return call

    yield caller


@asynccontextmanager
async def http(tools: MockTools, real: RealTool) -> AsyncIterator[Caller]:
    """As an agent in another process asks the mock endpoint."""
    application = web.Application()
    application.add_routes(routes(tools))
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    tools.endpoint = f"http://127.0.0.1:{runner.addresses[0][1]}/mock"

    def caller(trial: OpenTrial) -> Call:
        async def call(name: str, arguments: dict[str, Any]) -> Said:
            url = f"{tools.endpoint}/{trial.session_id}/{quote(name)}"
            async with client.post(url, json={"arguments": arguments}) as response:
                body = await response.json()
                return Said(body.get("result"), body.get("error"), refused=response.status in (409, 410))

        return call

    try:
        async with aiohttp.ClientSession() as client:
            yield caller
    finally:
        await runner.cleanup()


@asynccontextmanager
async def mcp(tools: MockTools, real: RealTool) -> AsyncIterator[Caller]:
    """As an agent asks that was given the stand-in's address for that of its MCP server."""
    behind = MCPServer("hotels", log_level="CRITICAL")
    for name in TOOLS:
        behind.add_tool(getattr(real, name), name=name)
    application: Starlette = behind.streamable_http_app(stateless_http=True, json_response=True)
    server = AsgiServer(application)
    address = await server.start()
    stand_in = McpStandIn(tools, McpUrl(f"{address}/mcp"))
    tools.mcp_endpoint = await stand_in.start()

    def caller(trial: OpenTrial) -> Call:
        async def call(name: str, arguments: dict[str, Any]) -> Said:
            async with Client(f"{tools.mcp_endpoint}/{trial.session_id}") as client:
                try:
                    result = await client.call_tool(name, arguments)
                except MCPError as error:
                    return Said(error=error.message, refused=True)
            (part,) = result.content
            assert part.type == "text"
            return Said(error=part.text) if result.is_error else Said(json.loads(part.text))

        return call

    try:
        yield caller
    finally:
        await stand_in.close()
        await server.close()


@asynccontextmanager
async def function(tools: MockTools, real: RealTool) -> AsyncIterator[Caller]:
    """As a Python agent calls a function of its own."""
    module = ModuleType("tools_of_the_contract")
    for name in TOOLS:
        setattr(module, name, _function_of(getattr(real, name)))
    sys.modules[module.__name__] = module

    def caller(trial: OpenTrial) -> Call:
        context = contextvars.copy_context()

        async def call(name: str, arguments: dict[str, Any]) -> Said:
            try:
                return Said(context.copy().run(lambda: getattr(module, name)(**arguments)))
            except (ToolFailed, ValueError) as error:
                return Said(error=str(error))

        return call

    try:
        with intercepting(tools, [f"{module.__name__}:{name}" for name in TOOLS]):
            yield caller
    finally:
        del sys.modules[module.__name__]


def _function_of(method: Callable[..., Any]) -> Callable[..., Any]:
    def call(city: str, people: int = 2) -> Any:
        return method(city)

    return call


WAYS: dict[str, Way] = {"direct": direct, "http": http, "mcp": mcp, "function": function}
