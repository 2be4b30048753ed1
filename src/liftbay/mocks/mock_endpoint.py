"""Mock data over HTTP, for agents in other processes: `POST /mock/{session_id}/{tool}`.

The body is `{"arguments": {...}}`, the answer `{"result": ...}` or `{"error": "..."}` as the mock data says. What is
not a mock's answer has a status of its own: 400 the body is wrong, 404 no mock answers the call, 409 the case runs
for real, 410 no such trial is open.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from aiohttp import web

from liftbay.mocks.interceptor import ENDED, MockTools


class _Call(msgspec.Struct):
    """The body of a request."""

    arguments: dict[str, Any] = {}


_CALLS = msgspec.json.Decoder(_Call)


def routes(tools: MockTools) -> list[web.RouteDef]:
    """The routes of the mock endpoint."""

    async def answer(request: web.Request) -> web.Response:
        body = await request.read()  # from here to the answer nothing waits, so that the trial cannot end meanwhile
        trial = tools.of_session(request.match_info["session_id"])
        if trial is None:
            tools.refuse()
            return _said(410, error=ENDED)
        try:
            call = _CALLS.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return _said(400, error=f'the body is not {{"arguments": {{...}}}}: {error}')
        found = trial.answer(request.match_info["tool"], call.arguments)
        if found is None:
            return _said(409, error="this case runs for real")
        if found.unmocked:
            return _said(404, error=found.error)
        await asyncio.sleep(found.latency_ms / 1000)
        return _said(200, result=found.result) if found.error is None else _said(200, error=found.error)

    return [web.post("/mock/{session_id}/{tool}", answer)]


def _said(status: int, **body: Any) -> web.Response:
    return web.Response(status=status, body=msgspec.json.encode(body), content_type="application/json")
