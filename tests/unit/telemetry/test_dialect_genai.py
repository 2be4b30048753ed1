"""The GenAI conventions, with every trap that is known of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from liftbay.domain.spans import Span, SpanEvent
from liftbay.domain.trace import Chunk
from liftbay.telemetry.dialects.genai import read
from liftbay.telemetry.reading import Kind, Reading, RequestedCall

SECOND = 1_000_000_000


def read_span(
    operation: str | None, *, error: str | None = None, events: list[SpanEvent] | None = None, **attributes: Any
) -> Reading | None:
    """The reading of a span of one second; `__` in names stands for a point."""
    named = {name.replace("__", "."): value for name, value in attributes.items()}
    if operation is not None:
        named["gen_ai.operation.name"] = operation
    return read(Span("t", "s", "the span", SECOND, 2 * SECOND, attributes=named, error=error, events=events or []))


def model(**attributes: Any) -> Reading:
    """The reading of a model call."""
    found = read_span("chat", **attributes)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        ("chat", Kind.MODEL),
        ("generate_content", Kind.MODEL),
        ("text_completion", Kind.MODEL),
        ("execute_tool", Kind.TOOL),
        ("retrieval", Kind.RETRIEVAL),
        ("search_memory", Kind.MEMORY),
        ("create_memory", Kind.MEMORY),
        ("update_memory", Kind.MEMORY),
        ("upsert_memory", Kind.MEMORY),
        ("delete_memory", Kind.MEMORY),
        ("plan", Kind.PLAN),
        ("invoke_agent", Kind.AGENT),
        ("invoke_workflow", Kind.AGENT),
    ],
)
def test_kinds(operation: str, kind: Kind) -> None:
    found = read_span(operation)
    assert found is not None
    assert found.kind is kind


@pytest.mark.parametrize("operation", ["embeddings", "create_agent", "unknown", "agent_handoff", 7, None])
def test_spans_that_are_nothing_to_us(operation: Any) -> None:
    assert read_span(operation, gen_ai__provider__name="openai", gen_ai__request__model="m") is None


def test_a_model_call() -> None:
    found = model(
        gen_ai__provider__name="openai",
        gen_ai__request__model="asked",
        gen_ai__response__model="answered",
        gen_ai__response__id="r1",
        gen_ai__usage__input_tokens=100,
        gen_ai__usage__output_tokens=20,
    )
    assert (found.name, found.id, found.input_tokens, found.output_tokens) == ("answered", "r1", 100, 20)
    assert model(gen_ai__request__model="asked").name == "asked"


def test_cached_and_reasoning_tokens_are_inside_the_totals() -> None:
    found = model(
        gen_ai__usage__input_tokens=100,
        gen_ai__usage__cache_read__input_tokens=64,
        gen_ai__usage__cache_creation__input_tokens=10,
        gen_ai__usage__output_tokens=20,
        gen_ai__usage__reasoning__output_tokens=8,
    )
    assert (found.input_tokens, found.output_tokens) == (100, 20)


def test_old_names_of_tokens_and_provider() -> None:
    old: dict[str, Any] = {"gen_ai__usage__prompt_tokens": 100, "gen_ai__usage__completion_tokens": 20}
    assert (model(**old).input_tokens, model(**old).output_tokens) == (100, 20)
    both = model(gen_ai__usage__prompt_tokens=1, gen_ai__usage__input_tokens=100)
    assert both.input_tokens == 100
    # `gen_ai.system` is the old name of `gen_ai.provider.name`; spans of that time may name no operation.
    found = read_span(None, gen_ai__system="openai", gen_ai__request__model="m", **old)
    assert found is not None
    assert (found.kind, found.name, found.input_tokens) == (Kind.MODEL, "m", 100)


@pytest.mark.parametrize("value", [-1, 1.5, True, "many", None, float("nan"), [3]])
def test_tokens_that_are_no_number_of_tokens_are_not_known(value: Any) -> None:
    assert model(gen_ai__usage__input_tokens=value).input_tokens is None


@pytest.mark.parametrize("value", [100, 100.0, "100"])
def test_tokens_in_any_form_of_a_whole_number(value: Any) -> None:
    assert model(gen_ai__usage__input_tokens=value).input_tokens == 100


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gen_ai.response.time_to_first_chunk", 0.25),
        ("gen_ai.client.operation.time_to_first_chunk", 0.25),
        ("gen_ai.server.time_to_first_token", 0.25),
        ("ai.response.msToFirstChunk", 250),
        ("gen_ai.response.time_to_first_token", 0.25),  # seconds
        ("gen_ai.response.time_to_first_token", 250_000),  # microseconds: 250 s would be after the end
        ("gen_ai.response.time_to_first_token", 250_000_000),  # nanoseconds
        ("gen_ai.response.time_to_first_chunk", "0.25"),
    ],
)
def test_the_first_token_in_every_spelling_and_unit(name: str, value: Any) -> None:
    assert model(**{name: value}).first_token_ms == pytest.approx(250.0)


@pytest.mark.parametrize("name", ["First Token Stream Event", "llm.content.completion.chunk"])
def test_the_first_token_as_an_event(name: str) -> None:
    events = [SpanEvent(name, SECOND + at * 1_000_000) for at in (400, 250, 300)]
    assert model(events=[SpanEvent("other", SECOND), *events]).first_token_ms == pytest.approx(250.0)


def test_no_first_token() -> None:
    assert model().first_token_ms is None
    assert model(gen_ai__response__time_to_first_chunk=-1).first_token_ms is None
    assert model(gen_ai__response__time_to_first_token=1e15).first_token_ms is None
    assert model(events=[SpanEvent("other", SECOND)]).first_token_ms is None


def output(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    """Output messages with these parts."""
    return [{"role": "assistant", "parts": list(parts), "finish_reason": "tool_call"}]


CALL = {"type": "tool_call", "id": "c", "name": "search", "arguments": {"q": "x"}}
TEXT = {"type": "text", "content": "hello"}


@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize("arguments", [{"q": "x"}, '{"q": "x"}'])
def test_requested_calls(as_text: bool, arguments: Any) -> None:
    messages = output(TEXT, {**CALL, "arguments": arguments}, {**CALL, "name": "other", "arguments": "[1]"})
    found = model(gen_ai__output__messages=json.dumps(messages) if as_text else messages)
    assert found.requested == (RequestedCall("search", {"q": "x"}), RequestedCall("other", None))
    assert not found.hides_calls


def test_absent_content_is_not_captured_and_no_calls() -> None:
    assert (model().requested, model().hides_calls) == (None, False)
    answered = model(gen_ai__output__messages=json.dumps(output(TEXT)))
    assert (answered.requested, answered.hides_calls) == ((), False)
    stopped = model(gen_ai__response__finish_reasons=["stop"])
    assert (stopped.requested, stopped.hides_calls) == ((), False)


@pytest.mark.parametrize("reason", ["tool_call", "tool_calls", "tool_use", "function_call"])
def test_finish_reasons_betray_calls_that_are_not_shown(reason: str) -> None:
    for shown in ({}, {"gen_ai__output__messages": json.dumps(output(TEXT))}):
        for reasons in ([reason], ["stop", reason], reason, json.dumps([reason])):
            found = model(gen_ai__response__finish_reasons=reasons, **shown)
            assert (found.requested, found.hides_calls) == (None, True)


@pytest.mark.parametrize("messages", ['[{"type": "tool_call"', "7", '["tool_call"]', '[{"parts": "tool_call"}]', {}])
def test_broken_output_is_no_call(messages: Any) -> None:
    assert not model(gen_ai__output__messages=messages).requested


@pytest.mark.parametrize("arguments", [{"city": "京都"}, '{"city": "京都"}'])
def test_a_tool_call(arguments: Any) -> None:
    found = read_span(
        "execute_tool",
        gen_ai__tool__name="find",
        gen_ai__tool__call__id="c1",
        gen_ai__tool__call__arguments=arguments,
        gen_ai__tool__call__result='{"hotels": 2}',
    )
    assert found == Reading(
        kind=Kind.TOOL, name="find", id="c1", arguments={"city": "京都"}, result={"hotels": 2}, error=None
    )


@pytest.mark.parametrize(
    ("written", "result"),
    [("plain", "plain"), ('"quoted"', "quoted"), ("[1, 2", "[1, 2"), ("42", "42"), (42, 42), ([1], [1]), ("", "")],
)
def test_results_in_every_form(written: Any, result: Any) -> None:
    found = read_span("execute_tool", gen_ai__tool__call__result=written)
    assert found is not None
    assert found.result == result


@pytest.mark.parametrize("arguments", ["京都", "[1]", "{", 7, None])
def test_arguments_that_are_no_object_are_not_known(arguments: Any) -> None:
    found = read_span("execute_tool", gen_ai__tool__call__arguments=arguments)
    assert found is not None
    assert (found.name, found.arguments) == ("the span", None)


def test_why_a_tool_failed() -> None:
    def error(**given: Any) -> str | None:
        found = read_span("execute_tool", **given)
        assert found is not None
        return found.error

    raised = SpanEvent("exception", 1, {"exception.type": "ValueError", "exception.message": "full"})
    assert error() is None
    assert error(events=[raised]) is None  # recorded, and handled
    assert error(error="") == ""
    assert error(error="timed out") == "timed out"
    assert error(error__type="Timeout") == "Timeout"
    assert error(error="status with a traceback", events=[raised]) == "ValueError: full"
    assert error(error="status", events=[SpanEvent("exception", 1, {"exception.stacktrace": "…"})]) == "status"


def test_a_skill_is_no_tool_call() -> None:
    found = read_span("execute_tool", gen_ai__skill__name="booking", gen_ai__tool__name="load_skill")
    assert found is not None
    assert found.kind is Kind.SKILL


DOCUMENTS = [{"id": "a", "score": 0.9, "content": "first"}, {"id": 2, "score": -1.5, "content": {"body": "second"}}]


@pytest.mark.parametrize(
    "documents", [DOCUMENTS, json.dumps(DOCUMENTS), [json.dumps(document) for document in DOCUMENTS]]
)
def test_a_retrieval(documents: Any) -> None:
    found = read_span("retrieval", gen_ai__retrieval__query__text="q", gen_ai__retrieval__documents=documents)
    chunks = [Chunk("first", "a", 0.9), Chunk('{"body":"second"}', "2", -1.5)]
    assert found == Reading(kind=Kind.RETRIEVAL, count=2, chunks=chunks)


def test_content_of_documents_is_optional() -> None:
    bare = [{"id": "a", "score": 0.9}, {"id": "b"}]
    assert read_span("retrieval", gen_ai__retrieval__documents=bare) == Reading(kind=Kind.RETRIEVAL, count=2)
    assert read_span("retrieval", gen_ai__retrieval__documents="[]") == Reading(kind=Kind.RETRIEVAL, count=0, chunks=[])
    assert read_span("retrieval") == Reading(kind=Kind.RETRIEVAL)


def test_memory() -> None:
    assert read_span("search_memory", gen_ai__memory__record__count=4) == Reading(kind=Kind.MEMORY, count=4)
    assert read_span("search_memory", gen_ai__memory__records='[{"id": 1}]') == Reading(kind=Kind.MEMORY, count=1)
    assert read_span("create_memory", gen_ai__memory__record__count=4) == Reading(kind=Kind.MEMORY)


def test_a_plan() -> None:
    messages = output(TEXT, CALL, {"type": "text", "content": "then"})
    assert read_span("plan", gen_ai__output__messages=messages) == Reading(kind=Kind.PLAN, text="hello\nthen")
    assert read_span("plan", gen_ai__output__messages="[1]") == Reading(kind=Kind.PLAN)
