"""Takes finished results one at a time and commits them in batches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from liftbay.domain.episode import Episode
from liftbay.domain.result import CaseResult
from liftbay.ports import RunStore

ROWS = 256
SECONDS = 0.1  # half of what may be lost, and off the beat of agents that answer in fifths of a second
CHARACTERS = 16 << 20


class Ended(Protocol):
    """A trial that ended, with its result or before it is made."""

    @property
    def episode(self) -> Episode:
        """What it was."""


Item = TypeVar("Item", bound=Ended)


class ResultWriter(Generic[Item]):
    """Makes the results of what `add` brought and commits them: after `rows` of them, or after `seconds`, or when the
    answers are large.

    One commit runs at a time; `add` waits while a whole batch is ready beside it, so that memory stays flat. An error
    of the store comes out of the next `add` and of `close`; what was committed before it stays.
    """

    def __init__(
        self,
        store: RunStore,
        run_id: str,
        results: Callable[[Sequence[Item]], Sequence[CaseResult]],
        *,
        rows: int = ROWS,
        seconds: float = SECONDS,
    ) -> None:
        self._store = store
        self._run_id = run_id
        self._results = results
        self._rows = rows
        self._seconds = seconds
        self._waiting: list[Item] = []
        self._characters = 0
        self._timer: asyncio.TimerHandle | None = None
        self._committing: asyncio.Task[None] | None = None
        self._due = False
        self._error: Exception | None = None

    async def add(self, item: Item) -> None:
        """Take a result; it is committed soon."""
        while not self._error and self._committing and self._full():
            await asyncio.wait([self._committing])
        self._raise_error()
        self._waiting.append(item)
        self._characters += sum(len(turn.answer or "") for turn in item.episode.turns)
        if self._full():
            self._commit_now()
        elif not self._timer:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._commit_now)

    async def close(self) -> None:
        """Commit what is left."""
        while self._error is None and (self._waiting or self._committing):
            if self._waiting:
                self._commit_now()
            if self._committing:
                await asyncio.wait([self._committing])
        if self._timer:
            self._timer.cancel()
        self._raise_error()

    def _full(self) -> bool:
        return len(self._waiting) >= self._rows or self._characters >= CHARACTERS

    def _raise_error(self) -> None:
        if self._error:
            raise self._error

    def _commit_now(self) -> None:
        """Commit what waits; where a commit is under way, as soon as that is done."""
        self._due = True
        if not self._committing:
            self._committing = asyncio.get_running_loop().create_task(self._commit(self._take()))

    async def _commit(self, batch: list[Item]) -> None:
        try:
            await self._store.add_results(self._run_id, self._results(batch))
        except Exception as error:
            self._error = error
        self._committing = None
        if self._due and self._waiting and not self._error:
            self._commit_now()

    def _take(self) -> list[Item]:
        batch, self._waiting = self._waiting, []
        self._characters = 0
        self._due = False
        if self._timer:
            self._timer.cancel()
            self._timer = None
        return batch
