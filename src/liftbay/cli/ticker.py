"""Shows how far long work is: a bar on a terminal, else a plain line every few seconds, both on standard error."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BETWEEN_FRAMES = 0.2


class Ticker:
    """Shows `state()` while work goes on; `done()` of `total` fills the bar."""

    def __init__(self, state: Callable[[], str], done: Callable[[], int], total: int) -> None:
        self._state = state
        self._done = done
        self._total = total
        self._bar: Any = None
        self._period = _SECONDS_BETWEEN_LINES

    def start(self) -> None:
        """Begin; must be called in the event loop."""
        if sys.stderr.isatty():
            self._open_bar()
        self._ticking = asyncio.get_running_loop().create_task(self._tick())

    def stop(self) -> None:
        """Show the last state and end."""
        self._ticking.cancel()
        self._show()
        if self._bar is not None:
            self._bar.stop()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self._period)
            self._show()

    def _open_bar(self) -> None:
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415

        self._period = _SECONDS_BETWEEN_FRAMES
        self._bar = Progress(
            BarColumn(bar_width=24),
            TextColumn("{task.fields[state]}", markup=False),
            console=Console(stderr=True),
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=self._total, state=self._state())
        self._bar.start()

    def _show(self) -> None:
        if self._bar is None:
            say_progress(self._state())
        else:
            self._bar.update(self._task, completed=self._done(), state=self._state(), refresh=True)


def say_progress(text: str) -> None:
    """Write a line about progress."""
    print(f"liftbay: {text}", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """Seconds as people read them: 3:05, 1:02:03."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours}:{minutes:02}:{whole % 60:02}"
    return f"{minutes}:{whole % 60:02}"
