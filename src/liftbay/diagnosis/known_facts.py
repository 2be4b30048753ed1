"""What an agent itself found in the trials of a run: the passages that it retrieved, and what its calls came to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from liftbay.diagnosis.overlap import held, words_of
from liftbay.diagnosis.view import calls_of, chunks_of
from liftbay.domain.case import Case
from liftbay.domain.override import GivenResult
from liftbay.domain.result import CaseResult
from liftbay.domain.toolcall import ToolCall
from liftbay.domain.trace import Chunk

MOST_KEPT = 20_000  # passages, and results
_COVERED = 0.9  # of a point's words: then the passage says it
_LOOKED_AT = 5  # of the passages that share most words with a point

Mocked = Callable[[Case, ToolCall], GivenResult | None]


class KnownFacts:
    """Gathers them; `mocked` says what the mock data of a case answer a call."""

    def __init__(self, mocked: Mocked | None = None) -> None:
        self._mocked = mocked
        self._chunks: list[Chunk] = []
        self._texts: set[str] = set()
        self._by_word: dict[str, list[int]] = defaultdict(list)
        self._results: dict[bytes, GivenResult] = {}

    def add(self, result: CaseResult) -> None:
        """Keep what a trial found."""
        for turn in result.episode.turns:
            for chunk in chunks_of(turn) or ():
                self._keep_chunk(chunk)
            for call in calls_of(turn):
                good = call.success is True and call.error is None and call.arguments is not None and not call.unmocked
                if good and call.result is not None and len(self._results) < MOST_KEPT:
                    key = _key(ToolCall(call.name, call.arguments or {}))
                    self._results.setdefault(key, GivenResult(call.name, call.result))

    def passages(self, points: Iterable[str]) -> list[Chunk]:
        """Passages that hold the points.

        One that the agent itself retrieved in some trial of the run where it covers the point; else the point's own
        text stands as a passage.
        """
        found: dict[str, Chunk] = {}
        for number, point in enumerate(points, start=1):
            chunk = self._covering(point) or Chunk(point, id=f"expected-{number}", score=1.0)
            found.setdefault(chunk.content, chunk)
        return list(found.values())

    def result(self, case: Case, call: ToolCall) -> GivenResult | None:
        """What the call comes to: by the case's mock data, else as it came to in some trial of the run, or None."""
        if self._mocked is not None and (answer := self._mocked(case, call)) is not None:
            return answer
        return self._results.get(_key(call))

    def _keep_chunk(self, chunk: Chunk) -> None:
        if chunk.content in self._texts or len(self._chunks) >= MOST_KEPT:
            return
        self._texts.add(chunk.content)
        for word in words_of(chunk.content):
            self._by_word[word].append(len(self._chunks))
        self._chunks.append(chunk)

    def _covering(self, point: str) -> Chunk | None:
        shared = Counter(at for word in words_of(point) for at in self._by_word.get(word, ()))
        for at, _ in shared.most_common(_LOOKED_AT):
            if (held(point, [self._chunks[at].content]) or 0.0) >= _COVERED:
                return self._chunks[at]
        return None


def _key(call: ToolCall) -> bytes:
    return msgspec.json.encode((call.name, _plain(call.arguments)), order="sorted", enc_hook=repr)


def _plain(value: Any) -> Any:
    """Whole numbers as integers: 2 and 2.0 are the same argument."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value
