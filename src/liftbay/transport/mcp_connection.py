"""A connection to an MCP server, started as a process or reached over streamable HTTP."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

import liftbay
from liftbay.errors import AgentError, AgentProtocol, AgentUnreachable, LiftbayError, MissingExtra

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, Tool

_MOST_PAGES = 100  # of a list of tools
_LAST_WORDS = 1000  # bytes of what a process wrote to stderr

logging.getLogger("mcp").addHandler(logging.NullHandler())  # or its warnings would go to the terminal


class McpCommand(msgspec.Struct, frozen=True):
    """A server that is started as a process; it gets the safe part of the environment, and `env`."""

    command: Sequence[str]
    env: Mapping[str, str] = {}
    folder: Path | None = None


class McpUrl(msgspec.Struct, frozen=True):
    """A server that listens for streamable HTTP; the headers may hold secrets."""

    url: str
    headers: Mapping[str, str] = {}


class McpConnection:
    """One server. It is connected when it is first asked, and again by the next call when the connection was lost."""

    def __init__(self, server: McpCommand | McpUrl, *, place: str | None = None, timeout: float = 30) -> None:
        """`place` stands in errors; `timeout` in seconds is for connecting, a call may take as long as it takes."""
        self.place = place or (server.url if isinstance(server, McpUrl) else server.command[0])
        self._server = server
        self._timeout = timeout
        self._session: _Session | None = None
        self._connecting = asyncio.Lock()

    async def client(self) -> Client:
        """The SDK's client, connected. Raises `AgentUnreachable` where that cannot be."""
        return (await self._connected()).client

    async def tools(self) -> list[Tool]:
        """All tools, as the server lists them. Raises `AgentError` where it does not."""
        session = await self._connected()
        found: list[Tool] = []
        cursor: str | None = None
        try:
            async with asyncio.timeout(self._timeout):
                for _ in range(_MOST_PAGES):
                    page = await session.client.list_tools(cursor=cursor, cache_mode="bypass")
                    found += page.tools
                    cursor = page.next_cursor
                    if cursor is None:
                        break
        except Exception as error:
            self._raise_if_lost(session, error)
            why = _reason(error)
            raise AgentProtocol("the MCP server does not list its tools: {why}", place=self.place, why=why) from None
        return found

    async def call(
        self, name: str, arguments: dict[str, Any], *, meta: Mapping[str, Any] | None = None
    ) -> CallToolResult:
        """What the tool answers; its own errors are results too.

        Raises the SDK's `MCPError` where the server refuses the call, and `AgentError` where it does not answer, or not
        as the protocol or the tool's own output schema says.
        """
        session = await self._connected()
        try:
            return await session.client.call_tool(name, arguments, meta=cast(Any, dict(meta) if meta else None))
        except Exception as error:
            self._raise_if_lost(session, error)
            if _is_refusal(error):
                raise
            why = _reason(error)
            raise AgentProtocol("the MCP server's answer is not one: {why}", place=self.place, why=why) from None

    async def close(self) -> None:
        """Disconnect; a process is stopped."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _connected(self) -> _Session:
        async with self._connecting:  # all who wait share what the first of them opens
            session = self._session
            if session is None or session.over:
                await self.close()
                self._session = session = _Session(self._opened, self.place)
                await session.open()
            return session

    def _raise_if_lost(self, session: _Session, error: Exception) -> None:
        if _is_lost(error):
            session.end()
            raise AgentUnreachable("the connection to the MCP server was lost", place=self.place) from None

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Client]:
        try:
            from mcp import Client  # noqa: PLC0415 - an extra
            from mcp_types import Implementation  # noqa: PLC0415
        except ModuleNotFoundError:
            raise MissingExtra(extra="mcp") from None
        async with AsyncExitStack() as stack:
            transport, last_words = await self._transport(stack)
            identity = Implementation(name="liftbay", version=liftbay.__version__)
            try:
                async with asyncio.timeout(self._timeout):
                    client = await stack.enter_async_context(Client(transport, client_info=identity))
            except Exception as error:
                await asyncio.sleep(0.01)  # what the process said last is still under way
                raise self._unreachable(error, last_words()) from None
            yield client

    def _unreachable(self, error: Exception, last_words: str) -> AgentUnreachable:
        if not isinstance(error, TimeoutError):
            why = ": ".join(filter(None, (_reason(error), last_words)))
            return AgentUnreachable("the MCP server cannot be reached: {why}", place=self.place, why=why)
        seconds = self._timeout
        if not last_words:
            return AgentUnreachable(
                "no connection to the MCP server within {seconds:g} s", place=self.place, seconds=seconds
            )
        return AgentUnreachable(
            "no connection to the MCP server within {seconds:g} s: {why}",
            place=self.place,
            seconds=seconds,
            why=last_words,
        )

    async def _transport(self, stack: AsyncExitStack) -> tuple[Any, Callable[[], str]]:
        """The streams to the server, not yet open, and what its process wrote to stderr last."""
        import httpx2  # noqa: PLC0415 - what the SDK speaks HTTP with
        from mcp import StdioServerParameters, stdio_client  # noqa: PLC0415 - an extra
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

        if isinstance(self._server, McpUrl):
            timeout = httpx2.Timeout(self._timeout, read=None)  # whoever asks for a call holds the clock
            http = httpx2.AsyncClient(headers=dict(self._server.headers), timeout=timeout)
            await stack.enter_async_context(http)
            return streamable_http_client(self._server.url, http_client=http), str
        errors, last_words = await stack.enter_async_context(_kept_errors())
        command, *arguments = self._server.command
        parameters = StdioServerParameters(
            command=command, args=arguments, env=dict(self._server.env), cwd=self._server.folder
        )
        return stdio_client(parameters, errlog=errors), last_words


class _Session:
    """A connection in a task of its own: what it is made of must be opened and closed by the same task."""

    def __init__(self, opened: Callable[[], AbstractAsyncContextManager[Client]], place: str) -> None:
        self._opened = opened
        self._place = place
        self._ended = asyncio.Event()
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold())
        self._task.add_done_callback(self._settle)

    async def open(self) -> None:
        """Wait for the connection; whoever stops waiting ends it."""
        try:
            await asyncio.shield(self._client)
        except BaseException:
            self.end()
            self._client.cancel()
            raise

    @property
    def client(self) -> Client:
        """The client, once it is open."""
        return self._client.result()

    @property
    def over(self) -> bool:
        """Whether the connection is lost or given up."""
        return self._ended.is_set() or self._task.done()

    def end(self) -> None:
        """Let it be closed; what still connects gives up."""
        if self._ended.is_set():
            return  # a second cancellation would break off the stopping of the process
        self._ended.set()
        if not self._client.done():
            self._task.cancel()

    async def close(self) -> None:
        """Close it, and wait until it is."""
        self.end()
        await asyncio.wait([self._task])

    async def _hold(self) -> None:
        try:
            async with self._opened() as client:
                if not self._client.done():
                    self._client.set_result(client)
                    await self._ended.wait()
        except (AgentError, MissingExtra) as error:
            self._fail(error)
        except Exception as error:  # the SDK lets faults of the connection out here: the calls have seen them
            why = _reason(error)
            self._fail(AgentUnreachable("the MCP server cannot be reached: {why}", place=self._place, why=why))

    def _settle(self, _: asyncio.Task[None]) -> None:
        """Nobody waits for a connection that was given up; the task may not even have begun."""
        self._fail(AgentUnreachable("the connection to the MCP server was closed", place=self._place))

    def _fail(self, error: LiftbayError) -> None:
        if not self._client.done():
            self._client.set_exception(error)


def _is_lost(error: Exception) -> bool:
    """Whether the connection is of no more use."""
    import anyio  # noqa: PLC0415 - comes with the SDK
    from mcp import MCPError  # noqa: PLC0415 - an extra

    if isinstance(error, MCPError):  # by its text: servers use the same codes for errors of other kinds
        return error.message in ("Connection closed", "Session terminated")
    return isinstance(error, OSError | anyio.ClosedResourceError | anyio.BrokenResourceError)


def _is_refusal(error: Exception) -> bool:
    from mcp import MCPError  # noqa: PLC0415 - an extra

    return isinstance(error, MCPError)


class _Tail(asyncio.Protocol):
    """Keeps the end of what arrives."""

    def __init__(self) -> None:
        self.kept = b""

    def data_received(self, data: bytes) -> None:
        self.kept = (self.kept + data)[-_LAST_WORDS:]


@asynccontextmanager
async def _kept_errors() -> AsyncIterator[tuple[Any, Callable[[], str]]]:
    """A file for the stderr of a process, which keeps it off the terminal, and what was written to it last."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as errors:
        transport, tail = await asyncio.get_running_loop().connect_read_pipe(_Tail, os.fdopen(reading, "rb", 0))
        try:
            yield errors, lambda: " ".join(tail.kept.decode("utf-8", "replace").split())
        finally:
            transport.close()


def _reason(error: BaseException) -> str:
    """What went wrong first, without the groups that the SDK wraps it in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
