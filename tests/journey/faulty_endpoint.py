"""An OpenAI-compatible endpoint that fails in every way a real one does, and keeps count of what it was asked.

    python tests/journey/faulty_endpoint.py [--seed N | --outcomes NAME,NAME,...] [--delay SECONDS]
                                            [--retry-after SECONDS] [--hold-after N]

It serves on a free port of 127.0.0.1 and prints `listening on ADDRESS`. A request is recognised by the first
`record:ID` in it. What happens to the n-th request for a record is drawn from seed, id and n; with `--outcomes` it
is the n-th of these, and the last from then on. `--hold-after N` lets every request after the N-th wait until
`GET /release`. `GET /counts` gives, as JSON:

- `asked`: for each id the times, in seconds, at which its requests had arrived
- `answered`: for each id how many whole answers with status 200, right or wrong, were written to its connection
- `in_flight`: the ids of the last requests of all connections that the client has not closed. The client came back
  on the same connection for none of them, so it may or may not have taken the answer
- `outcomes`: how often each outcome was chosen
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import re
import signal
import socket
import struct
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

HOST = "127.0.0.1"
MARK = re.compile(rb"record:([\w-]+)")
REASONS = {200: "OK", 400: "Bad Request", 429: "Too Many Requests", 500: "Server Error", 503: "Service Unavailable"}

# What may happen to a request, with its weight where it is drawn.
WEIGHTS = {
    "right": 60,
    "hang": 2,
    "reset": 5,
    "half": 5,
    "slow_down": 5,
    "server_error": 5,
    "unavailable": 4,
    "cut_json": 4,
    "not_json": 4,
    "wrong_types": 4,
    "bad_arguments": 4,
    "bad_request": 0,
}
STATUS = {"slow_down": 429, "server_error": 500, "unavailable": 503, "bad_request": 400}
WRONG_TYPES = (
    "[]",
    '{"choices": 1}',
    '{"choices": []}',
    '{"choices": [{"message": "text"}]}',
    '{"choices": [{"message": {"tool_calls": "none"}}]}',
    '{"choices": [{"message": {"tool_calls": [{"function": {"name": 7, "arguments": "{}"}}]}}]}',
)
BAD_ARGUMENTS = ("[1, 2]", "null", "7", '"text"', '{"place": ')


def completion(arguments: str) -> str:
    """The JSON text of an answer with one tool call."""
    call = {"id": "call_0", "type": "function", "function": {"name": "find", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})


def right_answer(id_: str) -> str:
    """The JSON text of the right answer."""
    return completion(json.dumps({"place": id_}))


def http(status: int, body: str, extra: str = "") -> bytes:
    """A whole HTTP answer."""
    content = body.encode()
    head = f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: application/json\r\n{extra}"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


class Plan:
    """What happens to which request."""

    def __init__(self, seed: int, outcomes: Sequence[str], delay: float, retry_after: int) -> None:
        self._seed = seed
        self._outcomes = outcomes
        self._delay = delay
        self.retry_after = retry_after

    def chance(self, id_: str, number: int) -> random.Random:
        """The source of everything that is drawn for the `number`-th request for a record."""
        return random.Random(f"{self._seed} {id_} {number}")

    def outcome(self, id_: str, number: int) -> str:
        """What happens to it, by name."""
        if self._outcomes:
            return self._outcomes[min(number, len(self._outcomes)) - 1]
        return self.chance(id_, number).choices(list(WEIGHTS), list(WEIGHTS.values()))[0]

    def delay(self, id_: str, number: int) -> float:
        """Seconds before the answer."""
        return self._delay * self.chance(id_, number).uniform(0.5, 1.5)

    def answer(self, outcome: str, id_: str, number: int) -> bytes:
        """The HTTP answer of an outcome that answers at all."""
        if outcome in STATUS:
            wait = f"Retry-After: {self.retry_after}\r\n" if outcome == "slow_down" else ""
            return http(STATUS[outcome], json.dumps({"error": {"message": outcome}}), wait)
        right = right_answer(id_)
        chance = self.chance(id_, number)
        bodies = {
            "cut_json": right[: chance.randrange(1, len(right))],
            "not_json": "<html>Bad gateway</html>",
            "wrong_types": chance.choice(WRONG_TYPES),
            "bad_arguments": completion(chance.choice(BAD_ARGUMENTS)),
        }
        return http(200, bodies.get(outcome, right))


class Connection:
    """One client's connection, and the record that it asked for last."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.record: str | None = None

    @property
    def gone(self) -> bool:
        """Whether the client closed it."""
        return self._reader.at_eof() or self._writer.is_closing()

    async def request(self) -> tuple[str, bytes] | None:
        """The next request, its first line and its body; None at the end."""
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            body = await self._reader.readexactly(int(length[1]) if length else 0)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        return head.split(b"\r\n", 1)[0].decode(), body

    async def send(self, answer: bytes) -> bool:
        """Write an answer; False where the client is gone."""
        if self.gone:
            return False
        self._writer.write(answer)
        try:
            await self._writer.drain()
        except ConnectionError:
            return False
        return True

    async def wait_until_gone(self) -> None:
        """Answer nothing until the client gives up."""
        with contextlib.suppress(ConnectionError):
            await self._reader.read(1)

    def reset(self) -> None:
        """Close so that the client gets an RST."""
        linger_not = struct.pack("ii", 1, 0)
        self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_not)
        self._writer.transport.abort()

    def close(self) -> None:
        """Close in the ordinary way."""
        self._writer.close()


class Endpoint:
    """The server's state."""

    def __init__(self, plan: Plan, hold_after: int | None) -> None:
        self._plan = plan
        self._hold_after = hold_after
        self._released = asyncio.Event()
        self._requests = 0
        self._connections: set[Connection] = set()
        self._asked: dict[str, list[float]] = defaultdict(list)
        self._answered: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to its end."""
        connection = Connection(reader, writer)
        self._connections.add(connection)
        try:
            while not connection.gone and (request := await connection.request()):
                await self._answer(connection, *request)
        finally:
            self._connections.remove(connection)
            connection.close()

    async def _answer(self, connection: Connection, line: str, body: bytes) -> None:
        if line.startswith("GET /counts"):
            await connection.send(http(200, json.dumps(self._counts())))
        elif line.startswith("GET /release"):
            self._released.set()
            await connection.send(http(200, "{}"))
        elif line.startswith("GET /v1/models"):
            await connection.send(http(200, '{"data": [{"id": "faulty"}]}'))
        else:
            await self._chat(connection, body)

    def _counts(self) -> dict[str, Any]:
        in_flight = [one.record for one in self._connections if one.record is not None and not one.gone]
        return {
            "asked": self._asked,
            "answered": self._answered,
            "in_flight": in_flight,
            "outcomes": self._outcomes,
        }

    async def _chat(self, connection: Connection, body: bytes) -> None:
        mark = MARK.search(body)
        if mark is None:
            await connection.send(http(400, '{"error": {"message": "no record: mark"}}'))
            return
        id_ = mark[1].decode()
        connection.record = id_
        self._asked[id_].append(time.monotonic())
        number = len(self._asked[id_])
        self._requests += 1
        if self._hold_after is not None and self._requests > self._hold_after:
            await self._released.wait()
        await asyncio.sleep(self._plan.delay(id_, number))
        await self._do(self._plan.outcome(id_, number), connection, id_, number)

    async def _do(self, outcome: str, connection: Connection, id_: str, number: int) -> None:
        self._outcomes[outcome] += 1
        if outcome == "hang":
            await connection.wait_until_gone()
        elif outcome == "reset":
            connection.reset()
        elif outcome == "half":
            whole = self._plan.answer(outcome, id_, number)
            await connection.send(whole[: len(whole) - len(right_answer(id_)) // 2])
            connection.close()
        elif await connection.send(self._plan.answer(outcome, id_, number)) and outcome not in STATUS:
            self._answered[id_] += 1


async def run(options: argparse.Namespace) -> None:
    """Serve until the process is told to end."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    plan = Plan(options.seed, options.outcomes, options.delay, options.retry_after)
    server = await asyncio.start_server(Endpoint(plan, options.hold_after).serve, HOST, 0, limit=1 << 20)
    print(f"listening on http://{HOST}:{server.sockets[0].getsockname()[1]}", flush=True)
    await stop.wait()


def outcomes(text: str) -> list[str]:
    """The names of outcomes in `text`."""
    names = text.split(",")
    if unknown := set(names) - set(WEIGHTS):
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; known: {', '.join(WEIGHTS)}")
    return names


def main() -> None:
    """Start the endpoint."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn")
    parser.add_argument("--outcomes", type=outcomes, default=[], help="what happens to the requests for each record")
    parser.add_argument("--delay", type=float, default=0.0, help="mean seconds before each answer")
    parser.add_argument("--retry-after", type=int, default=1, help="seconds that a 429 asks to wait")
    parser.add_argument("--hold-after", type=int, help="requests after which the others wait for a release")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
