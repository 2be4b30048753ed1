"""Spans find their trial, and a trial waits for its spans."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from liftbay.domain.spans import Span, SpanCounts
from liftbay.domain.trace import EvalTrace
from liftbay.ports import TurnSpans
from liftbay.telemetry.span_secrets import without_secrets
from liftbay.telemetry.trial_spans import TraceSpans, TrialSpans, sessions_of
from liftbay.telemetry.unclaimed import Unclaimed
from liftbay.telemetry.waiting import Waiting

QUIET = 1.0  # seconds without a new span after which none is expected
AT_MOST = 10.0  # seconds to wait in all
MOST_REMEMBERED = 10_000  # traces and sessions of trials that are decided
_MOST_NOTED = 1_000  # spans of this process, before they are looked at


class SpanCollector:
    """A `TraceSource`: spans come in through `accept`, from any thread.

    A span belongs to the turn whose trace it is of; the trace of a span that names a known session belongs to that
    session as a whole. `endpoint` is set by whoever runs the receiver. `trace_of` makes the EvalTrace of a turn.
    """

    def __init__(
        self,
        trace_of: Callable[[Sequence[Span]], EvalTrace | None],
        *,
        quiet: float = QUIET,
        at_most: float = AT_MOST,
        hidden: Callable[[Any], Any] | None = None,
    ) -> None:
        """`quiet` and `at_most` in seconds; `hidden` takes secrets out of a JSON value."""
        self.endpoint: str | None = None
        self._trace_of = trace_of
        self._quiet = quiet
        self._at_most = at_most
        self._hidden = hidden
        self._lock = threading.Lock()
        self._trials: dict[str, TrialSpans] = {}
        self._of_trace: dict[str, tuple[TrialSpans, TraceSpans]] = {}
        self._decided: dict[str, None] = {}  # trace ids and session ids, the oldest first
        self._unclaimed = Unclaimed()
        self._received = self._used = self._late = self._repeated = self._dropped = 0
        self._inside: Callable[[str], AbstractContextManager[None]] | None = None
        self._inside_events: deque[str | Span] = deque()  # a trace that a span began in, or a span that ended
        self._open: dict[str, int] = {}  # spans of this process that have not ended, by trace

    def begin(self, session_id: str, round_: int) -> str:
        """A turn begins: the `traceparent` to send with it."""
        trace_id, span_id = f"{random.getrandbits(128) or 1:032x}", f"{random.getrandbits(64) or 1:016x}"
        with self._lock:
            trial = self._trials.get(session_id)
            if trial is None:
                trial = self._trials[session_id] = TrialSpans(session_id)
            self._of_trace[trace_id] = trial, trial.begin(trace_id, span_id, time.time_ns())
        return f"00-{trace_id}-{span_id}-01"

    def session_of(self, trace_id: str) -> str | None:
        """The session whose turn a trace is, or None."""
        trial, _ = self._of_trace.get(trace_id, (None, None))
        return None if trial is None else trial.session_id

    def inside(self, traceparent: str) -> AbstractContextManager[None]:
        """Spans that code in this context starts belong to the turn, where spans of this process are listened to."""
        return nullcontext() if self._inside is None else self._inside(traceparent)

    def listen_inside(self, inside: Callable[[str], AbstractContextManager[None]] | None) -> None:
        """Spans of this process arrive from now on (None: no longer), through `opened` and `closed`."""
        self._inside = inside

    def opened(self, trace_id: str) -> None:
        """A span began in this process."""
        self._inside_events.append(trace_id)

    def closed(self, span: Span) -> None:
        """A span ended in this process.

        That may be while garbage is collected, in the midst of anything: so it is only noted, without the lock.
        """
        self._inside_events.append(span)
        trial, _ = self._of_trace.get(span.trace_id, (None, None))
        for named in (trial, *map(self._trials.get, sessions_of(span))):
            if named is not None:
                _look_again(named)
        if len(self._inside_events) > _MOST_NOTED and self._lock.acquire(blocking=False):
            try:
                self._take_in()
            finally:
                self._lock.release()

    def accept(self, spans: Iterable[Span]) -> None:
        """Spans arrived from outside."""
        with self._lock:
            for trial in self._sort_in(spans):
                trial.received = True
                _look_again(trial)

    async def collect(self, session_id: str) -> list[TurnSpans]:
        """One item a turn, in order, when all spans are there or waiting is over; the session is forgotten."""
        with self._lock:
            trial = self._trials.get(session_id)
            if trial is None:
                return []
            deadline = time.monotonic() + self._at_most
            trial.waiting = Waiting(lambda: self._due(trial, deadline))
        try:
            await trial.waiting.until_over()
        except asyncio.CancelledError:
            self.forget(session_id)
            raise
        with self._lock:
            self._take_in()
            self._decide(trial)
            self._used += trial.count
        return [self._turn(spans, kept) for spans, kept in trial.turns(time.time_ns())]

    def _turn(self, spans: list[Span], kept: list[Span]) -> TurnSpans:
        if (hidden := self._hidden) is not None:
            spans, kept = ([without_secrets(span, hidden) for span in some] for some in (spans, kept))
        return TurnSpans(self._trace_of(spans) if spans else None, kept)

    def forget(self, session_id: str) -> None:
        """Nobody will collect this session: the try failed and another is made."""
        with self._lock:
            self._take_in()
            trial = self._trials.get(session_id)
            if trial is not None:
                self._decide(trial)
                self._late += trial.count

    @property
    def counts(self) -> SpanCounts:
        """What became of the spans so far; those that no trial has claimed yet are foreign."""
        with self._lock:
            self._take_in()
            foreign = self._unclaimed.thrown_out + self._unclaimed.held
            return SpanCounts(self._received, self._used, self._late, foreign, self._repeated, self._dropped)

    async def close(self) -> None:
        """Whoever waits for spans waits no longer."""
        for trial in list(self._trials.values()):
            if trial.waiting is None:
                self.forget(trial.session_id)
            else:
                trial.waiting.end()

    def _take_in(self) -> None:
        """Do what was noted of spans of this process."""
        while self._inside_events:
            event = self._inside_events.popleft()
            if isinstance(event, str):
                self._open[event] = self._open.get(event, 0) + 1
                continue
            left = self._open.pop(event.trace_id, 1) - 1
            if left > 0:
                self._open[event.trace_id] = left
            for trial in self._sort_in((event,)):
                trial.in_process = True

    def _sort_in(self, spans: Iterable[Span]) -> set[TrialSpans]:
        """Give each span to its trial; returns the trials that got a new one."""
        touched = set()
        now = time.monotonic()
        for span in spans:
            self._received += 1
            trial, trace = self._of_trace.get(span.trace_id) or self._claimed(span, now)
            if trial is None or trace is None:
                continue
            if span.span_id in trace.by_id:
                self._repeated += 1
            elif not trial.add(trace, span):
                self._dropped += 1
            else:
                trial.newest = now
                touched.add(trial)
        return touched

    def _claimed(self, span: Span, now: float) -> tuple[TrialSpans, TraceSpans] | tuple[None, None]:
        """The trial that a span names, if there is one: it gets what has come of the span's trace."""
        if span.trace_id in self._decided:
            self._late += 1
            return None, None
        for session_id in sessions_of(span):
            if (trial := self._trials.get(session_id)) is not None:
                trace = trial.traces[span.trace_id] = TraceSpans(session_id)
                trace.named_ns = span.start_ns
                self._of_trace[span.trace_id] = trial, trace
                for earlier in self._unclaimed.take(span.trace_id):
                    self._dropped += not trial.add(trace, earlier)
                return trial, trace
            if session_id in self._decided:
                self._remember(span.trace_id)
                self._late += 1 + len(self._unclaimed.take(span.trace_id))
                return None, None
        self._repeated += not self._unclaimed.add(span, now)
        return None, None

    def _decide(self, trial: TrialSpans) -> None:
        """What comes of this trial from now on is late."""
        del self._trials[trial.session_id]
        self._remember(trial.session_id)
        for trace_id in trial.traces:
            del self._of_trace[trace_id]
            self._remember(trace_id)

    def _remember(self, name: str) -> None:
        self._decided[name] = None
        if len(self._decided) > MOST_REMEMBERED:
            del self._decided[next(iter(self._decided))]

    def _due(self, trial: TrialSpans, deadline: float) -> float:
        """When the waiting of a trial is over, as it looks now."""
        with self._lock:
            self._take_in()
            if self._nothing_to_come(trial):
                return 0.0
            return min(deadline, trial.newest + self._quiet) if trial.whole(time.time_ns()) else deadline

    def _nothing_to_come(self, trial: TrialSpans) -> bool:
        """Whether the spans of this trial are of this process, and all have ended."""
        only_inside = trial.in_process or (self._inside is not None and self.endpoint is None)
        return only_inside and not trial.received and not any(trace_id in self._open for trace_id in trial.traces)


def _look_again(trial: TrialSpans) -> None:
    if trial.waiting is not None:
        trial.waiting.look()
