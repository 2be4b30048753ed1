"""One MCP server on standard input and output."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from typing import Any

import anyio
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from liftbay_demo import __version__
from liftbay_demo.mcp_server import listing, operations, product
from liftbay_demo.mcp_server.answers import Answer, Refusal
from liftbay_demo.mcp_server.arguments import check
from liftbay_demo.places import TOOLS

_TOOLS: dict[str, Callable[[dict[str, Any]], Answer]] = {
    "query_product": product.query_product,
    "query_stock": product.query_stock,
    "query_tags": product.query_tags,
    "query_change_log": product.query_change_log,
    "query_trace": operations.query_trace,
    "lookup_error_code": operations.lookup_error_code,
    "check_listing": listing.check_listing,
}


def main(arguments: list[str]) -> int:
    """Serve the tools of the server that is named until the standard input ends."""
    definitions = json.loads(TOOLS.read_text(encoding="utf-8"))
    served = {one["function"]["name"]: one["function"] for one in definitions if [one["server"]] == arguments}
    if not served:
        sys.stderr.write("usage: python -m liftbay_demo.mcp_server product|operations\n")
        return 2
    # whoever started this process ends it by closing its input; a Ctrl-C in the terminal is for that one
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    anyio.run(_serve, arguments[0], served)
    return 0


async def _serve(name: str, served: dict[str, dict[str, Any]]) -> None:
    async def list_tools(
        context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(name=one["name"], description=one["description"], input_schema=one["parameters"])
                for one in served.values()
            ]
        )

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if params.name not in served:
            text = types.TextContent(type="text", text=f"unknown tool: {params.name}")
            return types.CallToolResult(content=[text], is_error=True)
        answer = _answer(params.name, params.arguments or {}, served[params.name]["parameters"])
        text = types.TextContent(type="text", text=json.dumps(answer, ensure_ascii=False))
        return types.CallToolResult(content=[text], structured_content=answer)

    server = Server(name, version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _answer(tool: str, arguments: dict[str, Any], parameters: dict[str, Any]) -> Answer:
    try:
        check(arguments, parameters)
        return _TOOLS[tool](arguments)
    except Refusal as refusal:
        return refusal.answer


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
