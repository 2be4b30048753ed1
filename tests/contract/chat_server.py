"""A chat endpoint that answers as the test says, and notes what it was asked."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """The address of a server that answers every request with `handler`; it ends in /v1."""

    async def handle(request: web.Request) -> web.StreamResponse:
        return await handler(request)

    app = web.Application(client_max_size=1 << 30)
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        await runner.cleanup()


class ScriptedChat:
    """Gives its answers in turn, the last again and again; an answer is a body, or a handler."""

    def __init__(self, *answers: bytes | dict[str, Any] | Handler) -> None:
        self._answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        self.asked.append(await request.json())
        self.headers.append(dict(request.headers))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, bytes):
            return web.Response(body=answer, content_type="text/event-stream")
        if isinstance(answer, dict):
            return web.json_response(answer)
        return await answer(request)


def sse(*chunks: Any, done: bool = True) -> bytes:
    """A stream of chunks, as JSON where they are no text."""
    texts = [chunk if isinstance(chunk, str) else json.dumps(chunk, ensure_ascii=False) for chunk in chunks]
    return "".join(f"data: {text}\n\n" for text in [*texts, *(["[DONE]"] if done else [])]).encode()


def delta(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """A chunk with one delta."""
    return {"model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def usage(input_tokens: int, output_tokens: int) -> dict[str, Any]:
    """The last chunk, with the tokens."""
    return {"model": "m-1", "choices": [], "usage": {"prompt_tokens": input_tokens, "completion_tokens": output_tokens}}


def saying(text: str, tokens: tuple[int, int] = (10, 5)) -> bytes:
    """A stream that says `text`, a character at a time."""
    return sse(delta(role="assistant", content=""), *(delta(content=c) for c in text), delta("stop"), usage(*tokens))


def calling(*calls: tuple[str, str], text: str = "", tokens: tuple[int, int] = (10, 5)) -> bytes:
    """A stream that asks for calls: names with arguments as JSON text."""
    chunks = [
        delta(tool_calls=[{"index": i, "id": f"c{i}", "function": {"name": name, "arguments": arguments}}])
        for i, (name, arguments) in enumerate(calls)
    ]
    return sse(delta(role="assistant", content=text or None), *chunks, delta("tool_calls"), usage(*tokens))
