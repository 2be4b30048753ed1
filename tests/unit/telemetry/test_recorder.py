"""The recorder: what an agent records arrives in the EvalTrace."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from liftbay.domain.spans import Span
from liftbay.domain.trace import Chunk, EvalTrace, Memory, ModelTokens, Perception, Planning, ToolLoad
from liftbay.domain.vocabulary import Route
from liftbay.errors import MissingExtra
from liftbay.telemetry import recorder
from liftbay.telemetry.assemble import trace_of
from liftbay.telemetry.otlp import PROTOBUF, decode

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Where the spans of the process go meanwhile."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", provider)
    yield exporter
    provider.shutdown()


def sent(exporter: InMemorySpanExporter) -> list[Span]:
    """The spans as liftbay receives them."""
    return decode(encode_spans(exporter.get_finished_spans()).SerializeToString(), PROTOBUF)


def recorded(exporter: InMemorySpanExporter) -> EvalTrace:
    """What was recorded."""
    found = trace_of(sent(exporter))
    assert found is not None
    return found


def test_everything_that_is_recorded_arrives(exported: InMemorySpanExporter) -> None:
    with recorder.agent("desk", "1.4", session_id="s1"):
        with recorder.tool_load("mcp", "hotels"):
            pass
        with recorder.tool_load("skill", "booking") as load:
            load.error = "not found"
        with recorder.perception() as seen:
            seen.intents = ("buy", "ask")
            seen.skill = "booking"
        with recorder.planning() as plan:
            plan.route = Route.SKILL_HIT
            plan.decision = "call the 'find' tool"
        with recorder.memory() as memory:
            memory.rounds = 3
        with recorder.skill("booking", "7"):
            with recorder.retrieval("京都") as search:
                search.chunks = ["first", {"id": "b", "score": 0.5, "content": "second"}]
            with recorder.tool("find", {"city": "京都", "nights": 2}, call_id="c1") as call:
                call.result = [{"name": "Inn"}]
            with recorder.tool("reserve") as call:
                call.error = "full"
        with recorder.generation(), recorder.model_call("m") as answer:
            answer.first_token()
            first = answer.first_token_seconds
            answer.first_token()
            answer.model, answer.input_tokens, answer.output_tokens = "m-2026", 100, 20
    assert first is not None
    trace_ = recorded(exported)
    perception, planning, memory_ = trace_.perception, trace_.planning, trace_.memory
    assert perception is not None
    assert planning is not None
    assert memory_ is not None
    latencies = [perception.latency_ms, planning.latency_ms, memory_.latency_ms]
    assert perception == Perception(True, "booking", "7", ["buy", "ask"], latencies[0])
    assert planning == Planning(Route.SKILL_HIT, "call the 'find' tool", latencies[1])
    assert memory_ == Memory(3, latencies[2])
    assert trace_.tool_loads == [ToolLoad("mcp", "hotels", True), ToolLoad("skill", "booking", False)]
    assert trace_.tool_calls is not None
    assert [(one.name, one.arguments, one.success, one.result, one.error) for one in trace_.tool_calls] == [
        ("find", {"city": "京都", "nights": 2}, True, [{"name": "Inn"}], None),
        ("reserve", None, False, None, "full"),
    ]
    assert trace_.retrievals is not None
    assert [(one.count, one.chunks) for one in trace_.retrievals] == [(2, [Chunk("first"), Chunk("second", "b", 0.5)])]
    latencies += [one.latency_ms for one in trace_.tool_calls]
    latencies += [one.latency_ms for one in trace_.retrievals]
    assert all(latency is not None and latency > 0 for latency in latencies)
    assert trace_.model is not None
    assert trace_.model.by_model == {"m-2026": ModelTokens(1, 100, 20)}
    assert trace_.model.time_to_first_token_ms == pytest.approx(first * 1000)
    root = sent(exported)[-1]
    assert root.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "desk",
        "gen_ai.agent.version": "1.4",
        "gen_ai.conversation.id": "s1",
    }


def test_what_is_not_set_is_not_reported(exported: InMemorySpanExporter) -> None:
    with recorder.perception(), recorder.planning(), recorder.memory():
        pass
    with recorder.model_call("m"), recorder.retrieval("q"), recorder.tool("find"):
        pass
    trace_ = recorded(exported)
    assert trace_.perception is not None
    assert (trace_.perception.intents, trace_.perception.skill, trace_.perception.skill_hit) == (None, None, None)
    assert trace_.planning is not None
    assert (trace_.planning.route, trace_.planning.decision) == (None, None)
    assert trace_.memory is not None
    assert trace_.memory.rounds is None
    assert trace_.model is not None
    assert (trace_.model.input_tokens, trace_.model.time_to_first_token_ms) == (None, None)
    assert [one.chunks for one in trace_.retrievals or []] == [None]
    assert [(one.arguments, one.result) for one in trace_.tool_calls or []] == [(None, None)]


def test_one_intent_and_a_route_that_says_that_no_skill_was_hit(exported: InMemorySpanExporter) -> None:
    with recorder.perception() as seen:
        seen.intent = "knowledge_qa"
    with recorder.planning() as plan:
        plan.route = "SKILL_MISS"
    found = recorded(exported)
    assert found.perception is not None
    assert (found.perception.intents, found.perception.skill_hit) == (["knowledge_qa"], False)
    assert found.planning is not None
    assert found.planning.route is Route.SKILL_MISS


@pytest.mark.parametrize("result", ["text", "", 42, 0.5, True, {"a": [1]}, [1, "b"], ["a", "b"], []])
def test_results_of_every_kind(exported: InMemorySpanExporter, result: Any) -> None:
    with recorder.tool("find", {"when": {1, 2}, "how": object}) as call:
        call.result = result
    (found,) = recorded(exported).tool_calls or []
    assert found.result == result
    assert found.arguments is not None
    assert set(found.arguments) == {"when", "how"}


BLOCKS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "agent": lambda: recorder.agent("a"),
    "perception": recorder.perception,
    "planning": recorder.planning,
    "memory": recorder.memory,
    "retrieval": lambda: recorder.retrieval("q"),
    "tool": lambda: recorder.tool("t"),
    "skill": lambda: recorder.skill("s"),
    "tool_load": lambda: recorder.tool_load("mcp", "t"),
    "generation": recorder.generation,
    "model_call": lambda: recorder.model_call("m"),
}


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("raised", [ValueError("full"), asyncio.CancelledError()])
def test_an_exception_marks_the_span_and_is_raised_on(
    exported: InMemorySpanExporter, block: str, raised: BaseException
) -> None:
    with pytest.raises(type(raised)) as caught, BLOCKS[block]():
        raise raised
    assert caught.value is raised
    (span,) = sent(exported)
    assert span.error == str(raised)
    assert span.attributes["error.type"] == type(raised).__name__
    assert [event.name for event in span.events] == ["exception"]


def test_a_tool_that_raised_and_a_load_that_failed(exported: InMemorySpanExporter) -> None:
    def reserve() -> None:
        with recorder.tool("reserve") as call:
            call.result = "half"
            raise ValueError("full")

    with pytest.raises(ValueError, match="full"):
        reserve()
    with pytest.raises(OSError, match="gone"), recorder.tool_load("mcp", "hotels"):
        raise OSError("gone")
    found = recorded(exported)
    assert [(one.success, one.result, one.error) for one in found.tool_calls or []] == [
        (False, "half", "ValueError: full")
    ]
    assert found.tool_loads == [ToolLoad("mcp", "hotels", False)]


def test_a_stream_that_nobody_reads_to_its_end_is_no_failure(exported: InMemorySpanExporter) -> None:
    def stream() -> Iterator[int]:
        with recorder.generation():
            yield 1
            yield 2

    parts = stream()
    assert next(parts) == 1
    parts.close()  # type: ignore[attr-defined]
    (span,) = exported.get_finished_spans()
    assert span.status.is_ok


@pytest.mark.parametrize("name", ["traceparent", "Traceparent", "TRACEPARENT"])
def test_spans_belong_to_the_request(exported: InMemorySpanExporter, name: str) -> None:
    with recorder.continued({name: PARENT, "Accept": "*/*"}), recorder.agent("a"), recorder.generation():
        pass
    with recorder.agent("other"):
        pass
    inner, outer, other = sent(exported)
    assert (outer.trace_id, outer.parent_id) == tuple(PARENT.split("-")[1:3])
    assert (inner.trace_id, inner.parent_id) == (outer.trace_id, outer.span_id)
    assert other.parent_id is None


@pytest.mark.parametrize("headers", [{}, {"traceparent": "nonsense"}])
def test_without_a_request_to_continue_a_trace_begins(exported: InMemorySpanExporter, headers: dict[str, str]) -> None:
    with recorder.continued(headers), recorder.agent("a"):
        pass
    (span,) = exported.get_finished_spans()
    assert span.parent is None


def test_without_an_exporter_nothing_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", None)
    with recorder.agent("a"), recorder.tool("find", {"q": 1}) as call:
        call.result = 1
        assert not trace.get_current_span().is_recording()


@contextmanager
def receiving() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """An address, and the paths and bodies that were posted to it."""
    posted: list[tuple[str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", posted
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


AGENT = """
import sys
from liftbay.telemetry import recorder

recorder.export_to(sys.argv[1])
with recorder.continued({"traceparent": sys.argv[2]}), recorder.agent("desk"), recorder.tool("find"):
    pass
"""


@pytest.mark.parametrize("path", ["", "/", "/v1/traces"])
def test_an_agent_in_a_process_of_its_own_sends_its_spans(path: str) -> None:
    with receiving() as (address, posted):
        subprocess.run([sys.executable, "-c", AGENT, address + path, PARENT], check=True, timeout=60)
    ((where, body),) = posted
    assert where == "/v1/traces"
    spans = decode(body, PROTOBUF)
    assert [span.name for span in spans] == ["execute_tool find", "invoke_agent desk"]
    assert {span.trace_id for span in spans} == {PARENT.split("-")[1]}


def test_an_exporter_beside_one_that_is_there(exported: InMemorySpanExporter) -> None:
    with receiving() as (address, posted):
        recorder.export_to(address)
        with recorder.agent("desk"):
            pass
        provider = trace.get_tracer_provider()
        assert isinstance(provider, TracerProvider)
        assert provider.force_flush()
    assert len(posted) == 1
    assert len(exported.get_finished_spans()) == 1


WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
from liftbay.errors import MissingExtra
try:
    from liftbay.telemetry import recorder
    recorder.export_to("http://127.0.0.1:9")
except MissingExtra as error:
    print(error.values["extra"])
"""


@pytest.mark.parametrize("module", ["opentelemetry.trace", "opentelemetry.exporter.otlp.proto.http.trace_exporter"])
def test_what_is_not_installed_is_named(module: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT, module], check=True, timeout=60, capture_output=True, text=True
    )
    assert ended.stdout == "otel\n"
    assert MissingExtra.exit_code == 2
