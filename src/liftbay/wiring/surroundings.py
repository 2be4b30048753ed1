"""What stands round an agent while it runs: the receiver of spans, the mocks before its tools."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

from aiohttp import web

from liftbay.agents.http import HttpAgent
from liftbay.agents.http_file import HttpFile
from liftbay.agents.python import PythonFile
from liftbay.agents.stand_in_file import StandInFor
from liftbay.domain.case import MockData
from liftbay.engine.instruments import NONE, Instruments
from liftbay.errors import InputError, at
from liftbay.mocks import mock_endpoint
from liftbay.ports import Agent, SpanOrigin
from liftbay.wiring.agents import Wired

if TYPE_CHECKING:
    from liftbay.telemetry.collector import SpanCollector


@contextlib.asynccontextmanager
async def started(wired: Wired, mock_data: Mapping[str, MockData] | None = None) -> AsyncIterator[Instruments]:
    """The agent, ready to answer, with what stands round it; all of it is stopped in the end.

    Without `mock_data`, not even an empty one, no case of E2E_MOCK will come. Raises `InputError` where a port is
    taken or the agent file is not right, `AgentError` where the agent does not get ready.
    """
    async with contextlib.AsyncExitStack() as opened:
        opened.push(wired.opened)
        instruments = await _surrounded(wired, mock_data, opened)
        opened.push_async_callback(wired.agent.close)
        await wired.agent.start()
        yield instruments


async def _surrounded(
    wired: Wired, mock_data: Mapping[str, MockData] | None, opened: contextlib.AsyncExitStack
) -> Instruments:
    traces = None if wired.agent.spans is SpanOrigin.NONE else _collector(wired.agent, opened)
    if wired.tools is None:  # a function or a record that no file describes: nothing stands before its tools
        return NONE if traces is None else Instruments(traces)
    wired.tools.use(mock_data or {})
    received = traces if wired.agent.spans is SpanOrigin.OTLP else None
    # The tools may be in another process; without an endpoint it would ask the real ones for a case of E2E_MOCK.
    if received is not None or (mock_data is not None and isinstance(wired.file, PythonFile | HttpFile)):
        await _listen(wired, received, opened)
    if isinstance(wired.file, PythonFile | HttpFile) and wired.file.mcp_stand_in is not None:
        await _stand_in(wired, wired.file.mcp_stand_in, traces, opened)
    return Instruments(traces, wired.tools)


def _collector(agent: Agent, opened: contextlib.AsyncExitStack) -> SpanCollector:
    from liftbay.telemetry.assemble import trace_of  # noqa: PLC0415
    from liftbay.telemetry.collector import SpanCollector  # noqa: PLC0415

    secrets = agent.secrets if isinstance(agent, HttpAgent) and agent.secrets.any else None
    collector = SpanCollector(trace_of, hidden=None if secrets is None else secrets.hidden)
    opened.push_async_callback(collector.close)
    if agent.spans is SpanOrigin.IN_PROCESS:
        from liftbay.telemetry.in_process import attach  # noqa: PLC0415

        opened.callback(attach(collector))
    return collector


async def _listen(wired: Wired, traces: SpanCollector | None, opened: contextlib.AsyncExitStack) -> None:
    """Serve what an agent in another process needs: the receiver of spans at its port, the mock endpoint beside it.

    An agent without spans is told the address of the mock endpoint with each request: any port does.
    """
    from liftbay.transport.local_server import LocalServer, is_loopback  # noqa: PLC0415

    listening = wired.listening
    routes: list[web.RouteDef] = [] if wired.tools is None else mock_endpoint.routes(wired.tools)
    if traces is not None:
        from liftbay.telemetry import receiver  # noqa: PLC0415

        routes += receiver.routes(traces)
    token = None if is_loopback(listening.host) else os.environ.get(listening.token_env) or None
    if isinstance(wired.agent, HttpAgent):
        wired.agent.otlp_token = token
    server = LocalServer(
        routes,
        host=listening.host,
        port=listening.port if traces is not None else 0,
        token=token,
    )
    try:
        await server.start()
    except InputError as error:
        error.remedy = "set host and port under [telemetry] in liftbay.toml; port = 0 takes any that is free"
        raise
    opened.push_async_callback(server.close)
    if traces is not None:
        traces.endpoint = server.address
    if wired.tools is not None:
        wired.tools.endpoint = f"{server.address}/mock"


async def _stand_in(
    wired: Wired, stand_in: StandInFor, traces: SpanCollector | None, opened: contextlib.AsyncExitStack
) -> None:
    from liftbay.mocks.mcp_stand_in import McpStandIn, McpToolFile  # noqa: PLC0415
    from liftbay.transport.mcp_connection import McpCommand, McpUrl  # noqa: PLC0415

    assert wired.tools is not None
    upstream: McpCommand | McpUrl | McpToolFile
    match stand_in:
        case StandInFor(command=list() as command, url=None, tools=None):
            upstream = McpCommand(command, folder=wired.folder)
        case StandInFor(command=None, url=str() as url, tools=None):
            upstream = McpUrl(url)
        case StandInFor(command=None, url=None, tools=str() as tools):
            upstream = McpToolFile(wired.folder / tools)
        case _:
            place = at(wired.path, None, "mcp_stand_in")
            raise InputError("give exactly one of command, url and tools", place=place)
    server = McpStandIn(wired.tools, upstream, session_of_trace=None if traces is None else traces.session_of)
    wired.tools.mcp_endpoint = await server.start()
    opened.push_async_callback(server.close)
    if isinstance(wired.agent, HttpAgent):
        wired.agent.mcp_endpoint = wired.tools.mcp_endpoint
