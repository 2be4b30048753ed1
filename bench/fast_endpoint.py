"""An OpenAI-compatible endpoint that does as little as it can: every chat request gets the same answer, one tool call.

    python bench/fast_endpoint.py [--delay SECONDS] [--digest]

It serves `POST /v1/chat/completions` on a free port of 127.0.0.1 and prints `listening on ADDRESS`. `GET /counts`
gives the number of chat requests and, with `--digest`, the sum of their digests, head and body.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import signal
from typing import cast

import uvloop

HOST = "127.0.0.1"
ARGUMENTS = {"city": "札幌", "station": "さっぽろ", "wifi": "有り"}
CALL = {"name": "search_hotel", "arguments": json.dumps(ARGUMENTS, ensure_ascii=False)}
MESSAGE = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_0", "type": "function", "function": CALL}],
}
COMPLETION = {
    "id": "chatcmpl-0",
    "object": "chat.completion",
    "created": 0,
    "model": "bench",
    "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}],
    "usage": {"prompt_tokens": 5000, "completion_tokens": 30, "total_tokens": 5030},
}
NAME_OF_LENGTH = b"\r\ncontent-length:"


def response(value: object) -> bytes:
    """A whole HTTP answer with a JSON body."""
    body = json.dumps(value, ensure_ascii=False).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Counts:
    """What all connections together were asked."""

    def __init__(self, *, digest: bool) -> None:
        self.requests = 0
        self._sum = 0
        self._digest = digest

    def take(self, request: bytes) -> None:
        """Count a chat request."""
        self.requests += 1
        if self._digest:
            self._sum += int.from_bytes(hashlib.sha256(request).digest())

    def answer(self) -> bytes:
        """The answer to `GET /counts`."""
        return response({"requests": self.requests, "digest": f"{self._sum:x}"})


class Connection(asyncio.Protocol):
    """One client's connection; a client sends its next request once it has the answer."""

    answer = response(COMPLETION)

    def __init__(self, counts: Counts, delay: float) -> None:
        self._counts = counts
        self._delay = delay
        self._pieces: list[bytes] = []
        self._missing = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own kind

    def data_received(self, data: bytes) -> None:
        if not self._pieces:
            self._missing = length_of(data)
        self._pieces.append(data)
        self._missing -= len(data)
        if self._missing <= 0:
            request = b"".join(self._pieces)
            self._pieces.clear()
            self._serve(request)

    def _serve(self, request: bytes) -> None:
        if request.startswith(b"GET /counts"):
            self._transport.write(self._counts.answer())
            return
        self._counts.take(request)
        if self._delay:
            asyncio.get_running_loop().call_later(self._delay, self._transport.write, self.answer)
        else:
            self._transport.write(self.answer)


def length_of(start: bytes) -> int:
    """The length of the request that begins with `start`, which holds the whole head."""
    head_length = start.index(b"\r\n\r\n") + 4
    head = start[:head_length].lower()
    at = head.find(NAME_OF_LENGTH)
    return head_length + (int(head[at + len(NAME_OF_LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0)


async def serve(delay: float, *, digest: bool) -> None:
    """Serve until the process is told to end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    counts = Counts(digest=digest)
    server = await loop.create_server(lambda: Connection(counts, delay), HOST, 0, backlog=1024)
    print(f"listening on http://{HOST}:{server.sockets[0].getsockname()[1]}", flush=True)
    await stop.wait()


def main() -> None:
    """Start the endpoint."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--digest", action="store_true", help="add the digests of the requests up")
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        uvloop.run(serve(options.delay, digest=options.digest))


if __name__ == "__main__":
    main()
