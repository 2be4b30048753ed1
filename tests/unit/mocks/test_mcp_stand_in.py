"""The stand-in for an MCP server: its tools, the form of its answers, whose call it is, and what lies behind."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import aiohttp
import httpx2
import mcp_server
import pytest
from agents.mcp import MCPServerStreamableHttp
from mcp import MCPError
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent
from mock_cases import hotels, mocked, real, said
from opentelemetry import context
from opentelemetry.propagate import extract
from places import synchronous

from liftbay.domain.case import MockAnswer
from liftbay.errors import AgentUnreachable, InputError, MissingExtra
from liftbay.mocks.asgi_server import AsgiServer
from liftbay.mocks.interceptor import MockTools
from liftbay.mocks.mcp_results import text_of
from liftbay.mocks.mcp_stand_in import NOTHING_BEHIND, McpStandIn, McpToolFile
from liftbay.transport.mcp_connection import McpCommand, McpUrl

REAL_SERVER = McpCommand([sys.executable, str(mcp_server.__file__)])
TRACE, OTHER_TRACE = "1" * 32, "2" * 32
OBJECT = {"type": "object", "properties": {"hotel": {"type": "string"}}, "required": ["hotel"]}
WRAPPED = {"type": "object", "properties": {"result": {}}, "required": ["result"]}


def parent(trace_id: str) -> str:
    """A `traceparent` of this trace."""
    return f"00-{trace_id}-{'3' * 16}-01"


def defined(folder: Path, **output_schemas: Any) -> McpToolFile:
    """A file of tools with these output schemas."""
    path = folder / "tools.json"
    tools = [
        {"name": name, "inputSchema": {"type": "object"}} | ({"outputSchema": schema} if schema else {})
        for name, schema in output_schemas.items()
    ]
    path.write_text(json.dumps({"tools": tools}))
    return McpToolFile(path)


@asynccontextmanager
async def standing_in(
    tools: MockTools, upstream: McpCommand | McpUrl | McpToolFile, lookup: Callable[[str], str | None] | None = None
) -> AsyncIterator[McpStandIn]:
    """A stand-in that listens."""
    stand_in = McpStandIn(tools, upstream, session_of_trace=lookup)
    tools.mcp_endpoint = await stand_in.start()
    try:
        yield stand_in
    finally:
        await stand_in.close()


@asynccontextmanager
async def serving(application: Any) -> AsyncIterator[str]:
    """An application that listens: its address."""
    server = AsgiServer(application)
    try:
        yield await server.start()
    finally:
        await server.close()


async def called(
    url: str | None,
    name: str = "search",
    arguments: dict[str, Any] | None = None,
    meta: dict[str, Any] | None = None,
) -> CallToolResult:
    """What the SDK's client gets, or the `MCPError` that it raises."""
    assert url is not None
    async with Client(url) as client:
        # The client writes the trace of its own span over that in `meta`, where this process makes spans.
        token = context.attach(extract({"traceparent": str((meta or {}).get("traceparent"))}))
        try:
            return await client.call_tool(name, arguments or {}, meta=cast(Any, meta))
        except MCPError as error:  # the client would wrap it in a group
            refused = error
        finally:
            context.detach(token)
    raise refused


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@synchronous
async def test_it_looks_like_the_real_server_to_clients_of_either_protocol(mode: str) -> None:
    async with Client(mcp_server.server) as client:
        expected = [tool.model_dump() for tool in (await client.list_tools()).tools]
    assert len(expected) > 3
    tools = MockTools(hotels(price=[said("1 円")]))
    async with standing_in(tools, REAL_SERVER) as stand_in:
        with tools.open("s", mocked()) as trial:
            for url in (trial.mcp_endpoint, stand_in.address):
                assert url is not None
                async with Client(url, mode=mode) as client:
                    assert [tool.model_dump() for tool in (await client.list_tools()).tools] == expected
                    assert client.server_info is not None
                    assert client.server_info.name == "hotels"
                    assert (await client.call_tool("price", {"hotel": "京"})).structured_content == {"result": "1 円"}


@pytest.mark.parametrize(
    ("schema", "result", "text", "structured"),
    [
        (None, "部屋", "部屋", None),
        (None, {"hotel": "京"}, '{"hotel":"京"}', None),
        (None, [1, None], "[1,null]", None),
        (None, None, "null", None),
        (OBJECT, {"hotel": "京"}, '{"hotel":"京"}', {"hotel": "京"}),
        (WRAPPED, "部屋", "部屋", {"result": "部屋"}),
        (WRAPPED, [1], "[1]", {"result": [1]}),
        (WRAPPED, {"result": 1}, '{"result":1}', {"result": 1}),
    ],
)
@synchronous
async def test_the_form_of_a_mocked_result(
    tmp_path: Path, schema: dict[str, Any] | None, result: Any, text: str, structured: Any
) -> None:
    tools = MockTools(hotels(search=[said(result)]))
    async with standing_in(tools, defined(tmp_path, search=schema)):
        with tools.open("s", mocked()) as trial:
            found = await called(trial.mcp_endpoint)
            assert (found.is_error, found.structured_content) == (False, structured)
            assert [part.model_dump(exclude_none=True) for part in found.content] == [{"type": "text", "text": text}]
            assert [call.result for call in trial.taken()] == [result]


@synchronous
async def test_mocked_errors_and_unmocked_calls_are_errors_of_the_tool(tmp_path: Path) -> None:
    tools = MockTools(hotels(search=[MockAnswer(match={"x": 1}, error="満室", latency_ms=50)]))
    async with standing_in(tools, defined(tmp_path, search=OBJECT)):
        with tools.open("s", mocked()) as trial:
            begun = time.perf_counter()
            failed = await called(trial.mcp_endpoint, arguments={"x": 1})
            assert time.perf_counter() - begun >= 0.05
            unmocked = await called(trial.mcp_endpoint, arguments={"x": 2})
            unlisted = await called(trial.mcp_endpoint, "book")
            for result, text in ((failed, "満室"), (unmocked, "unmocked call"), (unlisted, "unmocked call")):
                assert (result.is_error, result.content) == (True, [TextContent(type="text", text=text)])
            assert [(call.mocked, call.unmocked, call.latency_ms) for call in trial.taken()] == [
                (True, False, None),
                (False, True, None),
                (False, True, None),
            ]


@synchronous
async def test_a_real_call_is_answered_as_without_the_stand_in() -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("add", {"a": 1, "b": 2}),
        ("price", {"hotel": "京"}),
        ("fail", {}),
        ("add", {"a": "x"}),
        ("none", {}),
    ]
    tools = MockTools({})
    async with standing_in(tools, REAL_SERVER), Client(mcp_server.server) as client:
        with tools.open("s", real()) as trial:
            for name, arguments in calls:
                assert await called(trial.mcp_endpoint, name, arguments) == await client.call_tool(name, arguments)
            noted = trial.taken()
    assert [(call.name, call.arguments) for call in noted] == calls
    assert [call.result for call in noted] == [3, "京: 12,300 円", None, None, None]
    assert [call.success for call in noted] == [True, True, False, False, False]
    assert [call.error is None for call in noted] == [True, True, False, False, False]
    assert all(call.latency_ms is not None and 0 < call.latency_ms < 5_000 for call in noted)
    assert not any(call.mocked or call.unmocked for call in noted)


@synchronous
async def test_a_call_finds_its_trial_by_its_trace(tmp_path: Path) -> None:
    tools = MockTools(hotels(search=[said("found")]))
    lookup = {TRACE: "one", OTHER_TRACE: "two"}.get
    async with standing_in(tools, defined(tmp_path, search=None), lookup) as stand_in:
        assert stand_in.address is not None
        with tools.open("one", mocked()) as one, tools.open("two", mocked()) as two:
            await called(stand_in.address, arguments={"by": "meta"}, meta={"traceparent": parent(TRACE)})
            async with (
                httpx2.AsyncClient(headers={"traceparent": parent(OTHER_TRACE)}) as http,
                Client(streamable_http_client(stand_in.address, http_client=http)) as client,
            ):
                await client.call_tool("search", {"by": "header"})
            assert [call.arguments for call in one.taken()] == [{"by": "meta"}]
            assert [call.arguments for call in two.taken()] == [{"by": "header"}]


@pytest.mark.parametrize("traceparent", [None, parent("4" * 32), "nonsense", 1])
@synchronous
async def test_a_call_without_a_known_trace_is_that_of_the_only_trial_or_refused(
    tmp_path: Path, traceparent: object
) -> None:
    meta = {} if traceparent is None else {"traceparent": traceparent}
    tools = MockTools(hotels(search=[said("found")]))
    async with standing_in(tools, defined(tmp_path, search=None), lambda _: None) as stand_in:
        with tools.open("one", mocked()) as one:
            assert (await called(stand_in.address, meta=meta)).content == [TextContent(type="text", text="found")]
            assert (len(one.taken()), stand_in.unassigned) == (1, 0)
            with tools.open("two", mocked()) as two:
                with pytest.raises(MCPError, match="this call belongs to no open trial of liftbay"):
                    await called(stand_in.address, meta=meta)
                assert (one.taken(), two.taken(), stand_in.unassigned) == ([], [], 1)


@synchronous
async def test_a_call_of_a_trial_that_ended_is_not_taken_for_another_ones(tmp_path: Path) -> None:
    tools = MockTools(hotels(search=[said("found")]))
    async with standing_in(tools, defined(tmp_path, search=None), {TRACE: "ended"}.get) as stand_in:
        with tools.open("other", mocked()) as other:
            with pytest.raises(MCPError, match="belongs to no open trial"):
                await called(stand_in.address, meta={"traceparent": parent(TRACE)})
            with pytest.raises(MCPError, match="belongs to no open trial"):
                await called(f"{stand_in.address}/ended")
            assert (other.taken(), stand_in.unassigned) == ([], 2)


@synchronous
async def test_tools_without_a_server_behind_them(tmp_path: Path) -> None:
    tools = MockTools({})
    async with standing_in(tools, defined(tmp_path, search=None)):
        with tools.open("s", real()) as trial:
            found = await called(trial.mcp_endpoint)
            (call,) = trial.taken()
    assert (found.is_error, found.content) == (True, [TextContent(type="text", text=NOTHING_BEHIND)])
    assert (call.success, call.error, call.unmocked) == (False, NOTHING_BEHIND, False)


@pytest.mark.parametrize("content", ["{", "{}", "[1]", '[{"name": "x"}]', '"x"', "3"])
def test_a_file_that_holds_no_tools(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tools.json"
    path.write_text(content)
    with pytest.raises(InputError, match="this is no list of tool definitions") as raised:
        McpStandIn(MockTools({}), McpToolFile(path))
    assert raised.value.place == str(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the file cannot be read: No such file"):
        McpStandIn(MockTools({}), McpToolFile(tmp_path / "tools.json"))


@pytest.mark.parametrize(
    ("upstream", "why"),
    [
        (McpCommand(["no-such-program"]), "No such file"),
        (McpCommand([sys.executable, "-c", "raise SystemExit('no key')"]), "no key"),
        (McpUrl("http://127.0.0.1:9/mcp"), "the MCP server cannot be reached"),
    ],
)
@synchronous
async def test_a_real_server_that_cannot_be_reached(upstream: McpCommand | McpUrl, why: str) -> None:
    stand_in = McpStandIn(MockTools({}), upstream)
    with pytest.raises(AgentUnreachable, match=why):
        await stand_in.start()
    assert stand_in.address is None


@synchronous
async def test_a_real_server_that_dies_fails_one_call() -> None:
    tools = MockTools({})
    async with standing_in(tools, REAL_SERVER):
        with tools.open("s", real()) as trial:
            with pytest.raises(MCPError, match="the connection to the MCP server was lost"):
                await called(trial.mcp_endpoint, "die")
            assert (await called(trial.mcp_endpoint, "add", {"a": 1, "b": 2})).structured_content == {"result": 3}
            died, added = trial.taken()
    assert (died.success, died.error) == (False, "the connection to the MCP server was lost")
    assert (added.success, added.result) == (True, 3)


@synchronous
async def test_the_trace_and_what_the_agent_says_besides_reach_the_real_server() -> None:
    seen: list[dict[str, Any]] = []

    async def call_tool(context: ServerRequestContext[Any, Any], _: CallToolRequestParams) -> CallToolResult:
        seen.append(dict(context.meta or {}))
        return CallToolResult(content=[])

    async def list_tools(*_: object) -> ListToolsResult:
        return ListToolsResult(tools=[])

    behind = Server[Any]("x", on_call_tool=call_tool, on_list_tools=list_tools)
    tools = MockTools({})
    async with serving(behind.streamable_http_app()) as address, standing_in(tools, McpUrl(f"{address}/mcp")):
        with tools.open("s", real()) as trial:
            await called(trial.mcp_endpoint, meta={"traceparent": parent(TRACE), "user": "花子"})
    (meta,) = seen
    assert meta["user"] == "花子"
    assert meta["traceparent"].split("-")[1] == TRACE


@synchronous
async def test_a_client_of_the_openai_agents_sdk(tmp_path: Path) -> None:
    tools = MockTools(hotels(search=[said({"hotel": "京"}, city="京都")]))
    async with standing_in(tools, defined(tmp_path, search=OBJECT)):
        with tools.open("s", mocked()) as trial:
            assert trial.mcp_endpoint is not None
            async with MCPServerStreamableHttp({"url": trial.mcp_endpoint}) as server:
                assert [tool.name for tool in await server.list_tools()] == ["search"]
                found = await server.call_tool("search", {"city": "京都"})
                assert text_of(found) == '{"hotel":"京"}'
                assert text_of(await server.call_tool("search", {"city": "大阪"})) == "unmocked call"
            assert [call.unmocked for call in trial.taken()] == [False, True]


@synchronous
async def test_only_calls_to_this_computer_by_its_own_name_are_answered(tmp_path: Path) -> None:
    async with (
        standing_in(MockTools({}), defined(tmp_path, search=None)) as stand_in,
        aiohttp.ClientSession() as client,
    ):
        assert stand_in.address is not None
        async with client.get(stand_in.address) as answer:
            assert answer.status == 405
        headers = {"Host": "evil.example", "Accept": "application/json", "Content-Type": "application/json"}
        async with client.post(stand_in.address, data=b"{}", headers=headers) as answer:
            assert answer.status == 421


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "liftbay.mocks.mcp_stand_in")
    with pytest.raises(MissingExtra) as raised:
        importlib.import_module("liftbay.mocks.mcp_stand_in")
    assert raised.value.values == {"extra": "mcp"}
