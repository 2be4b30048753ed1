"""An OpenAI-compatible endpoint that calls each tool it is offered once, in their order, and then answers.

The tokens that it reports are of round numbers, so that a test can add them up in its head.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

ARGUMENTS = {
    "find_hotels": {"city": "京都", "nights": 2},
    "ask_guide": {"input": "How is the weather?"},
    "weather": {"city": "京都"},
    "reserve": {"hotel": "京都 Inn"},
}
ANSWER = "京都 Inn is free."
INPUT, CACHED, OUTPUT, REASONING = 100, 64, 20, 8  # tokens of each call; the cached and the thought are inside


def reply(request: dict[str, Any]) -> dict[str, Any]:
    """The message that comes next."""
    tools = [one["function"]["name"] for one in request.get("tools", [])]
    called = sum(len(one.get("tool_calls") or []) for one in request["messages"])
    if called >= len(tools):
        return {"role": "assistant", "content": ANSWER}
    name = tools[called]
    function = {"name": name, "arguments": json.dumps(ARGUMENTS[name], ensure_ascii=False)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{called}", "type": "function", "function": function}],
    }


def usage() -> dict[str, Any]:
    """Tokens of any call."""
    return {
        "prompt_tokens": INPUT,
        "completion_tokens": OUTPUT,
        "total_tokens": INPUT + OUTPUT,
        "prompt_tokens_details": {"cached_tokens": CACHED},
        "completion_tokens_details": {"reasoning_tokens": REASONING},
    }


class Endpoint:
    """Numbers its answers."""

    def __init__(self) -> None:
        self._answers = 0

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """One completion, whole or streamed."""
        asked = await request.json()
        self._answers += 1
        message = reply(asked)
        head = {"id": f"answer-{self._answers}", "created": 1_700_000_000, "model": f"{asked['model']}-2026"}
        end = "tool_calls" if "tool_calls" in message else "stop"
        if not asked.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": end}
            return web.json_response({**head, "object": "chat.completion", "choices": [choice], "usage": usage()})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for delta, reason in pieces(message, end):
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            await send(response, {**head, "object": "chat.completion.chunk", "choices": [choice]})
        if asked.get("stream_options", {}).get("include_usage"):
            await send(response, {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage()})
        await response.write(b"data: [DONE]\n\n")
        return response

    async def embeddings(self, request: web.Request) -> web.Response:
        """One vector."""
        data = [{"object": "embedding", "index": 0, "embedding": [0.5, 0.5]}]
        tokens = {"prompt_tokens": 7, "total_tokens": 7}
        return web.json_response({"object": "list", "model": "embedder", "data": data, "usage": tokens})


def pieces(message: dict[str, Any], end: str) -> Iterator[tuple[dict[str, Any], str | None]]:
    """The deltas of a streamed message."""
    yield {"role": "assistant", "content": ""}, None
    for index, call in enumerate(message.get("tool_calls", [])):
        text = call["function"]["arguments"]
        yield {"tool_calls": [{**call, "index": index, "function": {**call["function"], "arguments": ""}}]}, None
        for part in (text[:5], text[5:]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}, None
    for word in (message["content"] or "").split():
        yield {"content": f"{word} "}, None
    yield {}, end


async def send(response: web.StreamResponse, chunk: dict[str, Any]) -> None:
    """One server-sent event."""
    await response.write(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode())


@contextmanager
def serving() -> Iterator[str]:
    """The address of an endpoint that runs in a thread meanwhile."""
    loop = asyncio.new_event_loop()
    endpoint = Endpoint()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", endpoint.chat)
    app.router.add_post("/v1/embeddings", endpoint.embeddings)
    runner = web.AppRunner(app)

    async def start() -> int:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return int(runner.addresses[0][1])

    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        port = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
