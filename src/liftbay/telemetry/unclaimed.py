"""Spans of traces that belong to no known trial yet: a child may arrive before the span that names the session."""

from __future__ import annotations

from liftbay.domain.spans import Span
from liftbay.telemetry.span_size import size_of

MOST_SPANS = 20_000
MOST_BYTES = 64 << 20
SECONDS = 60.0


class _Trace:
    def __init__(self, now: float) -> None:
        self.since = now
        self.size = 0
        self.spans: dict[str, Span] = {}


class Unclaimed:
    """Keeps them by trace, for a time and up to a bound; what is too much is thrown out, the oldest trace first."""

    def __init__(self) -> None:
        self._traces: dict[str, _Trace] = {}  # the oldest first
        self._size = 0
        self.held = 0
        self.thrown_out = 0

    def add(self, span: Span, now: float) -> bool:
        """Keep a span; False where it is kept already. `now` is the time in seconds by any clock."""
        trace = self._traces.get(span.trace_id)
        if trace is None:
            trace = self._traces[span.trace_id] = _Trace(now)
        elif span.span_id in trace.spans:
            return False
        size = size_of(span)
        trace.spans[span.span_id] = span
        trace.size += size
        self._size += size
        self.held += 1
        self._throw_out(now)
        return True

    def take(self, trace_id: str) -> list[Span]:
        """The spans of a trace that is known from now on."""
        trace = self._traces.pop(trace_id, None)
        if trace is None:
            return []
        self.held -= len(trace.spans)
        self._size -= trace.size
        return list(trace.spans.values())

    def _throw_out(self, now: float) -> None:
        while self._traces:
            oldest = next(iter(self._traces))
            expired = self._traces[oldest].since + SECONDS < now
            if self.held <= MOST_SPANS and self._size <= MOST_BYTES and not expired:
                return
            self.thrown_out += len(self.take(oldest))
