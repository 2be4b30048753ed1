"""Serves an ASGI application on a free port of this computer, in the event loop that runs."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn

_STOPPING = 1  # seconds that requests on their way have


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to whoever runs the loop."""
        yield


class AsgiServer:
    """One application, served from `start` to `close`."""

    def __init__(self, application: Any) -> None:
        self._application = application
        self._server: _Server | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> str:
        """Listen on a free port of 127.0.0.1; the address without a path."""
        # Only with the protocol named does asyncio send at once (TCP_NODELAY): else each answer takes 40 ms more.
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            self._application,
            log_config=None,
            log_level="error",
            access_log=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=_STOPPING,
        )
        self._server = _Server(config)
        self._task = asyncio.create_task(self._server.serve(sockets=[listening]))
        while not self._server.started:
            if self._task.done():
                self._task.result()
            await asyncio.sleep(0.005)
        return f"http://127.0.0.1:{listening.getsockname()[1]}"

    async def close(self) -> None:
        """Answer no more."""
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            await self._task
            self._server = self._task = None
