"""The MCP servers of an agent file: their secrets, and their tools as tools of the agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from liftbay.agents.chat_tools import Tool, ToolFailed
from liftbay.agents.secrets import Secrets
from liftbay.agents.templates import ENVIRONMENT, template
from liftbay.errors import AgentError, InputError, at
from liftbay.transport.mcp_connection import McpCommand, McpConnection, McpUrl

if TYPE_CHECKING:
    import mcp_types


class McpServer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An MCP server; exactly one of `command` and `url` is given."""

    name: str
    command: Annotated[list[str], msgspec.Meta(min_length=1)] | None = None  # runs in the agent file's folder
    url: str | None = None
    env: list[str] = []  # names of environment variables that the process gets
    headers: dict[str, str] = {}  # may hold {env:NAME}


class McpTools:
    """The tools of one server; no error holds a secret."""

    def __init__(self, server: McpServer, folder: Path, secrets: Secrets) -> None:
        """Raises `InputError` where the server is not described as it must be."""
        self.name = server.name
        self._secrets = secrets
        self._place = at("tools.mcp", None, server.name)
        self._connection = McpConnection(self._address(server, folder), place=self._place)

    async def tools(self) -> list[Tool]:
        """Connect, and list the tools. Raises `AgentError` where that cannot be."""
        try:
            listed = await self._connection.tools()
        except AgentError as error:
            raise AgentError("{why}", place=self._place, why=self._secrets.hide(str(error))) from None
        return [self._tool(tool) for tool in listed]

    async def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """What the tool answers. Raises `ToolFailed` where it fails, or the server is lost."""
        from mcp import MCPError  # noqa: PLC0415 - an extra
        from mcp_types import TextContent  # noqa: PLC0415

        try:
            result = await self._connection.call(name, arguments)
        except MCPError as error:
            why = self._secrets.hide(error.message)
            raise ToolFailed(f"the MCP server {self.name} answers with an error: {why}") from None
        except AgentError as error:
            raise ToolFailed(f"{self.name}: {self._secrets.hide(str(error))}") from None
        texts = [block.text if isinstance(block, TextContent) else f"[{block.type}]" for block in result.content]
        if result.is_error:
            raise ToolFailed("\n".join(texts))
        return "\n".join(texts) if texts else result.structured_content

    async def close(self) -> None:
        """Disconnect; a process is stopped."""
        await self._connection.close()

    def _address(self, server: McpServer, folder: Path) -> McpCommand | McpUrl:
        environment = {name: self._secrets.take(name, self._place) for name in server.env}
        headers = {name: self._filled(name, text) for name, text in server.headers.items()}
        match server:
            case McpServer(command=list() as command, url=None):
                return McpCommand(command, environment, folder)
            case McpServer(command=None, url=str() as url):
                return McpUrl(url, headers)
        raise InputError("a server needs either command or url", place=self._place)

    def _filled(self, name: str, text: str) -> str:
        parts = template(text, {ENVIRONMENT}, self._place, f"headers.{name}")
        taken = {one: self._secrets.take(one.removeprefix(ENVIRONMENT), self._place) for one in parts.names}
        return parts.text(taken)

    def _tool(self, tool: mcp_types.Tool) -> Tool:
        definition = {"name": tool.name, "description": tool.description or "", "parameters": tool.input_schema}

        async def call(arguments: dict[str, Any]) -> Any:
            return await self.call(tool.name, arguments)

        return Tool({"type": "function", "function": definition}, self._place, call)
