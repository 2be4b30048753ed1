"""An HTTP agent that exports 50 spans for each request it answers, once it has answered.

    python bench/trace_agent.py [--delay SECONDS]

It serves `POST /` on a free port of 127.0.0.1 and prints `listening on ADDRESS`. The answer is `{"text": …}`, after
the delay. Where a request bears `traceparent` and `x-otlp-endpoint`, the spans go there: protobuf, gzip.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import signal

import aiohttp
import uvloop
from aiohttp import web

from trace_spans import Turns

HEADERS = {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
ANSWER = {"text": "札幌駅の近くでWi-Fiが使えるホテルは3軒あります。"}


class TracedAgent:
    """Answers, then exports."""

    def __init__(self, client: aiohttp.ClientSession, delay: float) -> None:
        self._client = client
        self._delay = delay
        self._turns = Turns()
        self._exporting: set[asyncio.Task[None]] = set()

    async def answer(self, request: web.Request) -> web.Response:
        """Answer a request."""
        await request.read()
        await asyncio.sleep(self._delay)
        traceparent, endpoint = request.headers.get("traceparent"), request.headers.get("x-otlp-endpoint")
        if traceparent and endpoint:
            task = asyncio.get_running_loop().create_task(self._export(traceparent, endpoint))
            self._exporting.add(task)
            task.add_done_callback(self._exporting.discard)
        return web.json_response(ANSWER)

    async def _export(self, traceparent: str, endpoint: str) -> None:
        body = gzip.compress(self._turns.request(traceparent), 6)
        async with self._client.post(endpoint, data=body, headers=HEADERS) as response:
            await response.read()
            response.raise_for_status()


async def serve(delay: float) -> None:
    """Serve until the process is told to end."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=16)) as client:
        app = web.Application()
        app.router.add_post("/", TracedAgent(client, delay).answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        print(f"listening on http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
        await stop.wait()
        await runner.cleanup()


def main() -> None:
    """Start the agent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        uvloop.run(serve(options.delay))


if __name__ == "__main__":
    main()
