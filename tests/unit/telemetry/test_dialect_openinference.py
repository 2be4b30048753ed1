"""OpenInference, with every trap that is known of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from liftbay.domain.spans import Span, SpanEvent
from liftbay.domain.trace import Chunk
from liftbay.telemetry.dialects.openinference import read
from liftbay.telemetry.reading import Kind, Reading, RequestedCall

SECOND = 1_000_000_000


def read_span(
    kind: Any, attributes: dict[str, Any] | None = None, *, error: str | None = None, events: Any = ()
) -> Reading | None:
    """The reading of a span of one second."""
    named = {"openinference.span.kind": kind, **(attributes or {})}
    return read(Span("t", "s", "the span", SECOND, 2 * SECOND, attributes=named, error=error, events=list(events)))


def model(**attributes: Any) -> Reading:
    """The reading of a model call; `__` in names stands for a point."""
    found = read_span("LLM", {name.replace("__", "."): value for name, value in attributes.items()})
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("kind", "read_as"),
    [
        ("LLM", Kind.MODEL),
        ("RETRIEVER", Kind.RETRIEVAL),
        ("AGENT", Kind.AGENT),
        ("CHAIN", Kind.AGENT),
        ("llm", Kind.MODEL),
    ],
)
def test_kinds(kind: str, read_as: Kind) -> None:
    found = read_span(kind)
    assert found is not None
    assert found.kind is read_as


@pytest.mark.parametrize("kind", ["EMBEDDING", "RERANKER", "GUARDRAIL", "EVALUATOR", "UNKNOWN", "", 7, None])
def test_spans_that_are_nothing_to_us(kind: Any) -> None:
    assert read_span(kind, {"llm.token_count.prompt": 7}) is None


def test_a_model_call_with_its_tokens_counted_once() -> None:
    found = model(
        llm__model_name="m",
        llm__token_count__prompt=100,
        llm__token_count__completion=20,
        llm__token_count__total=120,
        llm__token_count__prompt_details__cache_read=64,
        llm__token_count__completion_details__reasoning=8,
    )
    assert found == Reading(kind=Kind.MODEL, name="m", input_tokens=100, output_tokens=20)


def test_the_model_that_answered_goes_before_the_one_that_was_asked() -> None:
    assert model(llm__request__model_name="asked", llm__response__model_name="answered").name == "answered"
    assert model(llm__request__model_name="asked").name == "asked"


def test_the_first_token_is_an_event() -> None:
    found = read_span("LLM", events=[SpanEvent("First Token Stream Event", SECOND + 250_000_000)])
    assert found is not None
    assert found.first_token_ms == 250.0


def test_more_than_ten_requested_calls_keep_their_order() -> None:
    calls = {
        f"llm.output_messages.0.message.tool_calls.{number}.tool_call.function.{part}": value
        for number in sorted(range(12), key=str)  # 0, 1, 10, 11, 2, …
        for part, value in (("name", f"tool{number}"), ("arguments", json.dumps({"n": number})))
    }
    found = read_span("LLM", calls)
    assert found is not None
    assert found.requested == tuple(RequestedCall(f"tool{number}", {"n": number}) for number in range(12))


def test_the_call_of_the_time_when_there_was_one_a_message() -> None:
    found = model(
        llm__output_messages__0__message__function_call_name="search",
        llm__output_messages__0__message__function_call_arguments_json='{"q": "x"}',
    )
    assert found.requested == (RequestedCall("search", {"q": "x"}),)


def test_absent_content_is_not_captured_and_no_calls() -> None:
    assert (model().requested, model().hides_calls) == (None, False)
    for shown in ({"llm__output_messages__0__message__content": "hello"}, {"llm__finish_reason": "stop"}):
        assert (model(**shown).requested, model(**shown).hides_calls) == ((), False)
    for hidden in ({}, {"llm__output_messages__0__message__role": "assistant"}):
        found = model(llm__finish_reason="tool_calls", **hidden)
        assert (found.requested, found.hides_calls) == (None, True)


def tool(**attributes: Any) -> Reading | None:
    """The reading of a tool call; `__` in names stands for a point."""
    return read_span("TOOL", {name.replace("__", "."): value for name, value in attributes.items()})


def test_a_tool_call() -> None:
    found = tool(tool__name="find", input__value='{"city": "京都"}', output__value='[{"name": "Inn"}]')
    assert found == Reading(kind=Kind.TOOL, name="find", arguments={"city": "京都"}, result=[{"name": "Inn"}])


SCHEMA = json.dumps({"type": "object", "properties": {"city": {"type": "string"}}})


@pytest.mark.parametrize(
    ("attributes", "arguments"),
    [
        ({"tool__parameters": '{"city": "京都"}'}, {"city": "京都"}),
        ({"tool__parameters": {"city": "京都"}}, {"city": "京都"}),
        ({"tool__parameters": SCHEMA, "input__value": '{"city": "京都"}'}, {"city": "京都"}),
        ({"tool__parameters": SCHEMA, "input__value": "京都"}, None),  # the schema is not what it was called with
        ({"input__value": "__REDACTED__"}, None),
        ({}, None),
    ],
)
def test_arguments_and_schemas(attributes: dict[str, Any], arguments: dict[str, Any] | None) -> None:
    found = tool(tool__name="find", **attributes)
    assert found is not None
    assert found.arguments == arguments


@pytest.mark.parametrize(
    ("output", "result"),
    [
        ("sunny", "sunny"),
        ("__REDACTED__", None),
        ('{"type": "tool", "data": {"content": "[1, 2]", "tool_call_id": "c"}}', [1, 2]),  # LangChain's message
        ('{"type": "tool", "size": 3}', {"type": "tool", "size": 3}),
    ],
)
def test_results(output: str, result: Any) -> None:
    found = tool(tool__name="find", output__value=output)
    assert found is not None
    assert found.result == result


def test_a_handoff_and_a_list_of_tools_are_no_calls() -> None:
    assert tool(input__value="desk", output__value="billing") is None
    assert tool(output__value='["find", "reserve"]') is None


def test_a_tool_call_that_is_named_by_its_span_alone() -> None:
    found = tool(input__value='{"city": "京都"}')
    assert found is not None
    assert (found.name, found.arguments) == ("the span", {"city": "京都"})


def test_a_tool_that_failed() -> None:
    found = read_span("TOOL", {"tool.name": "find"}, error="no answer")
    assert found is not None
    assert found.error == "no answer"


def test_a_retrieval_of_more_than_ten_documents_keeps_their_order() -> None:
    documents = {
        f"retrieval.documents.{number}.document.{part}": value
        for number in sorted(range(12), key=str)
        for part, value in (("content", f"text {number}"), ("id", f"d{number}"), ("score", number / 2))
    }
    chunks = [Chunk(f"text {number}", f"d{number}", number / 2) for number in range(12)]
    assert read_span("RETRIEVER", documents) == Reading(kind=Kind.RETRIEVAL, count=12, chunks=chunks)


@pytest.mark.parametrize("as_text", [True, False])
def test_documents_that_are_not_flattened(as_text: bool) -> None:
    documents = [{"document.content": "a", "document.id": "1"}]
    given = {"retrieval.documents": json.dumps(documents) if as_text else documents}
    assert read_span("RETRIEVER", given) == Reading(kind=Kind.RETRIEVAL, count=1, chunks=[Chunk("a", "1")])


def test_what_a_retrieval_does_not_say() -> None:
    nothing = Reading(kind=Kind.RETRIEVAL)
    none_found = Reading(kind=Kind.RETRIEVAL, count=0, chunks=[])
    assert read_span("RETRIEVER") == nothing
    assert read_span("RETRIEVER", {"retrieval.documents": []}) == none_found
    assert read_span("RETRIEVER", {"output.value": "[]"}) == none_found
    hidden = {f"retrieval.documents.{number}.document.content": "__REDACTED__" for number in range(3)}
    assert read_span("RETRIEVER", hidden) == Reading(kind=Kind.RETRIEVAL, count=3)


def test_a_plan_is_a_step_that_says_so() -> None:
    said = {"liftbay.module": "planning", "output.value": "search first"}
    assert read_span("CHAIN", said) == Reading(kind=Kind.PLAN, text="search first")
    assert read_span("CHAIN", {**said, "output.value": "__REDACTED__"}) == Reading(kind=Kind.PLAN)
    assert read_span("CHAIN", {"output.value": "an answer"}) == Reading(kind=Kind.AGENT)
