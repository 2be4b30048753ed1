"""The GenAI semantic conventions of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from liftbay.domain.spans import Span
from liftbay.telemetry.attribute_values import a_count, a_list, a_text, an_object, from_json
from liftbay.telemetry.dialects.documents import chunks_of
from liftbay.telemetry.failure import failure
from liftbay.telemetry.first_token import first_token_ms
from liftbay.telemetry.reading import Kind, Reading, RequestedCall, asked_for

OPERATION = "gen_ai.operation.name"
_OUTPUT = "gen_ai.output.messages"
_FINISH = "gen_ai.response.finish_reasons"


def read(span: Span) -> Reading | None:
    """What the span is by this convention; None where it is not of it, or is nothing that an EvalTrace holds.

    A span of embeddings is nothing: no language model answers, so it is none of the model calls that are counted
    and its tokens have another price.
    """
    attributes = span.attributes
    operation = attributes.get(OPERATION)
    if operation is None:  # versions before 1.27, and some instrumentations, name no operation
        if "gen_ai.system" in attributes and "gen_ai.request.model" in attributes:
            return _model(span)
        return None
    reader = _READERS.get(operation) if isinstance(operation, str) else None
    return None if reader is None else reader(span)


def _model(span: Span) -> Reading:
    attributes = span.attributes
    requested, hides_calls = asked_for(_requested(attributes), _finish_reasons(attributes))
    return Reading(
        kind=Kind.MODEL,
        name=a_text(attributes.get("gen_ai.response.model")) or a_text(attributes.get("gen_ai.request.model")),
        id=a_text(attributes.get("gen_ai.response.id")),
        input_tokens=_tokens(span, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        output_tokens=_tokens(span, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        first_token_ms=first_token_ms(span),
        requested=requested,
        hides_calls=hides_calls,
        error=failure(span),
    )


def _tokens(span: Span, *names: str) -> int | None:
    """The first that is there: the later names are those of older versions."""
    for name in names:
        if (count := a_count(span.attributes.get(name))) is not None:
            return count
    return None


def _requested(attributes: Mapping[str, Any]) -> tuple[RequestedCall, ...] | None:
    """The tool calls in the output; None where the output was not captured."""
    output = attributes.get(_OUTPUT)
    messages = None if output is None else _messages(output)
    return None if messages is None else tuple(_calls(messages))


def _finish_reasons(attributes: Mapping[str, Any]) -> list[str]:
    reasons = from_json(attributes.get("gen_ai.response.finish_reasons"))
    if isinstance(reasons, str):
        return [reasons]
    return [reason for reason in reasons if isinstance(reason, str)] if isinstance(reasons, list | tuple) else []


def _messages(output: Any) -> list[Any] | None:
    if isinstance(output, str) and '"tool_call"' not in output:  # need not be decoded
        return []
    return a_list(output)


def _calls(messages: Iterable[Any]) -> Iterable[RequestedCall]:
    for message in messages:
        parts = message.get("parts") if isinstance(message, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict) and part.get("type") == "tool_call" and (name := a_text(part.get("name"))):
                yield RequestedCall(name, an_object(part.get("arguments")))


def _tool(span: Span) -> Reading:
    attributes = span.attributes
    return Reading(
        kind=Kind.SKILL if "gen_ai.skill.name" in attributes else Kind.TOOL,
        name=a_text(attributes.get("gen_ai.tool.name")) or span.name.removeprefix("execute_tool").strip(),
        id=a_text(attributes.get("gen_ai.tool.call.id")),
        arguments=an_object(attributes.get("gen_ai.tool.call.arguments")),
        result=from_json(attributes.get("gen_ai.tool.call.result")),
        error=failure(span),
    )


def _retrieval(span: Span) -> Reading:
    listed = a_list(span.attributes.get("gen_ai.retrieval.documents"))
    if listed is None:
        return Reading(kind=Kind.RETRIEVAL)
    documents = [document for document in map(from_json, listed) if isinstance(document, dict)]
    return Reading(kind=Kind.RETRIEVAL, count=len(documents), chunks=chunks_of(documents))


def _memory(span: Span) -> Reading:
    attributes = span.attributes
    count = a_count(attributes.get("gen_ai.memory.record.count"))
    if count is None and (records := a_list(attributes.get("gen_ai.memory.records"))) is not None:
        count = len(records)
    searched = attributes[OPERATION] == "search_memory"  # the others write: nothing is injected
    return Reading(kind=Kind.MEMORY, count=count if searched else None)


def _plan(span: Span) -> Reading:
    messages = a_list(span.attributes.get(_OUTPUT)) or []
    texts = [
        part["content"]
        for message in messages
        if isinstance(message, dict) and isinstance(message.get("parts"), list)
        for part in message["parts"]
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("content"), str)
    ]
    return Reading(kind=Kind.PLAN, text="\n".join(texts) or None)


def _agent(span: Span) -> Reading:
    return Reading(kind=Kind.AGENT)


_READERS: dict[str, Callable[[Span], Reading]] = {
    "chat": _model,
    "generate_content": _model,
    "text_completion": _model,
    "execute_tool": _tool,
    "retrieval": _retrieval,
    "search_memory": _memory,
    "create_memory": _memory,
    "update_memory": _memory,
    "upsert_memory": _memory,
    "delete_memory": _memory,
    "plan": _plan,
    "invoke_agent": _agent,
    "invoke_workflow": _agent,
}
