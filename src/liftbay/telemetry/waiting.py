"""Waiting for what may come any moment, without looking again and again."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import suppress


class Waiting:
    """Lasts until a time by `time.monotonic` that changes as things happen; `due` says which, as it stands now."""

    def __init__(self, due: Callable[[], float]) -> None:
        self._due = due
        self._loop = asyncio.get_running_loop()
        self._over = self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._set_for = math.inf

    async def until_over(self) -> None:
        """Return when the time has come."""
        try:
            self._look()
            await self._over
        finally:
            if self._timer is not None:
                self._timer.cancel()

    def look(self) -> None:
        """Something happened; may be called from any thread."""
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._look)

    def end(self) -> None:
        """The time has come."""
        if not self._over.done():
            self._over.set_result(None)

    def _look(self) -> None:
        if self._over.done():
            return
        due, now = self._due(), time.monotonic()
        if due <= now:
            self.end()
        elif due < self._set_for:  # a timer that is set for earlier looks again
            if self._timer is not None:
                self._timer.cancel()
            self._set_for = due
            self._timer = self._loop.call_later(due - now, self._ring)

    def _ring(self) -> None:
        self._set_for = math.inf
        self._look()
