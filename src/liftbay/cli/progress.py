"""Progress of the generator: a bar on a terminal, else a plain line every few seconds, both on standard error."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

from liftbay.benchmarks.jmultiwoz_tc.generate import Progress
from liftbay.benchmarks.jmultiwoz_tc.generation import Observer, Summary
from liftbay.cli.messages import say
from liftbay.language import tr

_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BETWEEN_FRAMES = 0.2


def progress_display() -> Observer:
    """The display that fits standard error."""
    return _Bar() if sys.stderr.isatty() else _Lines()


class _Lines:
    """Plain lines, for logs."""

    period = _SECONDS_BETWEEN_LINES

    def setting_changed(self, name: str, before: object, now: object) -> None:
        _say(
            tr(
                "warning: {name} is now {now}, but the answers in the result file were made with {before}",
                name=name,
                before=_value(before),
                now=_value(now),
            )
        )

    def errors_dropped(self, count: int) -> None:
        _say(tr("{count} error records taken out of the result file, to be asked again", count=count))

    def started(self, model: str, result: Path, skipped: int, progress: Progress) -> None:
        self._progress = progress
        self._begun = time.monotonic()
        if skipped:
            _say(tr("{count} records are in {path} already and are skipped", count=skipped, path=result))
        if progress.total:
            _say(tr("asking {model} for {count} records", model=model, count=progress.total))
            self.begin()
            self._ticker = asyncio.get_running_loop().create_task(self._tick())

    def stopped(self, summary: Summary) -> None:
        if self._progress.total:
            self._ticker.cancel()
            self.show()
            self.end()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self.period)
            self.show()

    def state(self) -> str:
        """How far it is, in words; while nothing has come, why not."""
        trouble = self._progress.last_trouble
        waiting = f" ({say(trouble)})" if trouble is not None and not self._progress.done else ""
        return self._counts() + waiting

    def _counts(self) -> str:
        progress = self._progress
        seconds = max(time.monotonic() - self._begun, 1e-9)
        rate = progress.done / seconds
        left = _duration((progress.total - progress.done) / rate) if rate else "?"
        return tr(
            "{done} of {total} ({percent:.1f} %), {rate:.1f} a second, errors: {errors}, retries: {retries}, "
            "{left} left",
            done=progress.done,
            total=progress.total,
            percent=100 * progress.done / progress.total if progress.total else 100.0,
            rate=rate,
            errors=progress.errors,
            retries=progress.retries,
            left=left,
        )

    def begin(self) -> None:
        """Nothing to open for lines."""

    def show(self) -> None:
        """Write a line."""
        _say(self.state())

    def end(self) -> None:
        """Nothing to close for lines."""


class _Bar(_Lines):
    """A bar that is drawn over itself."""

    period = _SECONDS_BETWEEN_FRAMES

    def begin(self) -> None:
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, TextColumn  # noqa: PLC0415
        from rich.progress import Progress as Bar  # noqa: PLC0415

        self._bar: Any = Bar(
            BarColumn(bar_width=24),
            TextColumn("{task.fields[state]}", markup=False),
            console=Console(stderr=True),
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=self._progress.total, state=self.state())
        self._bar.start()

    def show(self) -> None:
        self._bar.update(self._task, completed=self._progress.done, state=self.state(), refresh=True)

    def end(self) -> None:
        self._bar.stop()


def _value(setting: object) -> str:
    return tr("the endpoint's default") if setting is None else str(setting)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours}:{minutes:02}:{whole % 60:02}"
    return f"{minutes}:{whole % 60:02}"


def _say(text: str) -> None:
    print(f"liftbay: {text}", file=sys.stderr, flush=True)
