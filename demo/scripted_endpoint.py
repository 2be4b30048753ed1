"""A scripted OpenAI-compatible endpoint: there is no model behind it.

It lets the JMultiWOZ-TC benchmark run end to end on the small dataset beside this file, with no download, no
key and no GPU. Each answer is looked up in `dataset/answers.jsonl`. Many are wrong on purpose, each in a
known way, so the scores say nothing about any real model.

    python demo/scripted_endpoint.py [--port 8017] [--delay-ms 0] [--dataset FOLDER]

It serves `GET /v1/models` and `POST /v1/chat/completions` on 127.0.0.1. One record (`slow_down`) is first
refused with 429, one (`server_error`) with 500; both are answered rightly from the second request on, until
the endpoint is started again. Stop it with Ctrl-C.

In a test: `async with serve() as base_url: ...`, or `build_app(DATASET)` with aiohttp's own test client.
"""

import argparse
import asyncio
import contextlib
import json
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from aiohttp import web

HOST = "127.0.0.1"
MODEL = "demo/scripted-model"
DATASET = Path(__file__).resolve().parent / "dataset"
NO_CALL_CONTENT = "承知しました。ほかにご用件はございますか。"

Json = dict[str, Any]
T = TypeVar("T")


class Message(msgspec.Struct, frozen=True):
    role: str
    content: str | None = None


class InputRecord(msgspec.Struct):
    data_id: str
    question: list[Message]


class ToolCall(msgspec.Struct):
    name: str
    arguments: Json


class Answer(msgspec.Struct):
    """One line of answers.jsonl. `raw_arguments` is sent as it stands, in a call of `name`."""

    data_id: str
    fault: str | None
    tool_calls: list[ToolCall] = []
    name: str | None = None
    raw_arguments: str | None = None

    def calls(self) -> list[tuple[str, str]]:
        """Give the tool calls as (name, arguments as JSON text)."""
        if self.name is not None and self.raw_arguments is not None:
            return [(self.name, self.raw_arguments)]
        return [(call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in self.tool_calls]


class ChatRequest(msgspec.Struct):
    messages: list[Message]
    stream: bool = False


class Script:
    """The answers, found by the messages of a request."""

    def __init__(self, dataset: Path) -> None:
        answers = {a.data_id: a for a in _read_lines(dataset / "answers.jsonl", Answer)}
        records = _read_lines(dataset / "jmultiwoz_tc_input.jsonl", InputRecord)
        self._by_messages = {tuple(record.question): answers[record.data_id] for record in records}
        self._refused: set[str] = set()

    def find(self, messages: Sequence[Message]) -> Answer | None:
        return self._by_messages.get(tuple(messages))

    def refusal(self, answer: Answer) -> web.Response | None:
        """Give the error that the first request for this answer gets, if any."""
        if answer.data_id in self._refused:
            return None
        if answer.fault == "slow_down":
            self._refused.add(answer.data_id)
            return _error(429, "rate_limit_error", "Too many requests (scripted).", {"Retry-After": "1"})
        if answer.fault == "server_error":
            self._refused.add(answer.data_id)
            return _error(500, "server_error", "Internal error (scripted).")
        return None


def build_app(dataset: Path = DATASET, *, delay_ms: int = 0) -> web.Application:
    """Build the endpoint. Each application built refuses `slow_down` and `server_error` once."""
    script = Script(dataset)

    async def models(_: web.Request) -> web.Response:
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "demo"}
        return _json({"object": "list", "data": [model]})

    async def chat(request: web.Request) -> web.Response:
        try:
            body = msgspec.json.decode(await request.read(), type=ChatRequest)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return _error(400, "invalid_request_error", f"Cannot read the request: {error}.")
        if body.stream:
            return _error(400, "invalid_request_error", "Streaming is not scripted; leave `stream` out.")
        if delay_ms:
            await asyncio.sleep(delay_ms / 1000)
        answer = script.find(body.messages)
        if answer is None:
            message = "No scripted answer for these messages: they must equal a record's `question`."
            return _error(404, "not_found_error", message)
        return script.refusal(answer) or _json(_completion(answer, body.messages))

    app = web.Application()
    app.router.add_get("/v1/models", models)
    app.router.add_post("/v1/chat/completions", chat)
    return app


@contextlib.asynccontextmanager
async def serve(dataset: Path = DATASET, *, port: int = 0, delay_ms: int = 0) -> AsyncIterator[str]:
    """Run the endpoint inside the current event loop; gives its base URL. Port 0 takes any free one."""
    runner = web.AppRunner(build_app(dataset, delay_ms=delay_ms), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port).start()
        yield f"http://{HOST}:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def _completion(answer: Answer, messages: Sequence[Message]) -> Json:
    """Build a chat completion. Its usage counts characters: without a model there are no tokens."""
    calls = answer.calls()
    message: Json = {"role": "assistant", "content": None if calls else NO_CALL_CONTENT}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{answer.data_id}_{number}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for number, (name, arguments) in enumerate(calls)
        ]
    sent = sum(len(m.content or "") for m in messages)
    answered = sum(len(name) + len(arguments) for name, arguments in calls) or len(NO_CALL_CONTENT)
    return {
        "id": f"chatcmpl-{answer.data_id}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": sent, "completion_tokens": answered, "total_tokens": sent + answered},
    }


def _json(body: Json, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    text = json.dumps(body, ensure_ascii=False)
    return web.Response(text=text, status=status, headers=headers, content_type="application/json")


def _error(status: int, kind: str, message: str, headers: dict[str, str] | None = None) -> web.Response:
    body = {"error": {"message": message, "type": kind, "param": None, "code": None}}
    return _json(body, status, headers)


def _read_lines(path: Path, kind: type[T]) -> list[T]:
    return msgspec.json.Decoder(kind).decode_lines(path.read_bytes())


async def _run(dataset: Path, port: int, delay_ms: int) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers on its loop
            loop.add_signal_handler(number, stop.set)
    async with serve(dataset, port=port, delay_ms=delay_ms) as base_url:
        print(f"listening on {base_url} (scripted answers: there is no model behind it)", flush=True)
        await stop.wait()


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="A scripted OpenAI-compatible endpoint: no model.")
    parser.add_argument("--port", type=int, default=8017, help="port on 127.0.0.1; 0 takes any free one")
    parser.add_argument("--delay-ms", type=int, default=0, help="wait so long before each answer")
    parser.add_argument("--dataset", type=Path, default=DATASET, help="folder with input and answers")
    options = parser.parse_args(argv)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_run(options.dataset, options.port, options.delay_ms))
    except (OSError, msgspec.DecodeError) as error:
        sys.exit(f"scripted_endpoint: {error}")


if __name__ == "__main__":
    main()
