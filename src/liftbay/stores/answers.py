"""What a store that keeps answers of judges promises beside `JudgeCache`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Protocol

from liftbay.ports import Baselines, JudgeCache, RunStore


class AnswerStore(JudgeCache, Protocol):
    """Answers of judges that can be listed and brought in. Raises `StoreError`."""

    def answers(self) -> AsyncIterator[tuple[str, str]]:
        """All keys with their answers, streamed, ordered by key."""

    async def keep_all(self, answers: Iterable[tuple[str, str]]) -> int:
        """Keep answers, all or none; what is there already stays. Returns how many are new."""


class Store(RunStore, Baselines, AnswerStore, Protocol):
    """Keeps runs, names of runs and answers of judges."""
