"""Progress of the generator of JMultiWOZ-TC."""

from __future__ import annotations

import time
from pathlib import Path

from liftbay.benchmarks.jmultiwoz_tc.generate import Progress
from liftbay.benchmarks.jmultiwoz_tc.generation import Summary
from liftbay.cli.messages import say
from liftbay.cli.ticker import Ticker, duration, say_progress
from liftbay.language import tr


class GenerationDisplay:
    """Shows what the generator does."""

    _ticker: Ticker | None = None

    def setting_changed(self, name: str, before: object, now: object) -> None:
        """Warn: the result file will hold answers of both kinds."""
        say_progress(
            tr(
                "warning: {name} is now {now}, but the answers in the result file were made with {before}",
                name=name,
                before=_value(before),
                now=_value(now),
            )
        )

    def errors_dropped(self, count: int) -> None:
        """Say what `--retry-errors` did."""
        say_progress(tr("{count} error records taken out of the result file, to be asked again", count=count))

    def started(self, model: str, result: Path, skipped: int, progress: Progress) -> None:
        """Begin to show progress, if there is anything to do."""
        self._progress = progress
        self._begun = time.monotonic()
        if skipped:
            say_progress(tr("{count} records are in {path} already and are skipped", count=skipped, path=result))
        if progress.total:
            say_progress(tr("asking {model} for {count} records", model=model, count=progress.total))
            self._ticker = Ticker(self._state, lambda: progress.done, progress.total)
            self._ticker.start()

    def stopped(self, summary: Summary) -> None:
        """Show the last state."""
        if self._ticker is not None:
            self._ticker.stop()

    def _state(self) -> str:
        """How far it is, in words; while nothing has come, why not."""
        trouble = self._progress.last_trouble
        waiting = f" ({say(trouble)})" if trouble is not None and not self._progress.done else ""
        return self._counts() + waiting

    def _counts(self) -> str:
        progress = self._progress
        seconds = max(time.monotonic() - self._begun, 1e-9)
        rate = progress.done / seconds
        left = duration((progress.total - progress.done) / rate) if rate else "?"
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


def _value(setting: object) -> str:
    return tr("the endpoint's default") if setting is None else str(setting)
