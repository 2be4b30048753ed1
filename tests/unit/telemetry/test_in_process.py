"""Spans of this process: the same as over the network, and in the turn whose code made them."""

from __future__ import annotations

import asyncio
import contextvars
import enum
import gc
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Tracer, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from places import synchronous

from liftbay.domain.spans import Span, SpanCounts
from liftbay.domain.trace import EvalTrace
from liftbay.errors import InputError
from liftbay.telemetry.collector import SpanCollector
from liftbay.telemetry.in_process import attach, span_of
from liftbay.telemetry.otlp import PROTOBUF, decode


class Fruit(str, enum.Enum):  # noqa: UP042 - as libraries have them
    APPLE = "apple"


class Listening:
    """A provider whose spans a collector gets, which waits long for what may come from outside."""

    def __init__(self) -> None:
        self.provider = TracerProvider(resource=Resource({"service.name": "shop", "service.version": "2"}))
        self.tracer = self.provider.get_tracer("agent")
        self.collector = SpanCollector(_nothing, quiet=20, at_most=20)
        self.detach = attach(self.collector, self.provider)

    async def found(self, session: str = "s") -> list[set[str]]:
        """The names of the spans of each turn, which must be there at once."""
        begun = time.monotonic()
        turns = await self.collector.collect(session)
        assert time.monotonic() - begun < 5
        return [{span.name for span in turn.spans} for turn in turns]


def _nothing(_: Sequence[Span]) -> EvalTrace | None:
    return None


@pytest.fixture
def listening() -> Iterator[Listening]:
    one = Listening()
    yield one
    one.detach()
    one.provider.shutdown()


def finished(work: Any) -> list[ReadableSpan]:
    """The spans that the SDK exports."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "shop", "service.version": "2.1"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    work(provider.get_tracer("scope", "1"))
    provider.shutdown()
    return list(exporter.get_finished_spans())


def every_kind_of_span(tracer: Tracer) -> None:
    values: dict[str, Any] = {
        "text": "京都",
        "enumeration": Fruit.APPLE,
        "true": True,
        "number": 2**63 - 1,
        "fraction": 0.5,
        "bytes": b"\xff\x00",
        "texts": ["a", "b"],
        "mixed": ["a", 1, None, [b"x", {"k": (1.5,)}]],
        "object": {"a": {"b": [True]}, "n": None},
        "empty": [],
        "nothing": {},
    }
    with tracer.start_as_current_span("root", attributes=values) as root:
        root.add_event("first token", {"n": 1, "list": ["x"]}, timestamp=5)
        root.add_event("bare")
        with tracer.start_as_current_span("fine") as fine:
            fine.set_status(trace.StatusCode.OK)
        with tracer.start_as_current_span("failed without words") as failed:
            failed.set_status(trace.StatusCode.ERROR)
        try:
            with tracer.start_as_current_span("raised", kind=trace.SpanKind.CLIENT):
                raise ValueError("no route")
        except ValueError:
            pass


def test_a_span_is_what_it_would_be_over_the_network() -> None:
    spans = finished(every_kind_of_span)
    assert len(spans) == 4
    over_the_network = decode(encode_spans(spans).SerializeToString(), PROTOBUF)
    assert [span_of(span) for span in spans] == over_the_network
    by_name = {span.name: span for span in over_the_network}
    assert by_name["raised"].error == "ValueError: no route"
    assert by_name["failed without words"].error == ""
    assert by_name["root"].attributes["enumeration"] == "apple"


def test_a_number_that_has_no_place_in_otlp_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    def work(tracer: Tracer) -> None:
        tracer.start_span("big", attributes={"big": 2**63, "in a list": [1, 2**70], "small": 1}).end()

    (span,) = finished(work)
    assert span_of(span).attributes == {"small": 1}


@synchronous
async def test_spans_belong_to_the_turn_whose_code_made_them(listening: Listening) -> None:
    collector, tracer = listening.collector, listening.tracer

    async def answer(session: str, round_: int) -> None:
        with collector.inside(collector.begin(session, round_)), tracer.start_as_current_span(f"{session}{round_}"):
            await asyncio.sleep(0)
            with tracer.start_as_current_span(f"{session}{round_}-child"):
                await asyncio.sleep(0)

    async def talk(session: str) -> None:
        await answer(session, 1)
        await answer(session, 2)

    await asyncio.gather(talk("a"), talk("b"))
    for session in ("a", "b"):
        assert await listening.found(session) == [{f"{session}{n}", f"{session}{n}-child"} for n in (1, 2)]
    assert collector.counts == SpanCounts(received=8, used=8)


@synchronous
async def test_the_parent_is_the_span_that_the_traceparent_names(listening: Listening) -> None:
    collector = listening.collector
    with listening.tracer.start_as_current_span("of whoever runs the evaluation"):
        traceparent = collector.begin("s", 1)
        with collector.inside(traceparent):
            listening.tracer.start_span("agent").end()
        assert trace.get_current_span().is_recording()  # the surroundings are as before
    (turn,) = await collector.collect("s")
    assert [(span.trace_id, span.parent_id) for span in turn.spans] == [tuple(traceparent.split("-")[1:3])]
    assert collector.counts == SpanCounts(received=2, used=1, foreign=1)


@synchronous
async def test_threads_with_a_copy_of_the_context_belong_to_the_turn(listening: Listening) -> None:
    collector = listening.collector

    def work(number: int) -> None:
        with listening.tracer.start_as_current_span(f"thread-{number}"):
            listening.tracer.start_span(f"child-{number}").end()

    with collector.inside(collector.begin("s", 1)):
        threads = [threading.Thread(target=contextvars.copy_context().run, args=(work, number)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert await listening.found() == [{f"{kind}-{number}" for kind in ("thread", "child") for number in range(8)}]


@synchronous
async def test_a_span_that_is_still_open_is_waited_for(listening: Listening) -> None:
    collector = listening.collector
    with collector.inside(collector.begin("s", 1)):
        listening.tracer.start_span("done").end()
        behind = listening.tracer.start_span("behind")
    waiting = asyncio.create_task(listening.found())
    await asyncio.sleep(0.05)
    assert not waiting.done()
    await asyncio.to_thread(behind.end)
    assert await waiting == [{"done", "behind"}]


@synchronous
async def test_where_no_span_can_come_nobody_waits(listening: Listening) -> None:
    listening.collector.begin("s", 1)
    assert await listening.found() == [set()]


@synchronous
async def test_with_a_receiver_beside_a_trial_without_spans_waits_for_those_from_outside() -> None:
    provider = TracerProvider()
    collector = SpanCollector(_nothing, quiet=0.02, at_most=20)
    collector.endpoint = "http://127.0.0.1:1"
    detach = attach(collector, provider)
    _, trace_id, parent, _ = collector.begin("s", 1).split("-")
    waiting = asyncio.create_task(collector.collect("s"))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    collector.accept([Span(trace_id, "1", "outside", 0, 1, parent)])
    (turn,) = await waiting
    assert [span.name for span in turn.spans] == ["outside"]
    detach()
    provider.shutdown()


@synchronous
async def test_a_trace_of_the_agents_own_that_names_the_session(listening: Listening) -> None:
    collector, tracer = listening.collector, listening.tracer
    collector.begin("s", 1)
    with tracer.start_as_current_span("root") as root:
        tracer.start_span("early").end()
        root.set_attribute("session.id", "s")
    assert await listening.found() == [{"root", "early"}]


@synchronous
async def test_a_span_that_ends_in_the_midst_of_the_collectors_own_work(listening: Listening) -> None:
    """An object may end its span when garbage is collected, which may be anywhere."""
    collector, tracer = listening.collector, listening.tracer

    class Stream:
        def __init__(self) -> None:
            self.span = tracer.start_span("stream")
            self.itself = self

        def __del__(self) -> None:
            self.span.end()

    with collector.inside(collector.begin("s", 1)):
        Stream()

    class Collecting(dict[str, Any]):
        def get(self, *arguments: Any) -> Any:
            gc.collect()
            return super().get(*arguments)

    collector._of_trace = Collecting(collector._of_trace)
    await asyncio.wait_for(asyncio.to_thread(collector.accept, [Span("other", "1", "foreign", 0, 1)]), 5)
    assert await listening.found() == [{"stream"}]
    assert collector.counts == SpanCounts(received=2, used=1, foreign=1)


def test_many_spans_before_anybody_looks_take_bounded_memory(listening: Listening) -> None:
    for _ in range(5_000):
        listening.tracer.start_span("foreign").end()
    assert len(listening.collector._inside_events) < 2_500
    assert listening.collector.counts == SpanCounts(received=5_000, foreign=5_000)


def test_after_detaching_nothing_is_heard_and_the_listener_is_used_again() -> None:
    one = Listening()
    one.detach()
    one.tracer.start_span("unheard").end()
    assert one.collector.counts == SpanCounts()
    with one.collector.inside(one.collector.begin("s", 1)):
        assert not trace.get_current_span().get_span_context().is_valid
    others = [SpanCollector(_nothing), SpanCollector(_nothing)]
    detach = [attach(other, one.provider) for other in others]
    one.tracer.start_span("heard").end()
    for work in detach:
        work()
    assert [other.counts.received for other in others] == [1, 1]
    assert len(one.provider._active_span_processor._span_processors) == 1
    one.provider.shutdown()


class OwnProvider(trace.TracerProvider):
    def get_tracer(self, *arguments: Any, **named: Any) -> trace.Tracer:
        return trace.NoOpTracer()


def test_the_global_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    set_: list[TracerProvider] = []
    proxy = trace.ProxyTracerProvider()
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: set_[-1] if set_ else proxy)
    monkeypatch.setattr(trace, "set_tracer_provider", set_.append)
    collector = SpanCollector(_nothing)
    attach(collector)()
    detach = attach(collector)
    assert len(set_) == 1
    set_[0].get_tracer("agent").start_span("heard").end()
    assert collector.counts.received == 1
    detach()
    set_[0].shutdown()

    monkeypatch.setattr(trace, "get_tracer_provider", OwnProvider)
    with pytest.raises(InputError, match="its tracer provider is OwnProvider"):
        attach(collector)
