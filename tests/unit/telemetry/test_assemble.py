"""From the spans of a turn to its EvalTrace."""

from __future__ import annotations

import itertools
import json
import random
import time
from importlib import metadata
from typing import Any

import pytest

from liftbay.domain.spans import Span
from liftbay.domain.trace import (
    Chunk,
    EvalTrace,
    Memory,
    ModelTokens,
    ModelUsage,
    Perception,
    Planning,
    Retrieval,
    ToolCallRecord,
    ToolLoad,
)
from liftbay.domain.vocabulary import Route
from liftbay.errors import InputError
from liftbay.telemetry.assemble import trace_of
from liftbay.telemetry.dialects import table
from liftbay.telemetry.reading import Kind, Reading

numbers = itertools.count(1)
MS = 1_000_000


def span(
    attributes: dict[str, Any] | None = None,
    *,
    inside: Span | str | None = None,
    at: float = 0,
    ms: float = 10,
    error: str | None = None,
    scope: str = "one",
    name: str = "work",
) -> Span:
    """A span that starts at `at` and lasts `ms`, both in milliseconds."""
    parent = inside.span_id if isinstance(inside, Span) else inside
    start = int(at * MS)
    return Span(
        "t",
        f"{next(numbers):016x}",
        name,
        start,
        start + int(ms * MS),
        parent_id=parent,
        attributes=attributes or {},
        error=error,
        scope=scope,
    )


def agent(**where: Any) -> Span:
    """An agent's root."""
    return span({"gen_ai.operation.name": "invoke_agent"}, **where)


def chat(attributes: dict[str, Any] | None = None, *, tokens: tuple[int, int] | None = (10, 5), **where: Any) -> Span:
    """A call of a model."""
    counted = (
        {} if tokens is None else {"gen_ai.usage.input_tokens": tokens[0], "gen_ai.usage.output_tokens": tokens[1]}
    )
    given = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", **counted, **(attributes or {})}
    return span(given, **where)


def tool(name: str, attributes: dict[str, Any] | None = None, **where: Any) -> Span:
    """A call of a tool."""
    given = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **(attributes or {})}
    return span(given, **where)


def retrieval(*contents: str, **where: Any) -> Span:
    """A search that found these."""
    documents = json.dumps([{"content": content} for content in contents])
    return span({"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": documents}, **where)


def asking(*names: str) -> dict[str, Any]:
    """Attributes of a model call that asks for these tools."""
    parts = [{"type": "tool_call", "name": name, "arguments": {"number": number}} for number, name in enumerate(names)]
    return {"gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}])}


def traced(*spans: Span) -> EvalTrace:
    """The trace, which does not depend on the order in which the spans came, nor on their coming twice."""
    found = trace_of(spans)
    assert found is not None
    mixed = [*spans, *spans[:2]]
    random.Random(1).shuffle(mixed)
    assert trace_of(mixed) == found
    return found


def test_spans_that_no_dialect_knows_are_no_trace() -> None:
    assert trace_of([]) is None
    assert trace_of([span(), span({"http.method": "GET"}), span({"gen_ai.operation.name": "embeddings"})]) is None


def test_a_part_that_no_span_speaks_of_is_none() -> None:
    assert traced(chat({"gen_ai.provider.name": "p"})) == EvalTrace(
        model=ModelUsage(1, 10, 5, by_model={"m": ModelTokens(1, 10, 5)})
    )


def test_the_whole() -> None:
    root = agent(ms=1000)
    seen = span({"liftbay.module": "perception", "liftbay.intents": ["buy", "ask"]}, inside=root, ms=20)
    planned = span({"gen_ai.operation.name": "plan", "liftbay.route": "SKILL_HIT"}, inside=root, at=30, ms=30)
    remembered = span({"gen_ai.operation.name": "search_memory", "gen_ai.memory.record.count": 3}, inside=root, at=70)
    skilled = span(
        {"gen_ai.operation.name": "execute_tool", "gen_ai.skill.name": "booking", "liftbay.skill.version": "7"},
        inside=root,
        at=90,
    )
    found = retrieval("a", "b", inside=root, at=110)
    called = tool("find", {"gen_ai.tool.call.arguments": {"q": 1}}, inside=root, at=130, ms=5)
    loaded = span({"liftbay.tool_load.kind": "mcp", "liftbay.tool_load.name": "hotels"}, inside=root, at=140)
    failed = span({"liftbay.tool_load.kind": "skill"}, inside=root, at=150, error="", name="load booking")
    answered = chat({"gen_ai.response.time_to_first_chunk": 0.004}, inside=root, at=160)
    assert traced(root, seen, planned, remembered, skilled, found, called, loaded, failed, answered) == EvalTrace(
        perception=Perception(True, "booking", "7", ["buy", "ask"], 20.0),
        planning=Planning(Route.SKILL_HIT, None, 30.0),
        memory=Memory(3, 10.0),
        tool_calls=[ToolCallRecord("find", {"q": 1}, success=True, latency_ms=5.0)],
        tool_loads=[ToolLoad("mcp", "hotels", True), ToolLoad("skill", "load booking", False)],
        retrievals=[Retrieval(2, [Chunk("a"), Chunk("b")], 10.0)],
        model=ModelUsage(1, 10, 5, 4.0, {"m": ModelTokens(1, 10, 5)}),
    )


def test_only_spans_of_inference_are_counted() -> None:
    usage = {"gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 15}
    root = span({"gen_ai.operation.name": "invoke_agent", **usage}, ms=100)
    flow = span({"openinference.span.kind": "CHAIN", "llm.token_count.prompt": 30}, inside=root)
    embedded = span({"gen_ai.operation.name": "embeddings", "gen_ai.usage.input_tokens": 7}, inside=root)
    model = traced(root, flow, embedded, chat(inside=root), chat(inside=root, tokens=(20, 10))).model
    assert model == ModelUsage(2, 30, 15, by_model={"m": ModelTokens(2, 30, 15)})


def test_models_are_counted_apart_and_together() -> None:
    named = {"gen_ai.response.model": "big"}
    model = traced(chat(), chat(named, at=20), chat({"gen_ai.request.model": ""}, at=40)).model
    assert model == ModelUsage(3, 30, 15, by_model={"m": ModelTokens(1, 10, 5), "big": ModelTokens(1, 10, 5)})


def test_a_sum_that_lacks_a_part_is_not_known_unless_the_call_failed() -> None:
    lacking = traced(chat(), chat(tokens=None, at=20)).model
    assert lacking == ModelUsage(2, None, None, by_model={"m": ModelTokens(2, None, None)})
    failed = traced(chat(), chat(tokens=None, at=20, error="503")).model
    assert failed == ModelUsage(2, 10, 5, by_model={"m": ModelTokens(2, 10, 5)})


def test_the_first_token_is_of_the_call_that_wrote_the_answer() -> None:
    early = chat({"gen_ai.response.time_to_first_chunk": 0.001})
    late = chat({"gen_ai.response.time_to_first_chunk": 0.002}, at=20)
    model = traced(early, late, chat(at=40)).model
    assert model is not None
    assert model.time_to_first_token_ms == 2.0


# One call that two instrumentations saw.


def test_a_model_span_in_a_model_span_is_one_call() -> None:
    framework = chat({"gen_ai.request.model": "alias"}, ms=50, scope="framework")
    request = span({"http.method": "POST"}, inside=framework, scope="http")
    client = chat({"gen_ai.response.time_to_first_chunk": 0.003}, inside=request, at=1, scope="client")
    model = traced(framework, request, client).model
    assert model == ModelUsage(1, 10, 5, 3.0, {"m": ModelTokens(1, 10, 5)})


def test_what_the_inner_span_lacks_the_outer_gives() -> None:
    framework = chat({"gen_ai.request.model": "named"}, ms=50, scope="framework")
    client = chat({"gen_ai.request.model": None}, inside=framework, at=1, tokens=None, scope="client")
    assert traced(framework, client).model == ModelUsage(1, 10, 5, by_model={"named": ModelTokens(1, 10, 5)})


def test_a_router_that_tried_two_models_made_two_calls() -> None:
    router = chat(tokens=(10, 5), ms=50)
    refused = chat({"gen_ai.response.model": "a"}, inside=router, at=1, tokens=None, error="429")
    answered = chat({"gen_ai.response.model": "b"}, inside=router, at=20)
    assert traced(router, refused, answered).model == ModelUsage(
        2, 10, 5, by_model={"a": ModelTokens(1, 0, 0), "b": ModelTokens(1, 10, 5)}
    )
    silent = [chat(inside=router, at=at, tokens=None) for at in (1, 20)]
    assert traced(router, *silent).model == ModelUsage(2, 10, 5, by_model={"m": ModelTokens(2, 10, 5)})


def test_spans_that_name_different_answers_are_different_calls() -> None:
    outer = chat({"gen_ai.response.id": "1"}, ms=50)
    inner = chat({"gen_ai.response.id": "2"}, inside=outer, at=1)
    assert traced(outer, inner).model == ModelUsage(2, 20, 10, by_model={"m": ModelTokens(2, 20, 10)})


def test_a_model_that_a_tool_asks_is_a_call_of_its_own() -> None:
    outer = chat(ms=100)
    called = tool("translate", inside=outer, at=1, ms=50)
    model = traced(outer, called, chat(inside=called, at=2)).model
    assert model is not None
    assert model.calls == 2


def test_spans_side_by_side_of_two_instrumentations_are_one_call() -> None:
    """Frameworks that do not hand their spans on as context; here two calls at the same time."""
    outer = [chat(at=at, ms=50, scope="framework") for at in (3, 5)]
    inner = [chat(at=at, ms=20, scope="client") for at in (3, 8)]  # the first starts with its own
    for spans in ((*outer, *inner), (*inner, *outer)):
        assert traced(*spans).model == ModelUsage(2, 20, 10, by_model={"m": ModelTokens(2, 20, 10)})


@pytest.mark.parametrize(
    "other",
    [
        {"scope": "framework"},  # of the same instrumentation
        {"scope": "client", "tokens": (11, 5)},
        {"scope": "client", "tokens": None},
        {"scope": "client", "at": 60},
        {"scope": "client", "ms": 90},  # ends later
    ],
)
def test_spans_side_by_side_that_are_two_calls(other: dict[str, Any]) -> None:
    model = traced(chat(ms=50, scope="framework"), chat(**{"at": 2, **other})).model
    assert model is not None
    assert model.calls == 2


def test_a_span_has_one_counterpart_beside_it_at_most() -> None:
    spans = [chat(ms=50, scope="framework"), chat(at=2, scope="client"), chat(at=20, scope="client")]
    model = traced(*spans).model
    assert model is not None
    assert model.calls == 2


def test_a_tool_that_framework_and_client_saw_is_one_call() -> None:
    outer = tool("find", {"gen_ai.tool.call.result": "two"}, ms=50, scope="framework")
    inner = tool("find", {"gen_ai.tool.call.arguments": {"q": 1}}, inside=outer, at=1, scope="mcp")
    assert traced(outer, inner).tool_calls == [ToolCallRecord("find", {"q": 1}, True, "two", latency_ms=50.0)]
    beside = tool("find", {"gen_ai.tool.call.arguments": {"q": 1}}, at=1, scope="mcp")
    assert traced(outer, beside).tool_calls == [ToolCallRecord("find", {"q": 1}, True, "two", latency_ms=50.0)]


def test_a_call_that_failed_and_was_tried_again_did_not_fail() -> None:
    outer = tool("find", ms=50, scope="framework")
    failed = tool("find", inside=outer, at=1, scope="mcp", error="reset")
    again = tool("find", inside=outer, at=20, scope="mcp")
    results = [traced(outer, failed, again), traced(outer, failed)]
    assert [(call.success, call.error) for trace in results for call in trace.tool_calls or []] == [
        (True, None),
        (False, "reset"),
    ]
    silent = tool("find", ms=50, scope="framework", error="")
    inner = tool("find", inside=silent, at=1, scope="mcp", error="reset")
    assert [call.error for call in traced(silent, inner).tool_calls or []] == ["reset"]


def test_tools_in_tools_are_calls() -> None:
    outer = tool("walk", ms=50)
    again = tool("walk", inside=outer, at=1)
    other = tool("read", inside=again, at=2, scope="mcp")
    calls = traced(outer, again, other).tool_calls
    assert [call.name for call in calls or []] == ["walk", "walk", "read"]


def test_a_retriever_that_asks_others_searches_once() -> None:
    outer = span({"openinference.span.kind": "RETRIEVER"}, ms=50)
    inner = [retrieval("a", inside=outer, at=1), retrieval("b", inside=outer, at=20)]
    merged = retrieval("b", "a", ms=50)
    parts = [retrieval("a", inside=merged, at=1), retrieval("b", inside=merged, at=20)]
    assert traced(merged, *parts).retrievals == [Retrieval(2, [Chunk("b"), Chunk("a")], 50.0)]
    assert traced(outer, inner[0]).retrievals == [Retrieval(1, [Chunk("a")], 50.0)]


# Calls that were asked for, and what "none" may mean.


def test_a_requested_call_and_its_span_are_one() -> None:
    called = tool("find", {"gen_ai.tool.call.arguments": {"q": 1}}, at=20)
    assert traced(chat(asking("find", "other")), called).tool_calls == [
        ToolCallRecord("find", {"q": 1}, True, latency_ms=10.0)
    ]


def test_requested_calls_stand_where_no_tool_span_is() -> None:
    assert traced(chat(asking("a", "b")), chat(asking("a"), at=20)).tool_calls == [
        ToolCallRecord(name, {"number": number}) for name, number in (("a", 0), ("b", 1), ("a", 0))
    ]


def test_requested_calls_give_the_arguments_that_a_span_lacks() -> None:
    said = {"gen_ai.tool.call.arguments": {"number": 0}}
    calls = traced(chat(asking("a", "b", "a")), tool("a", said, at=20), tool("a", at=30), tool("c", at=40)).tool_calls
    assert [(call.name, call.arguments) for call in calls or []] == [
        ("a", {"number": 0}),
        ("a", {"number": 2}),
        ("c", None),
    ]


STOPPED = {"gen_ai.response.finish_reasons": ["stop"]}
HIDDEN = {"gen_ai.response.finish_reasons": ["tool_calls"]}


@pytest.mark.parametrize(
    ("spans", "tools_known", "retrievals_known"),
    [
        ([chat()], False, False),  # content was not captured
        ([chat(STOPPED)], True, False),
        ([chat(asking())], True, False),
        ([chat(STOPPED), chat()], False, False),
        ([chat(STOPPED), chat(error="503", tokens=None)], True, False),
        ([chat(HIDDEN)], False, False),
        ([agent(), chat(asking("a")), chat(HIDDEN)], False, True),  # the list would have holes
        ([agent(), chat(asking("a")), chat()], False, True),
        ([agent()], True, True),
        ([agent(), chat()], True, True),
        ([agent(), chat(HIDDEN)], False, True),  # the agent's tools are not shown after all
        ([span({"openinference.span.kind": "CHAIN"})], True, True),
        ([span({"liftbay.module": "perception"})], True, True),
        ([span({"liftbay.route": "SKILL_MISS"})], False, False),
        ([retrieval("a")], False, True),
    ],
)
def test_when_none_may_be_said(spans: list[Span], tools_known: bool, retrievals_known: bool) -> None:
    trace = traced(*spans)
    assert trace.tool_calls == ([] if tools_known else None)
    assert (trace.retrievals is not None) == retrievals_known
    assert trace.tool_loads is None


def test_tool_calls_of_nested_agents_belong_to_the_trial() -> None:
    root = agent(ms=100)
    asked = tool("ask_guide", inside=root, ms=80)
    guide = agent(inside=asked, at=1, ms=70)
    calls = traced(root, asked, guide, tool("weather", inside=guide, at=2), tool("book", inside=root, at=90)).tool_calls
    assert [call.name for call in calls or []] == ["ask_guide", "weather", "book"]


def test_a_failed_tool() -> None:
    calls = traced(tool("a", error="full"), tool("b", error="", at=20)).tool_calls
    assert [(call.success, call.error) for call in calls or []] == [(False, "full"), (False, "")]


# Perception, planning, memory.


def test_what_is_decided_once_is_decided_first() -> None:
    spans = [
        span({"liftbay.intent": "buy", "liftbay.route": "SKILL_MISS", "liftbay.memory.rounds": 2}),
        span({"liftbay.intent": "other", "liftbay.route": "SKILL_HIT", "liftbay.memory.rounds": 9}, at=20),
    ]
    trace = traced(*spans)
    assert trace.perception == Perception(skill_hit=False, intents=["buy"])
    assert trace.planning == Planning(Route.SKILL_MISS)
    assert trace.memory == Memory(2)


@pytest.mark.parametrize(
    ("attributes", "perception"),
    [
        ({"liftbay.intents": []}, Perception(intents=[])),
        ({"liftbay.intents": '["a", "b"]'}, Perception(intents=["a", "b"])),
        ({"liftbay.intent": ""}, None),
        ({"liftbay.route": "SKILL_HIT"}, Perception(skill_hit=True)),
        ({"liftbay.route": "somewhere"}, None),
        ({"liftbay.route": "SKILL_MISS", "gen_ai.skill.name": "booking"}, Perception(True, "booking")),
        ({"liftbay.module": "elsewhere"}, None),
    ],
)
@pytest.mark.parametrize("dialect", [{"gen_ai.operation.name": "chat"}, {"openinference.span.kind": "LLM"}, {}])
def test_our_attributes_on_any_span(
    attributes: dict[str, Any], perception: Perception | None, dialect: dict[str, Any]
) -> None:
    found = trace_of([span({**dialect, **attributes})])
    assert found is not None
    assert found.perception == perception


def test_the_decision_of_a_plan_in_either_dialect() -> None:
    messages = [{"role": "assistant", "parts": [{"type": "text", "content": "search first"}]}]
    genai = span({"gen_ai.operation.name": "plan", "gen_ai.output.messages": messages})
    step = {"openinference.span.kind": "CHAIN", "liftbay.module": "planning", "output.value": "search first"}
    assert traced(genai).planning == traced(span(step)).planning == Planning(None, "search first", 10.0)


def test_latencies_are_of_the_outermost_spans_of_a_module() -> None:
    root = agent(ms=1000)
    plan = span({"gen_ai.operation.name": "plan"}, inside=root, at=0, ms=30)
    between = chat(inside=plan, at=1)
    part = span({"liftbay.module": "planning"}, inside=between, at=2)
    other = span({"liftbay.module": "memory"}, inside=part, at=3, ms=4)
    again = span({"gen_ai.operation.name": "plan"}, inside=root, at=50, ms=12)
    trace = traced(root, plan, between, part, other, again)
    assert trace.planning == Planning(latency_ms=42.0)
    assert trace.memory == Memory(latency_ms=4.0)


def test_a_module_that_a_span_names_goes_before_what_it_is() -> None:
    trace = traced(span({"gen_ai.operation.name": "search_memory", "liftbay.module": "perception"}))
    assert trace.memory is None
    assert trace.perception == Perception(latency_ms=10.0)


def test_writing_memory_injects_nothing() -> None:
    assert traced(span({"gen_ai.operation.name": "create_memory", "gen_ai.memory.record.count": 3})).memory == Memory(
        None, 10.0
    )


def test_clocks_that_go_back() -> None:
    assert traced(span({"liftbay.module": "memory"}, ms=-5)).memory == Memory(latency_ms=0.0)


# Faulty and hostile spans.


def test_spans_that_hold_one_another() -> None:
    def ring(attributes: dict[str, Any], *ids: str) -> list[Span]:
        return [
            Span("t", one, "x", 0, 10 * MS, parent_id=above, attributes=attributes)
            for one, above in zip(ids, (*ids[1:], ids[0]), strict=True)
        ]

    calls = ring(chat().attributes, "a", "b", "c")
    own = ring({"liftbay.module": "memory"}, "d")
    trace = traced(*calls, *own, *ring({}, "e", "f"), chat(inside="e"))
    assert trace.model is not None
    assert (trace.model.calls, trace.model.input_tokens) == (2, 20)  # the ring is one call
    assert trace.memory == Memory(latency_ms=10.0)


@pytest.mark.parametrize("attributes", [{"gen_ai.operation.name": "chat"}, {"liftbay.module": "memory"}, {}])
def test_deep_spans_take_no_longer_than_others(attributes: dict[str, Any]) -> None:
    spans = [Span("t", f"{0:016x}", "x", 0, 1, attributes={"openinference.span.kind": "CHAIN"})]
    for number in range(1, 30_000):
        spans.append(Span("t", f"{number:016x}", "x", number, number, f"{number - 1:016x}", attributes))
    spans.append(chat(inside=spans[-1]))
    begun = time.process_time()
    assert trace_of(spans[::-1]) is not None
    assert time.process_time() - begun < 5


def test_a_flood_of_calls_beside_one_another_takes_no_longer_than_others() -> None:
    spans = [chat(at=number, ms=100_000 + number, scope=str(number % 2)) for number in range(10_000)]
    begun = time.process_time()
    assert trace_of(spans) is not None
    assert time.process_time() - begun < 5


# Dialects of other packages.


class Entry(metadata.EntryPoint):
    """An entry point that is not installed."""

    def load(self) -> Any:
        """What stands behind it."""
        if self.value == "broken":
            raise ImportError("no such thing")
        return 7 if self.value == "number" else read_ours


def read_ours(one: Span) -> Reading | None:
    """A dialect that knows one attribute."""
    return Reading(kind=Kind.TOOL, name=one.attributes["my.tool"]) if "my.tool" in one.attributes else None


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets what is installed."""

    def install(*values: str) -> None:
        found = [Entry("mine", value, table.GROUP) for value in values]
        monkeypatch.setattr(metadata, "entry_points", lambda group: found if group == table.GROUP else [])
        table.readers.cache_clear()

    yield install
    monkeypatch.undo()
    table.readers.cache_clear()


def test_a_dialect_of_another_package(entries: Any) -> None:
    entries("good")
    assert traced(span({"my.tool": "find"})).tool_calls == [ToolCallRecord("find", success=True, latency_ms=10.0)]


@pytest.mark.parametrize(("value", "why"), [("broken", "ImportError: no such thing"), ("number", "not callable")])
def test_a_broken_dialect_is_named(entries: Any, value: str, why: str) -> None:
    entries(value)
    with pytest.raises(InputError, match=why) as raised:
        trace_of([chat()])
    assert raised.value.place == "liftbay.dialects: mine"
    assert raised.value.values["package"] == value


def test_what_both_dialects_say_of_one_span_is_said_once() -> None:
    """OpenInference can write GenAI attributes beside its own."""
    both = chat({"openinference.span.kind": "LLM", "llm.token_count.prompt": 10, "llm.token_count.completion": 5})
    model = traced(both).model
    assert model is not None
    assert (model.calls, model.input_tokens, model.output_tokens) == (1, 10, 5)
