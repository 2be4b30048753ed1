"""OpenInference: kinds of spans, and lists and objects flattened into names such as `retrieval.documents.0.…`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from liftbay.domain.spans import Span
from liftbay.domain.trace import Chunk
from liftbay.domain.vocabulary import Module
from liftbay.telemetry.attribute_values import a_count, a_list, a_text, an_object, from_json
from liftbay.telemetry.dialects.documents import chunks_of
from liftbay.telemetry.dialects.liftbay import MODULE
from liftbay.telemetry.failure import failure
from liftbay.telemetry.first_token import first_token_ms
from liftbay.telemetry.reading import Kind, Reading, RequestedCall, asked_for

KIND = "openinference.span.kind"
_OUTPUT = "llm.output_messages"
_DOCUMENTS = "retrieval.documents"
_REDACTED = "__REDACTED__"  # stands in place of what is configured not to be captured


def read(span: Span) -> Reading | None:
    """What the span is by this convention; None where it is not of it, or is nothing that an EvalTrace holds.

    A span of embeddings is nothing: no language model answers, so it is none of the model calls that are counted
    and its tokens have another price.
    """
    kind = span.attributes.get(KIND)
    reader = _READERS.get(kind.upper()) if isinstance(kind, str) else None
    return None if reader is None else reader(span)


def _model(span: Span) -> Reading:
    attributes = span.attributes
    ended = a_text(attributes.get("llm.finish_reason"))
    requested, hides_calls = asked_for(_requested(attributes), [ended] if ended else [])
    return Reading(
        kind=Kind.MODEL,
        name=a_text(attributes.get("llm.response.model_name"))
        or a_text(attributes.get("llm.model_name"))
        or a_text(attributes.get("llm.request.model_name")),
        input_tokens=a_count(attributes.get("llm.token_count.prompt")),
        output_tokens=a_count(attributes.get("llm.token_count.completion")),
        first_token_ms=first_token_ms(span),
        requested=requested,
        hides_calls=hides_calls,
        error=failure(span),
    )


def _requested(attributes: Mapping[str, Any]) -> tuple[RequestedCall, ...] | None:
    """The tool calls in the output."""
    messages = _unflattened(attributes, _OUTPUT)
    return tuple(call for message in messages for call in _calls_of(message)) if messages else None


def _calls_of(message: Mapping[str, Any]) -> list[RequestedCall]:
    calls = _unflattened(message, "message.tool_calls")
    found = [(call.get("tool_call.function.name"), call.get("tool_call.function.arguments")) for call in calls]
    if "message.function_call_name" in message:  # before there were several calls in one message
        found.append((message["message.function_call_name"], message.get("message.function_call_arguments_json")))
    return [RequestedCall(name, an_object(arguments)) for name, arguments in found if isinstance(name, str) and name]


def _unflattened(attributes: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The items of a list whose parts stand under `name.NUMBER.rest`, in the order of their numbers.

    A list that stands under `name` itself is taken as it is.
    """
    if name in attributes:
        return [item for item in map(from_json, a_list(attributes[name]) or ()) if isinstance(item, dict)]
    items: dict[int, dict[str, Any]] = {}
    begin = f"{name}."
    skipped = len(begin)
    for key, value in attributes.items():
        if key.startswith(begin):
            number, _, rest = key[skipped:].partition(".")
            if number.isdecimal():
                items.setdefault(int(number), {})[rest] = value
    return [items[number] for number in sorted(items)]


def _tool(span: Span) -> Reading | None:
    """A call of a tool; a handoff to another agent or a listing of tools, which name none, is no call."""
    attributes = span.attributes
    name, arguments = a_text(attributes.get("tool.name")), _arguments(attributes)
    if name is None and arguments is None:
        return None
    return Reading(
        kind=Kind.TOOL,
        name=name or span.name,
        id=a_text(attributes.get("tool.id")) or a_text(attributes.get("tool_call.id")),
        arguments=arguments,
        result=_result(attributes.get("output.value")),
        error=failure(span),
    )


def _result(output: Any) -> Any:
    """The output; LangChain wraps it into the message that carries it back to the model."""
    result = None if output == _REDACTED else from_json(output)
    if isinstance(result, dict) and result.get("type") == "tool" and isinstance(result.get("data"), dict):
        return from_json(result["data"].get("content"))
    return result


def _arguments(attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    """The input, or else the parameters, unless those are the schema that some instrumentations write there."""
    given = an_object(attributes.get("input.value"))
    if given is not None:
        return given
    parameters = an_object(attributes.get("tool.parameters"))
    if parameters is not None and parameters.get("type") == "object" and isinstance(parameters.get("properties"), dict):
        return None
    return parameters


def _retrieval(span: Span) -> Reading:
    attributes = span.attributes
    documents = [
        {name.removeprefix("document."): value for name, value in document.items() if value != _REDACTED}
        for document in _unflattened(attributes, _DOCUMENTS)
    ]
    count, chunks = _found(documents, attributes)
    return Reading(kind=Kind.RETRIEVAL, count=count, chunks=chunks)


def _found(
    documents: Sequence[Mapping[str, Any]], attributes: Mapping[str, Any]
) -> tuple[int | None, list[Chunk] | None]:
    """How many passages, and which. No documents at all mean that none was found only where an output was captured."""
    if not documents and _DOCUMENTS not in attributes and a_list(attributes.get("output.value")) != []:
        return None, None
    return len(documents), chunks_of(documents)


def _agent(span: Span) -> Reading:
    attributes = span.attributes
    if attributes.get(MODULE) == Module.PLANNING:  # there is no kind of span for a plan
        return Reading(kind=Kind.PLAN, text=_text(attributes.get("output.value")))
    return Reading(kind=Kind.AGENT)


def _text(value: Any) -> str | None:
    text = a_text(value)
    return None if text == _REDACTED else text


_READERS: dict[str, Callable[[Span], Reading | None]] = {
    "LLM": _model,
    "TOOL": _tool,
    "RETRIEVER": _retrieval,
    "AGENT": _agent,
    "CHAIN": _agent,
}
