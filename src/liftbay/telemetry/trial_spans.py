"""The spans of one trial, by trace: which turn each belongs to, and whether any is still missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from liftbay.domain.spans import Span
from liftbay.telemetry.span_size import may_have_long_text, shortened, size_of
from liftbay.telemetry.waiting import Waiting

MOST_SPANS = 10_000  # of a trial
MOST_BYTES = 32 << 20
MOST_RAW = 1_000  # spans of a turn that are kept after the trial
_NAMES_OF_SESSION = ("gen_ai.conversation.id", "session.id")
_start = attrgetter("start_ns")


def sessions_of(span: Span) -> Iterator[str]:
    """The sessions that a span names."""
    for name in _NAMES_OF_SESSION:
        session_id = span.attributes.get(name)
        if isinstance(session_id, str):
            yield session_id


class TraceSpans:
    """The spans of one trace.

    `sent` is the span id that went out with the turn, where the trace is a turn's own; else the agent began it, and
    spans of it name `session_id`.
    """

    def __init__(self, session_id: str, sent: str | None = None) -> None:
        self.by_id: dict[str, Span] = {}
        self.named_ns: int | None = None  # start of the first span that names the session
        self._session_id = session_id
        self._sent = sent
        self._missing: set[str] = set()  # parents
        self._root_seen = False
        self.long: set[str] = set()  # spans that may have text to cut

    def add(self, span: Span, size: int) -> None:
        """Keep a span that is not there yet."""
        own, parent = span.span_id, span.parent_id
        self.by_id[own] = span
        self._missing.discard(own)
        if parent is None or parent == self._sent:
            self._root_seen = True
        elif parent not in self.by_id:
            self._missing.add(parent)
        if self._sent is None and self._session_id in sessions_of(span):
            self.named_ns = span.start_ns if self.named_ns is None else min(self.named_ns, span.start_ns)
        if may_have_long_text(size):
            self.long.add(own)

    @property
    def whole(self) -> bool:
        """Whether the root has ended and no span lacks its parent."""
        return self._root_seen and not self._missing


class TrialSpans:
    """The spans of one session, up to a bound."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.traces: dict[str, TraceSpans] = {}
        self.count = 0
        self.received = False  # whether any came from outside this process
        self.in_process = False  # whether any came from inside
        self.newest = 0.0  # when the last new one came, by `time.monotonic`
        self.waiting: Waiting | None = None
        self._turns: list[tuple[int, str]] = []  # when it began, by the wall clock, and its own trace
        self._size = 0

    def begin(self, trace_id: str, span_id: str, now_ns: int) -> TraceSpans:
        """A turn begins, with a trace of its own."""
        self._turns.append((now_ns, trace_id))
        trace = self.traces[trace_id] = TraceSpans(self.session_id, span_id)
        return trace

    def add(self, trace: TraceSpans, span: Span) -> bool:
        """Keep a span that is not there yet; False where the trial has too many."""
        size = size_of(span)
        if self.count >= MOST_SPANS or self._size + size > MOST_BYTES:
            return False
        self.count += 1
        self._size += size
        trace.add(span, size)
        return True

    def whole(self, now_ns: int) -> bool:
        """Whether every turn has spans and none of them lacks its parent."""
        return all(
            any(trace.by_id for trace in traces) and all(trace.whole for trace in traces if trace.by_id)
            for traces in self._by_turn(now_ns)
        )

    def turns(self, now_ns: int) -> list[tuple[list[Span], list[Span]]]:
        """Of each turn its spans in the order of their start, and those of them that are kept, as they are kept."""
        return [_in_order(traces) for traces in self._by_turn(now_ns)]

    def _by_turn(self, now_ns: int) -> list[list[TraceSpans]]:
        """The traces of each turn: its own, and by time those that the agent began by itself.

        Where such a trace names the session before the session was there, or in the future, the agent's clock is
        off: it is set so that the earliest names it when the first turn begins.
        """
        found = [[self.traces[trace_id]] for _, trace_id in self._turns]
        begun_by_agent = [(trace.named_ns, trace) for trace in self.traces.values() if trace.named_ns is not None]
        if not begun_by_agent:
            return found
        first_turn = self._turns[0][0]
        earliest = min(named for named, _ in begun_by_agent)
        off = earliest < first_turn or max(named for named, _ in begun_by_agent) > now_ns
        shift = first_turn - earliest if off else 0
        for named, trace in begun_by_agent:
            turn = sum(begun <= named + shift for begun, _ in self._turns) - 1
            found[turn].append(trace)
        return found


def _in_order(traces: Sequence[TraceSpans]) -> tuple[list[Span], list[Span]]:
    spans = sorted((span for trace in traces for span in trace.by_id.values()), key=_start)
    long = {span_id for trace in traces for span_id in trace.long}
    return spans, [shortened(span) if span.span_id in long else span for span in spans[:MOST_RAW]]
