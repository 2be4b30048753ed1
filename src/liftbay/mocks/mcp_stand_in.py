"""An MCP server that stands in for the one that an agent uses.

It lists the tools of the real server. A call of a trial in E2E_MOCK is answered from mock data in the form of a real
result; in E2E_REAL it goes on to the real server. A call that belongs to no open trial is refused, never passed on.
Prompts and resources are not served.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from liftbay.domain.trace import ToolCallRecord
from liftbay.errors import AgentError, InputError, MissingExtra
from liftbay.mocks.interceptor import MockTools, OpenTrial

try:
    from mcp import MCPError
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp_types import (
        INTERNAL_ERROR,
        INVALID_REQUEST,
        CallToolRequestParams,
        CallToolResult,
        ListToolsResult,
        PaginatedRequestParams,
        Tool,
    )
    from opentelemetry import context as trace_context
    from opentelemetry.propagate import extract
    from pydantic import ValidationError
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.routing import Route

    from liftbay.mocks.asgi_server import AsgiServer
    from liftbay.mocks.mcp_results import failed_result, mocked_result, result_in_trace, text_of
    from liftbay.transport.mcp_connection import McpCommand, McpConnection, McpUrl
except ModuleNotFoundError:
    raise MissingExtra(extra="mcp") from None

Context = ServerRequestContext[Any, Any]
_LOCAL = ["127.0.0.1:*", "localhost:*"]
_OF_ONE_HOP = ("progressToken", "traceparent", "tracestate")  # of `_meta`: each connection has its own
NOTHING_BEHIND = "no MCP server stands behind these tools"


class McpToolFile(msgspec.Struct, frozen=True):
    """Tool definitions without a server: a JSON list, or an object with `tools`, in the form of MCP."""

    path: Path


class McpStandIn:
    """Listens from `start` to `close`; `session_of_trace` knows which session a trace id belongs to.

    Raises `InputError` for a file that does not hold tool definitions.
    """

    def __init__(
        self,
        tools: MockTools,
        upstream: McpCommand | McpUrl | McpToolFile,
        *,
        session_of_trace: Callable[[str], str | None] | None = None,
    ) -> None:
        self.address: str | None = None  # of the server, without a session id
        self._tools = tools
        self._connection = None if isinstance(upstream, McpToolFile) else McpConnection(upstream)
        self._session_of_trace = session_of_trace or (lambda trace_id: None)
        self._listed: list[Tool] = _defined(upstream.path) if isinstance(upstream, McpToolFile) else []
        self._output_schemas: dict[str, dict[str, Any] | None] = {}
        self._server: AsgiServer | None = None

    @property
    def unassigned(self) -> int:
        """The calls that belonged to no open trial."""
        return self._tools.unassigned

    async def start(self) -> str:
        """Connect to the real server, list its tools and listen: the address.

        Raises `AgentError` where the real server does not answer.
        """
        try:
            name, version, instructions = await self._introduced()
            self._output_schemas = {tool.name: tool.output_schema for tool in self._listed}
            self._server = AsgiServer(self._application(name, version, instructions))
            self.address = f"{await self._server.start()}/mcp"
        except BaseException:
            await self.close()
            raise
        return self.address

    async def _introduced(self) -> tuple[str, str, str | None]:
        """List the tools; the name, the version and the instructions of the real server."""
        if self._connection is None:
            return "liftbay", "", None
        client = await self._connection.client()
        self._listed = await self._connection.tools()
        known = client.server_info
        return known.name if known else "", known.version if known else "", client.instructions

    async def close(self) -> None:
        """Stop listening, and end the connection to the real server."""
        if self._server is not None:
            await self._server.close()
        if self._connection is not None:
            await self._connection.close()

    def _application(self, name: str, version: str, instructions: str | None) -> Starlette:
        server = Server[Any](
            name,
            version=version,
            instructions=instructions,
            get_tool_input_schema={tool.name: tool.input_schema for tool in self._listed}.get,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        server.middleware.clear()  # its spans would tell of each call a second time
        manager = StreamableHTTPSessionManager(
            server,
            json_response=True,
            stateless=True,
            security_settings=TransportSecuritySettings(
                allowed_hosts=_LOCAL, allowed_origins=[f"http://{host}" for host in _LOCAL]
            ),
        )
        answer = StreamableHTTPASGIApp(manager)
        paths = ("/mcp", "/mcp/{session_id}")
        return Starlette(
            routes=[Route(path, endpoint=answer, methods=["POST"]) for path in paths],
            lifespan=lambda _: manager.run(),
        )

    async def _list_tools(self, _: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=self._listed)

    async def _call_tool(self, context: Context, asked: CallToolRequestParams) -> CallToolResult:
        trial, arguments = self._trial_of(context), asked.arguments or {}
        answer = trial.answer(asked.name, arguments)
        if answer is None:
            return await self._passed_on(trial, asked.name, arguments, context)
        await asyncio.sleep(answer.latency_ms / 1000)
        return mocked_result(answer, self._output_schemas.get(asked.name))

    def _trial_of(self, context: Context) -> OpenTrial:
        """The trial of a call: by the session id of the address, by the trace, or the only one that is open."""
        session_id = _request(context).path_params.get("session_id") or next(
            (session for carrier in _carriers(context) if (session := self._session_of(carrier)) is not None), None
        )
        trial = self._tools.only() if session_id is None else self._tools.of_session(session_id)
        if trial is None:
            self._tools.refuse()
            raise MCPError(INVALID_REQUEST, "this call belongs to no open trial of liftbay, and nothing was called")
        return trial

    def _session_of(self, carrier: Mapping[str, Any]) -> str | None:
        fields = str(carrier.get("traceparent", "")).split("-")
        return self._session_of_trace(fields[1]) if len(fields) == 4 else None

    async def _passed_on(
        self, trial: OpenTrial, name: str, arguments: dict[str, Any], context: Context
    ) -> CallToolResult:
        """What the real server answers, noted with its time."""
        result: CallToolResult | None = None
        error: str | None = "nobody waited for the answer"
        begun = time.perf_counter()
        try:
            result = await self._ask(name, arguments, context)
            error = text_of(result) if result.is_error else None
            return result
        except MCPError as refused:
            error = refused.message
            raise
        except AgentError as failed:
            error = str(failed)
            raise MCPError(INTERNAL_ERROR, error) from None
        finally:
            trial.record(
                ToolCallRecord(
                    name,
                    arguments,
                    success=error is None,
                    result=None if result is None else result_in_trace(result, self._output_schemas.get(name)),
                    error=error,
                    latency_ms=(time.perf_counter() - begun) * 1000,
                )
            )

    async def _ask(self, name: str, arguments: dict[str, Any], context: Context) -> CallToolResult:
        """The real server's answer; its spans, if it makes any, are part of the agent's trace."""
        if self._connection is None:
            return failed_result(NOTHING_BEHIND)
        meta = {
            key: value
            for key, value in (context.meta or {}).items()
            if key not in _OF_ONE_HOP and not key.startswith("io.modelcontextprotocol/")
        }
        carrier = next((carrier for carrier in _carriers(context) if "traceparent" in carrier), {})
        token = trace_context.attach(extract(carrier))
        try:
            return await self._connection.call(name, arguments, meta=meta)
        finally:
            trace_context.detach(token)


def _carriers(context: Context) -> tuple[Mapping[str, Any], ...]:
    """Where the trace context of a call may stand."""
    return _request(context).headers, context.meta or {}


def _request(context: Context) -> Request:
    """The HTTP request of a call; there is one, since nothing else is served."""
    return cast(Request, context.request)


def _defined(path: Path) -> list[Tool]:
    try:
        content = msgspec.json.decode(path.read_bytes())
        definitions = content["tools"] if isinstance(content, dict) else content
        return [Tool.model_validate(definition, by_name=False) for definition in definitions]
    except OSError as error:
        raise InputError("the file cannot be read: {why}", place=str(path), why=error.strerror) from None
    except (msgspec.DecodeError, ValidationError, KeyError, TypeError) as error:
        raise InputError(
            "this is no list of tool definitions: {why}",
            place=str(path),
            remedy='write what the MCP server answers to tools/list: [{{"name": ..., "inputSchema": {{...}}}}]',
            why=error,
        ) from None
