"""Makes tool calls: at the MCP servers, or at a gateway that stands for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aiohttp
import msgspec

from liftbay_demo.domain import Outcome, ToolCall
from liftbay_demo.tools.catalogue import Tool
from liftbay_demo.tools.servers import McpServer, ServerError

_OK = 200
_GATEWAY_SECONDS = 30.0


class ToolCalling:
    """Calls a tool where it is served."""

    def __init__(self, catalogue: Mapping[str, Tool], servers: Mapping[str, McpServer]) -> None:
        self._catalogue = catalogue
        self._servers = servers
        self._http: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Get ready for calls."""
        timeout = aiohttp.ClientTimeout(total=_GATEWAY_SECONDS)
        self._http = aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=256))

    async def close(self) -> None:
        """Close the connections to gateways."""
        if self._http is not None:
            await self._http.close()

    async def call(self, call: ToolCall, gateway: str | None) -> Outcome:
        """Make the call. Whatever goes wrong is in the outcome."""
        try:
            if gateway is not None:
                return Outcome(call, await self._through(gateway, call))
            tool = self._catalogue.get(call.name)
            if tool is None:
                return Outcome(call, error=f"unknown tool: {call.name}")
            return Outcome(call, await self._servers[tool.server].call(call.name, call.arguments))
        except (ServerError, aiohttp.ClientError, TimeoutError, ValueError) as error:
            return Outcome(call, error=str(error) or type(error).__name__)

    async def _through(self, gateway: str, call: ToolCall) -> Any:
        if self._http is None:
            raise ServerError("the agent is not running")
        address = f"{gateway.rstrip('/')}/{call.name}"
        async with self._http.post(address, json={"arguments": call.arguments}) as response:
            body = await response.read()
        if response.status != _OK:
            raise ServerError(_error_in(body) or f"the gateway answered {response.status}")
        answer = msgspec.json.decode(body)
        if not isinstance(answer, dict) or not {"result", "error"} & answer.keys():
            raise ServerError("the gateway's answer holds neither a result nor an error")
        if answer.get("error") is not None:
            raise ServerError(str(answer["error"]))
        return answer.get("result")


def _error_in(body: bytes) -> str:
    try:
        answer = msgspec.json.decode(body)
    except ValueError:
        return body.decode("utf-8", "replace")[:500].strip()
    return str(answer["error"]) if isinstance(answer, dict) and answer.get("error") else body.decode()[:500]
