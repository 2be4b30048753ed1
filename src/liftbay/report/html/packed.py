"""Trials packed into a page within a budget: compressed block by block, texts cut shorter where room gets scarce."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator

import msgspec

from liftbay.domain.blame import Blame
from liftbay.domain.result import CaseResult
from liftbay.report.case_view import Cutter, case_view

BUDGET = 8_000_000  # characters of the page
BLOCK = 20
_LENGTHS = (6000, 3000, 1500, 800, 400, 200, 100, 40)


def packed(value: object) -> str:
    """A value as compressed JSON in base64, which no parser of HTML can take for anything."""
    return base64.b64encode(zlib.compress(msgspec.json.encode(value), 6)).decode()


class Blocks:
    """Takes trials one at a time and gives blocks of them.

    What a block may take is its share of what is left, so the page stays within the budget whatever the texts are,
    as long as the shortest cut fits.
    """

    def __init__(self, expected: int, budget: int = BUDGET) -> None:
        self._left, self._to_come = budget, expected
        self._waiting: list[tuple[CaseResult, Blame]] = []
        self._level = 0
        self._roomy = False
        self.characters = 0  # that were cut off
        self.items = 0  # of lists, that were left out

    def add(self, result: CaseResult, blame: Blame) -> Iterator[str]:
        """Take a trial; a block comes out when one is full."""
        self._waiting.append((result, blame))
        if len(self._waiting) == BLOCK:
            yield self._block()

    def rest(self) -> Iterator[str]:
        """The last block, if any trial waits."""
        if self._waiting:
            yield self._block()

    def _block(self) -> str:
        share = self._left * len(self._waiting) / max(self._to_come, len(self._waiting))
        if self._roomy:
            self._level = max(0, self._level - 1)
        while True:
            cutters = [Cutter(_LENGTHS[self._level]) for _ in self._waiting]
            views = [case_view(*one, cut) for one, cut in zip(self._waiting, cutters, strict=True)]
            text = packed(views)
            if len(text) <= share or self._level == len(_LENGTHS) - 1:
                break
            self._level += 1
        self._roomy = len(text) < share / 2  # longer texts may fit next time
        self.characters += sum(cut.characters for cut in cutters)
        self.items += sum(cut.items for cut in cutters)
        self._left -= len(text)
        self._to_come -= len(self._waiting)
        self._waiting = []
        return text
