"""The MCP servers that the agent starts, and keeps running."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from typing import Any

import anyio
from mcp import Client, MCPError, StdioServerParameters

SERVERS = ("product", "operations")
_AGAIN_SECONDS = 1.0
_CALL_SECONDS = 20.0
_log = logging.getLogger(__name__)


class ServerError(Exception):
    """A call did not reach a tool, or the tool failed."""


class McpServer:
    """One MCP server: its process, and the connection to it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.error: str | None = "not started"
        self._client: Client | None = None
        self._tried = asyncio.Event()
        self._broken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the process in the background."""
        self._task = asyncio.create_task(self._run())

    async def tried(self) -> None:
        """Wait until it runs or has failed to."""
        await self._tried.wait()

    async def close(self) -> None:
        """End the process."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """What the tool answers. Raises `ServerError`."""
        client = self._client
        if client is None:
            raise ServerError(f"the MCP server {self.name} is not available: {self.error}")
        try:
            result = await client.call_tool(tool, arguments, read_timeout_seconds=_CALL_SECONDS)
        except (MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError, RuntimeError) as error:
            self._broken.set()
            raise ServerError(f"the MCP server {self.name} failed: {error}") from error
        if result.is_error:
            texts = (getattr(block, "text", "") for block in result.content)
            raise ServerError(" ".join(filter(None, texts)) or "the tool failed")
        return result.structured_content

    async def _run(self) -> None:
        # PYTHONPATH is not among what the SDK hands on
        environment = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "liftbay_demo.mcp_server", self.name], env=environment
        )
        while True:
            try:
                async with Client(parameters, cache=None) as client:
                    await client.list_tools()
                    self._broken.clear()
                    self._client, self.error = client, None
                    self._tried.set()
                    await self._broken.wait()
                    self._client, self.error = None, "the connection broke"
            except Exception as error:  # whatever keeps it from running, the agent goes on without it
                self.error = str(error) or type(error).__name__
                _log.warning("MCP server %s: %s", self.name, self.error)
            finally:
                self._client = None
                self._tried.set()
            await asyncio.sleep(_AGAIN_SECONDS)
