"""Pair the trials of two stored runs: each with the same trial of the same case in the other."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import msgspec

from liftbay.domain.case import Case
from liftbay.domain.result import CaseResult, Outcome
from liftbay.ports import RunStore
from liftbay.report.observed import cluster_of


class Pair(msgspec.Struct, frozen=True):
    """One trial in both runs, or in the one that has it."""

    base: CaseResult | None
    head: CaseResult | None

    @property
    def known(self) -> CaseResult:
        """The trial in one of the runs, whichever has it."""
        found = self.head or self.base
        assert found is not None
        return found

    @property
    def cluster(self) -> str:
        """The conversation or source document that the case shares with others, or the case itself."""
        return cluster_of(self.known)[0]

    @property
    def changed(self) -> bool:
        """Whether the case is not the same in both runs, although its id is."""
        return self.base is not None and self.head is not None and _asked(self.base.case) != _asked(self.head.case)

    @property
    def difference(self) -> int | None:
        """1 where only the head passes, -1 where only the base does, 0 where they agree; None where that is open."""
        if self.base is None or self.head is None or self.changed:
            return None
        if Outcome.UNDECIDED in (self.base.outcome, self.head.outcome):
            return None
        return (self.head.outcome is Outcome.PASSED) - (self.base.outcome is Outcome.PASSED)


class PairCounts(msgspec.Struct, rename="camel"):
    """What became of the trials; `decided` alone enter a comparison."""

    decided: int = 0
    undecided: int = 0  # in one of the runs or in both
    changed: int = 0  # the case was edited between the runs
    only_base: int = 0
    only_head: int = 0

    def add(self, pair: Pair) -> None:
        """Count one."""
        if pair.head is None:
            self.only_base += 1
        elif pair.base is None:
            self.only_head += 1
        elif pair.changed:
            self.changed += 1
        elif pair.difference is None:
            self.undecided += 1
        else:
            self.decided += 1

    @property
    def coverage(self) -> float | None:
        """The share of the base's trials that can be compared; None where it has none."""
        of_base = self.decided + self.undecided + self.changed + self.only_base
        return self.decided / of_base if of_base else None


async def paired(store: RunStore, base: str, head: str) -> AsyncIterator[Pair]:
    """All trials of two runs, side by side, streamed in the order of dataset type, case and trial."""
    async with aclosing(_stream(store, base)) as bases, aclosing(_stream(store, head)) as heads:
        one, other = await anext(bases, None), await anext(heads, None)
        while one is not None or other is not None:
            if other is None or (one is not None and one.key < other.key):
                yield Pair(one, None)
                one = await anext(bases, None)
            elif one is None or other.key < one.key:
                yield Pair(None, other)
                other = await anext(heads, None)
            else:
                yield Pair(one, other)
                one, other = await anext(bases, None), await anext(heads, None)


async def _stream(store: RunStore, run: str) -> AsyncGenerator[CaseResult, None]:
    async for result in store.results(run):
        yield result


def _asked(case: Case) -> Case:
    """What is asked and expected, without the keys that liftbay does not know."""
    return msgspec.structs.replace(case, extra={})
