"""A real MCP server for tests, with the official SDK: over stdio, or over streamable HTTP on the port that is given."""

from __future__ import annotations

import asyncio
import os
import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("hotels")


@server.tool()
async def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def price(hotel: str) -> str:
    """The price of a night in a hotel, in yen."""
    return f"{hotel}: 12,300 円"


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("no room")


@server.tool()
def die() -> str:
    """Ends the server's process."""
    os._exit(3)


@server.tool()
async def wait(seconds: float) -> str:
    """Answers late."""
    await asyncio.sleep(seconds)
    return f"waited {seconds}"


@server.tool()
def variable(name: str) -> str:
    """The value of an environment variable."""
    return os.environ.get(name, "(unset)")


@server.tool()
def long(length: int) -> str:
    """A long text."""
    return "x" * length


if __name__ == "__main__":
    print("some noise", file=sys.stderr, flush=True)
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
