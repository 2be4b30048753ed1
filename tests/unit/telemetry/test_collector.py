"""Spans find their trial, whatever the order they come in, and a trial waits no longer than it has to."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import threading
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import msgspec
import pytest
from places import synchronous

from liftbay.domain.spans import Span, SpanCounts, SpanEvent
from liftbay.domain.trace import EvalTrace, Planning
from liftbay.ports import TraceSource, TurnSpans
from liftbay.telemetry import collector as collector_module
from liftbay.telemetry import trial_spans, unclaimed
from liftbay.telemetry.collector import SpanCollector

QUIET = 0.05
AT_MOST = 0.4
SECOND = 1_000_000_000


def names(spans: Sequence[Span]) -> EvalTrace:
    """An EvalTrace that says which spans it was made of."""
    return EvalTrace(planning=Planning(decision=" ".join(span.name for span in spans)))


def collector(quiet: float = QUIET, at_most: float = AT_MOST) -> SpanCollector:
    return SpanCollector(names, quiet=quiet, at_most=at_most)


_numbers = itertools.count(1)


def span(
    trace: str, parent: str | None = None, *, own: str | None = None, start_ns: int = 1, **attributes: Any
) -> Span:
    own = own or f"{next(_numbers):016x}"
    return Span(
        trace, own, own, start_ns, start_ns + 1, parent, {k.replace("__", "."): v for k, v in attributes.items()}
    )


def sent(traceparent: str) -> tuple[str, str]:
    """The trace id and the span id."""
    _, trace, parent, _ = traceparent.split("-")
    return trace, parent


def said(turns: Sequence[TurnSpans]) -> list[set[str]]:
    """The names of the spans of each turn; what the EvalTrace was made of and what is kept must be the same."""
    for turn in turns:
        decision = turn.trace.planning.decision if turn.trace and turn.trace.planning else None
        assert (decision or "").split() == [span.name for span in turn.spans]
    return [{span.name for span in turn.spans} for turn in turns]


async def timed(source: SpanCollector, session: str) -> tuple[list[TurnSpans], float]:
    begun = time.monotonic()
    turns = await source.collect(session)
    return turns, time.monotonic() - begun


def total(counts: SpanCounts) -> int:
    return counts.used + counts.late + counts.foreign + counts.repeated + counts.dropped


def test_it_is_a_trace_source_that_gives_w3c_traceparents() -> None:
    source: TraceSource = collector()
    first, second = source.begin("s", 1), source.begin("s", 2)
    for traceparent in (first, second):
        version, trace, parent, flags = traceparent.split("-")
        assert (version, len(trace), len(parent), flags) == ("00", 32, 16, "01")
        assert int(trace, 16) > 0
        assert int(parent, 16) > 0
    assert sent(first)[0] != sent(second)[0]
    assert source.endpoint is None
    assert isinstance(source.inside(first), nullcontext)


def test_the_session_of_a_trace() -> None:
    source = collector()
    trace, _ = sent(source.begin("s", 1))
    assert source.session_of(trace) == "s"
    source.accept([span("agents-own", session__id="s")])
    assert source.session_of("agents-own") == "s"
    source.forget("s")
    assert source.session_of(trace) is None


@synchronous
async def test_each_turn_gets_the_spans_of_its_trace_in_the_order_of_their_start() -> None:
    source = collector()
    (one, root_one), (two, root_two) = sent(source.begin("s", 1)), sent(source.begin("s", 2))
    other, root_other = sent(source.begin("other", 1))
    source.accept([span(two, root_two, own="c"), span(other, root_other, own="x")])
    source.accept([span(one, "a", own="b", start_ns=7), span(one, root_one, own="a", start_ns=5)])
    turns = await source.collect("s")
    assert said(turns) == [{"a", "b"}, {"c"}]
    assert [one.name for one in turns[0].spans] == ["a", "b"]
    assert said(await source.collect("other")) == [{"x"}]
    assert source.counts == SpanCounts(received=4, used=4)


@synchronous
async def test_a_session_that_never_began_has_no_turns() -> None:
    assert await collector().collect("unknown") == []


@synchronous
async def test_a_turn_without_spans_has_no_trace() -> None:
    source = collector(at_most=0.02)
    source.begin("s", 1)
    assert await source.collect("s") == [TurnSpans(None, [])]


@pytest.mark.parametrize("name", ["gen_ai__conversation__id", "session__id"])
@synchronous
async def test_a_trace_of_the_agents_own_is_found_by_the_session_it_names(name: str) -> None:
    source = collector()
    source.begin("s", 1)
    now = time.time_ns()
    source.accept([span("t", "root", own="early", start_ns=now), span("t", "middle", own="lower", start_ns=now)])
    assert source.counts.foreign == 2  # so far
    source.accept([span("t", "root", own="middle", start_ns=now, **{name: "s"})])
    source.accept([span("t", own="root", start_ns=now)])
    assert said(await source.collect("s")) == [{"early", "lower", "middle", "root"}]
    assert source.counts == SpanCounts(received=4, used=4)


@pytest.mark.parametrize("value", ["other", "", 7, None, ["s"], {"s": 1}])
@synchronous
async def test_a_session_of_somebody_else_is_foreign(value: Any) -> None:
    source = collector(at_most=0.02)
    source.begin("s", 1)
    source.accept([span("t", session__id=value)])
    assert said(await source.collect("s")) == [set()]
    assert source.counts == SpanCounts(received=1, foreign=1)


@synchronous
async def test_the_traceparent_outranks_the_session_that_a_span_names() -> None:
    source = collector()
    trace, root = sent(source.begin("one", 1))
    source.begin("two", 1)
    source.accept([span(trace, root, own="a", session__id="two")])
    assert said(await source.collect("one")) == [{"a"}]


class Turns:
    """A session of three turns that began a minute apart, and a clock that stands still after the last."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 1_000 * SECOND
        monkeypatch.setattr(time, "time_ns", lambda: self.now_ns)
        self.source = collector()
        self.began = []
        for round_ in range(1, 4):
            self.source.begin("s", round_)
            self.began.append(self.now_ns)
            self.now_ns += 60 * SECOND

    async def found(self, *starts: int) -> list[list[int]]:
        """The turns that traces belong to whose first spans start then."""
        for number, start in enumerate(starts):
            trace = f"trace-{number}"
            root = span(trace, start_ns=start, own=f"root-{number}", session__id="s")
            child = span(trace, f"root-{number}", start_ns=start + SECOND, own=f"child-{number}", session__id="s")
            self.source.accept([child, root] if number % 2 else [root, child])
        turns = await self.source.collect("s")
        return [sorted({int(name.split("-")[1]) for name in turn}) for turn in said(turns)]


@synchronous
async def test_a_trace_belongs_to_the_last_turn_that_began_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns(monkeypatch)
    one, two, three = turns.began
    starts = (three + SECOND, one, two, two - 1, three + 59 * SECOND)
    assert await turns.found(*starts) == [[1, 3], [2], [0, 4]]


@pytest.mark.parametrize("hours", [-1, 1])
@synchronous
async def test_a_clock_that_is_hours_off(monkeypatch: pytest.MonkeyPatch, hours: int) -> None:
    turns = Turns(monkeypatch)
    off = hours * 3600 * SECOND
    assert await turns.found(*(began + off + SECOND for began in turns.began)) == [[0], [1], [2]]


@synchronous
async def test_a_clock_that_is_a_little_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that names a session starts before that session began: so much is known."""
    turns = Turns(monkeypatch)
    assert await turns.found(*(began - SECOND // 100 for began in turns.began)) == [[0], [1], [2]]


@synchronous
async def test_a_trace_that_began_before_the_session_does_not_move_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns(monkeypatch)
    second = turns.began[1]
    turns.source.accept([span("trace-9", own="root-9", start_ns=5)])
    turns.source.accept([span("trace-9", "root-9", own="child-9", start_ns=second + 1, session__id="s")])
    assert await turns.found(turns.began[0], turns.began[2]) == [[0], [9], [1]]


@synchronous
async def test_spans_that_come_twice_are_left_out_and_counted() -> None:
    source = collector()
    trace, root = sent(source.begin("s", 1))
    spans = [span(trace, root, own="a"), span(trace, "a", own="b")]
    source.accept(spans)
    source.accept([*spans, span("t", own="x"), span("t", own="x")])
    assert said(await source.collect("s")) == [{"a", "b"}]
    assert source.counts == SpanCounts(received=6, used=2, repeated=3, foreign=1)


@synchronous
async def test_what_comes_after_a_trial_is_decided_is_late() -> None:
    source = collector()
    trace, root = sent(source.begin("s", 1))
    source.accept([span(trace, root)])
    await source.collect("s")
    source.accept([span(trace, root), span("t", own="a"), span("t", "a", session__id="s"), span("t", "a")])
    assert source.counts == SpanCounts(received=5, used=1, late=4)
    assert await source.collect("s") == []


@synchronous
async def test_the_spans_of_a_try_that_failed_are_late_too() -> None:
    source = collector()
    trace, root = sent(source.begin("s", 1))
    source.accept([span(trace, root)])
    source.forget("s")
    source.forget("s")
    source.accept([span(trace, root)])
    assert source.counts == SpanCounts(received=2, late=2)
    assert await source.collect("s") == []


def test_only_so_many_decided_trials_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector_module, "MOST_REMEMBERED", 4)
    source = collector()
    traces = []
    for number in range(3):
        traces.append(sent(source.begin(f"s{number}", 1))[0])
        source.forget(f"s{number}")
    source.accept([span(trace) for trace in traces])
    assert source.counts == SpanCounts(received=3, late=2, foreign=1)


@synchronous
async def test_a_trial_keeps_only_so_many_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_spans, "MOST_SPANS", 10)
    source = collector()
    trace, root = sent(source.begin("s", 1))
    source.accept([span(trace, root) for _ in range(25)])
    (turn,) = await source.collect("s")
    assert len(turn.spans) == 10
    assert source.counts == SpanCounts(received=25, used=10, dropped=15)


@synchronous
async def test_a_trial_keeps_only_so_many_bytes() -> None:
    source = collector()
    trace, root = sent(source.begin("s", 1))
    megabytes = [{"a": "x" * (1 << 20)}, {"a": ["x" * (1 << 20)]}, {"a": {"b": ["x" * (1 << 20)]}}]
    spans = [
        msgspec.structs.replace(span(trace, root), attributes=found)
        for found in itertools.islice(itertools.cycle(megabytes), 60)
    ]
    source.accept(spans)
    source.accept([span("foreign", gen_ai__conversation__id="s", text="x" * (32 << 20))])
    (turn,) = await source.collect("s")
    assert 8 <= len(turn.spans) <= 32
    assert source.counts == SpanCounts(received=61, used=len(turn.spans), dropped=61 - len(turn.spans))


@synchronous
async def test_texts_are_cut_once_the_trace_is_made_and_only_so_many_spans_stay_raw() -> None:
    seen: list[Span] = []

    def whole(spans: Sequence[Span]) -> None:
        seen.extend(spans)

    source = SpanCollector(whole, quiet=QUIET, at_most=AT_MOST)
    trace, root = sent(source.begin("s", 1))
    long = "あ" * 10_000
    nested = {"text": long, "list": [long, {"key": [long, 1, None]}], "number": 1}
    first = Span(trace, "a", "a", 0, 1, root, nested, [SpanEvent("e", 3, {"text": long})], None, "scope", "shop", "2")
    source.accept([*(span(trace, root) for _ in range(1_500)), first])
    (turn,) = await source.collect("s")
    assert len(seen) == 1_501
    assert seen[0] == first
    assert len(turn.spans) == 1_000
    cut = long[:8_192]
    attributes = {"text": cut, "list": [cut, {"key": [cut, 1, None]}], "number": 1}
    assert turn.spans[0] == msgspec.structs.replace(
        first, attributes=attributes, events=[SpanEvent("e", 3, {"text": cut})]
    )
    assert turn.spans[1:] == seen[1:1_000]
    assert source.counts.used == 1_501


@synchronous
async def test_a_trial_is_over_when_its_roots_have_ended_and_all_was_quiet() -> None:
    source = collector(at_most=20)
    one, root_one = sent(source.begin("s", 1))
    two, root_two = sent(source.begin("s", 2))

    async def later() -> None:
        source.accept([span(one, root_one), span(two, "missing", own="a")])
        await asyncio.sleep(2 * QUIET)
        source.accept([span(two, root_two, own="missing")])
        await asyncio.sleep(QUIET / 2)
        source.accept([span(two, "missing", own="b")])

    sending = asyncio.create_task(later())
    turns, seconds = await timed(source, "s")
    await sending
    assert said(turns)[1] == {"a", "missing", "b"}
    assert 3.4 * QUIET <= seconds < 5


@pytest.mark.parametrize(
    "parents",
    [
        {},  # no span at all
        {"a": "missing"},  # whose root has not ended
        {"root": None, "a": "missing"},  # where one in between is missing
    ],
)
@synchronous
async def test_a_trial_that_lacks_a_span_waits_as_long_as_it_may(parents: dict[str, str | None]) -> None:
    source = collector(at_most=4 * QUIET)
    trace, _ = sent(source.begin("s", 1))
    source.accept([span(trace, parent, own=own) for own, parent in parents.items()])
    turns, seconds = await timed(source, "s")
    assert said(turns) == [set(parents)]
    assert 4 * QUIET <= seconds < 5


@pytest.mark.parametrize("parent", [None, "sent"])
@synchronous
async def test_either_kind_of_root_will_do(parent: str | None) -> None:
    source = collector(at_most=20)
    trace, root = sent(source.begin("s", 1))
    source.accept([span(trace, parent and root)])
    _, seconds = await timed(source, "s")
    assert seconds < 5


@synchronous
async def test_spans_that_came_before_the_answer_was_quiet_before_it_too() -> None:
    source = collector(quiet=0.2, at_most=20)
    trace, root = sent(source.begin("s", 1))
    source.accept([span(trace, root)])
    await asyncio.sleep(0.15)
    _, seconds = await timed(source, "s")
    assert 0.03 <= seconds < 0.19


@synchronous
async def test_a_flood_does_not_prolong_the_waiting_for_ever() -> None:
    source = collector()
    trace, root = sent(source.begin("s", 1))

    async def flood() -> None:
        while True:
            source.accept([span(trace, root)])
            await asyncio.sleep(QUIET / 5)

    flooding = asyncio.create_task(flood())
    _, seconds = await timed(source, "s")
    flooding.cancel()
    assert AT_MOST <= seconds < 5


@synchronous
async def test_spans_may_come_from_another_thread() -> None:
    source = collector(at_most=20)
    trace, root = sent(source.begin("s", 1))

    def work(number: int) -> None:
        source.accept([span(trace, root, own=f"{number}-{n}") for n in range(100)])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    waiting = asyncio.create_task(timed(source, "s"))
    await asyncio.sleep(0)
    for thread in threads:
        thread.start()
    turns, seconds = await waiting
    for thread in threads:
        thread.join()
    assert len(said(turns)[0]) == 800
    assert seconds < 5


@synchronous
async def test_two_thousand_waiting_trials_cost_next_to_nothing() -> None:
    source = collector(quiet=1, at_most=1)
    for number in range(2_000):
        source.begin(f"s{number}", 1)
    waiting = [asyncio.create_task(source.collect(f"s{number}")) for number in range(2_000)]
    await asyncio.sleep(0.3)
    before = time.process_time()
    await asyncio.sleep(0.5)
    assert time.process_time() - before < 0.1
    await source.close()
    assert all(await asyncio.gather(*waiting))


@synchronous
async def test_closing_ends_all_waiting_and_forgets_what_nobody_waits_for() -> None:
    source = collector(at_most=60)
    trace, _ = sent(source.begin("waiting", 1))
    source.accept([span(trace, "missing", own="a"), span(sent(source.begin("other", 1))[0])])
    waiting = asyncio.create_task(source.collect("waiting"))
    await asyncio.sleep(0)
    await source.close()
    assert said(await waiting) == [{"a"}]
    assert source.counts == SpanCounts(received=2, used=1, late=1)


@synchronous
async def test_a_trial_whose_waiting_is_cancelled_is_forgotten() -> None:
    source = collector(at_most=60)
    trace, root = sent(source.begin("s", 1))
    source.accept([span(trace, "missing")])
    waiting = asyncio.create_task(source.collect("s"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    source.accept([span(trace, root)])
    assert source.counts == SpanCounts(received=2, late=2)


def floods() -> Iterator[list[Span]]:
    for batch in range(400):
        yield [span(f"foreign-{batch}-{n // 50}", text="x" * 200) for n in range(500)]


@synchronous
async def test_a_flood_of_foreign_spans_takes_bounded_memory_and_own_spans_are_found() -> None:
    source = collector(quiet=0.2, at_most=20)
    trace, root = sent(source.begin("s", 1))
    source.accept([span(trace, "root", own="child")])
    tracemalloc.start()
    for number, batch in enumerate(floods()):
        source.accept(batch)
        if number == 200:
            source.accept([span("own", "r", own="own-child", start_ns=time.time_ns())])
        if number == 210:
            source.accept([span("own", own="r", start_ns=time.time_ns(), session__id="s")])
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    source.accept([span(trace, root, own="root")])
    assert said(await source.collect("s")) == [{"child", "root", "own-child", "r"}]
    assert source.counts == SpanCounts(received=200_004, used=4, foreign=200_000)
    assert kept < 40 << 20  # 20,000 of them


def test_foreign_spans_are_thrown_out_by_bytes_too() -> None:
    source = collector()
    tracemalloc.start()
    for number in range(300):
        source.accept([span(f"t{number}", text=str(number % 10) * (1 << 20))])
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 80 << 20
    assert source.counts == SpanCounts(received=300, foreign=300)


@synchronous
async def test_the_oldest_foreign_trace_is_thrown_out_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unclaimed, "MOST_SPANS", 3)
    source = collector()
    source.begin("s", 1)
    now = time.time_ns()
    source.accept([span(trace, "root", own=f"{trace}-{n}", start_ns=now) for n in range(2) for trace in ("a", "b")])
    source.accept([span(trace, own="root", start_ns=now, session__id="s") for trace in ("a", "b")])
    assert said(await source.collect("s")) == [{"root", "b-0", "b-1"}]
    assert source.counts == SpanCounts(received=6, used=4, foreign=2)


@synchronous
async def test_foreign_spans_are_kept_for_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: clock)
    source = collector()
    source.begin("s", 1)
    source.accept([span("old", own="o")])
    clock += 59
    source.accept([span("young", own="y")])
    clock += 2
    source.accept([span("any")])
    monkeypatch.undo()
    now = time.time_ns()
    source.accept([span(trace, start_ns=now, own=f"{trace}-root", session__id="s") for trace in ("old", "young")])
    assert said(await source.collect("s")) == [{"old-root", "young-root", "y"}]


@pytest.mark.parametrize("seed", range(20))
@synchronous
async def test_any_order_gives_the_same_turns_and_every_span_is_accounted_for(seed: int) -> None:
    drawn = random.Random(seed)
    source = collector(quiet=0.01, at_most=5)
    spans: list[Span] = []
    expected: dict[str, list[set[str]]] = {}
    for session in ("one", "two", "three"):
        expected[session] = []
        for round_ in (1, 2):
            trace, root = sent(source.begin(session, round_))
            if session == "three":  # by its name alone
                trace, root = f"{session}-{round_}", ""
            own = [f"{session}-{round_}-{number}" for number in range(drawn.randint(1, 12))]
            start = time.time_ns()
            for number, name in enumerate(own):
                parent = drawn.choice(own[:number]) if number else root or None
                named = {"session__id": session} if session == "three" and number == len(own) - 1 else {}
                spans.append(span(trace, parent, own=name, start_ns=start, **named))
            expected[session].append(set(own))
    doubled = drawn.sample(spans, 5)
    foreign = [span("foreign") for _ in range(7)]
    mixed = [*spans, *doubled, *foreign]
    drawn.shuffle(mixed)
    while mixed:
        batch = [mixed.pop() for _ in range(min(len(mixed), drawn.randint(1, 9)))]
        source.accept(batch)
    for session, turns in expected.items():
        assert said(await source.collect(session)) == turns
    assert source.counts == SpanCounts(len(spans) + 12, len(spans), foreign=7, repeated=5)
    assert total(source.counts) == source.counts.received


@synchronous
async def test_secrets_are_in_no_span_and_no_trace() -> None:
    def hidden(value: Any) -> Any:
        return json.loads(json.dumps(value).replace("hunter22", "***"))

    source = SpanCollector(names, quiet=QUIET, at_most=AT_MOST, hidden=hidden)
    trace, root = sent(source.begin("s", 1))
    noted = span(trace, root, header="Bearer hunter22", list=["hunter22"])
    event = SpanEvent("sent hunter22", 1, {"key": "hunter22"})
    source.accept([msgspec.structs.replace(noted, name="GET/hunter22", events=[event], error="refused hunter22")])
    (turn,) = await source.collect("s")
    assert "hunter22" not in msgspec.json.encode(turn).decode()
    (kept,) = turn.spans
    assert kept.name == "GET/***"
    assert kept.attributes == {"header": "Bearer ***", "list": ["***"]}
    assert kept.error == "refused ***"
    assert turn.trace == names([kept])
