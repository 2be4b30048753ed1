"""The recorder for Python agents: one context manager for each module, ordinary spans of OpenTelemetry.

::

    from liftbay.telemetry import recorder

    with recorder.agent("desk", "1.4", session_id=session):
        with recorder.perception() as it:
            it.intent = classify(question)
        with recorder.tool("find_hotels", {"city": city}) as call:
            call.result = find_hotels(city)

What is set on the object goes onto the span when the block ends; what is left None is not reported. An exception in a
block marks its span as failed and is raised on. Without an exporter nothing is sent anywhere and little time is spent.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec

from liftbay.domain.vocabulary import Module, Route
from liftbay.errors import MissingExtra
from liftbay.telemetry.dialects import liftbay as own
from liftbay.telemetry.dialects.genai import OPERATION

try:
    # The SDK is not used here: an agent in liftbay's own process shows by having loaded it that it makes spans.
    import opentelemetry.sdk.trace  # noqa: F401
    from opentelemetry import context, trace
    from opentelemetry.trace import Span, StatusCode
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:
    raise MissingExtra(extra="otel") from None

_SOON = 200  # milliseconds after which finished spans are sent: a trial waits for its own
_PATH = "/v1/traces"


class Perceived(msgspec.Struct):
    """What the agent took the user to want."""

    intent: str | None = None
    intents: Sequence[str] | None = None  # where there are several
    skill: str | None = None  # the Skill that was hit


class Planned(msgspec.Struct):
    """What the agent decided; the route SKILL_MISS says too that no Skill was hit."""

    route: Route | str | None = None
    decision: str | None = None


class Remembered(msgspec.Struct):
    """What short-term memory gave."""

    rounds: int | None = None  # of history that were injected


class Retrieved(msgspec.Struct):
    """What a search of the knowledge base gave: texts, or mappings with `content`, `id` and `score`."""

    chunks: Sequence[str | Mapping[str, Any]] | None = None


class Called(msgspec.Struct):
    """What a tool gave back; `error` is for tools that fail without an exception."""

    result: Any = None
    error: str | None = None


class Loaded(msgspec.Struct):
    """How loading went; `error` is for loaders that fail without an exception."""

    error: str | None = None


class Answered(msgspec.Struct):
    """One answer of a language model; cached and reasoning tokens are inside the totals."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None  # that answered, where it is not the one that was asked
    first_token_seconds: float | None = None
    begun: float = msgspec.field(default_factory=time.perf_counter)

    def first_token(self) -> None:
        """Call this when a piece of the answer arrives; the first call counts."""
        if self.first_token_seconds is None:
            self.first_token_seconds = time.perf_counter() - self.begun


@contextmanager
def agent(name: str, version: str | None = None, *, session_id: str | None = None) -> Iterator[None]:
    """The root: one turn of the agent."""
    attributes = {
        OPERATION: "invoke_agent",
        "gen_ai.agent.name": name,
        "gen_ai.agent.version": version,
        "gen_ai.conversation.id": session_id,
    }
    with _span(f"invoke_agent {name}", attributes):
        yield


@contextmanager
def perception() -> Iterator[Perceived]:
    """Finding out what the user wants."""
    it = Perceived()
    with _span("perception", {own.MODULE: Module.PERCEPTION}) as span:
        try:
            yield it
        finally:
            _set(span, {own.INTENT: it.intent, own.INTENTS: it.intents, own.SKILL: it.skill})


@contextmanager
def planning() -> Iterator[Planned]:
    """Deciding what to do."""
    it = Planned()
    with _span("plan", {OPERATION: "plan", own.MODULE: Module.PLANNING}) as span:
        try:
            yield it
        finally:
            said = [{"role": "assistant", "parts": [{"type": "text", "content": it.decision}]}]
            _set(span, {own.ROUTE: it.route, "gen_ai.output.messages": None if it.decision is None else said})


@contextmanager
def memory() -> Iterator[Remembered]:
    """Fetching what was said before."""
    it = Remembered()
    with _span("search_memory", {OPERATION: "search_memory", own.MODULE: Module.MEMORY}) as span:
        try:
            yield it
        finally:
            _set(span, {own.ROUNDS: it.rounds})


@contextmanager
def retrieval(query: str) -> Iterator[Retrieved]:
    """A search of the knowledge base."""
    it = Retrieved()
    with _span("retrieval", {OPERATION: "retrieval", "gen_ai.retrieval.query.text": query}) as span:
        try:
            yield it
        finally:
            if it.chunks is not None:
                documents = [{"content": one} if isinstance(one, str) else one for one in it.chunks]
                _set(span, {"gen_ai.retrieval.documents": documents})


@contextmanager
def tool(name: str, arguments: Mapping[str, Any] | None = None, *, call_id: str | None = None) -> Iterator[Called]:
    """A call of a tool."""
    it = Called()
    attributes = {
        OPERATION: "execute_tool",
        own.MODULE: Module.TOOL,
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": call_id,
        "gen_ai.tool.call.arguments": arguments,
    }
    with _span(f"execute_tool {name}", attributes) as span:
        try:
            yield it
        finally:
            _set(span, {"gen_ai.tool.call.result": it.result})
            _fail(span, it.error)


@contextmanager
def skill(name: str, version: str | None = None) -> Iterator[None]:
    """The work of a Skill; the version tells when a published change is in effect."""
    attributes = {OPERATION: "execute_tool", own.SKILL: name, own.SKILL_VERSION: version}
    with _span(f"execute_tool {name}", attributes):
        yield


@contextmanager
def tool_load(kind: str, name: str) -> Iterator[Loaded]:
    """Loading an MCP server (`mcp`) or a Skill (`skill`)."""
    it = Loaded()
    with _span(f"load {name}", {own.LOAD_KIND: kind, own.LOAD_NAME: name}) as span:
        try:
            yield it
        finally:
            _fail(span, it.error)


@contextmanager
def generation() -> Iterator[None]:
    """Writing the answer."""
    with _span("generation", {own.MODULE: Module.GENERATION}):
        yield


@contextmanager
def model_call(model: str) -> Iterator[Answered]:
    """One call of a language model; not for a client that an instrumentation records already."""
    it = Answered()
    with _span(f"chat {model}", {OPERATION: "chat", "gen_ai.request.model": model}) as span:
        try:
            yield it
        finally:
            _set(
                span,
                {
                    "gen_ai.response.model": it.model,
                    "gen_ai.usage.input_tokens": it.input_tokens,
                    "gen_ai.usage.output_tokens": it.output_tokens,
                    "gen_ai.response.time_to_first_chunk": it.first_token_seconds,
                },
            )


@contextmanager
def continued(headers: Mapping[str, str]) -> Iterator[None]:
    """Spans of this block belong to the request with these headers (`traceparent`)."""
    carrier = {name.lower(): value for name, value in headers.items()}
    token = context.attach(TraceContextTextMapPropagator().extract(carrier))
    try:
        yield
    finally:
        context.detach(token)


def export_to(endpoint: str) -> None:
    """Send spans to liftbay: for an agent in a process of its own that has no exporter yet. Call it once.

    Raises `MissingExtra` where the exporter is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        raise MissingExtra(extra="otel") from None
    address = endpoint if urlsplit(endpoint).path.strip("/") else endpoint.rstrip("/") + _PATH
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=address), schedule_delay_millis=_SOON))


@contextmanager
def _span(name: str, attributes: Mapping[str, Any]) -> Iterator[Span]:
    tracer = trace.get_tracer("liftbay")
    with tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as span:
        _set(span, attributes)
        try:
            yield span
        except GeneratorExit:  # whoever reads a stream has enough of it
            raise
        except BaseException as error:
            span.record_exception(error)
            span.set_attribute("error.type", type(error).__qualname__)
            _fail(span, str(error))
            raise


def _set(span: Span, attributes: Mapping[str, Any]) -> None:
    for name, value in attributes.items():
        if value is not None:
            span.set_attribute(name, _attribute(value))


def _attribute(value: Any) -> str | bool | int | float | list[str]:
    """The value as a span holds it: objects and lists of anything but texts as JSON."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return [str(item) for item in value]
    return msgspec.json.encode(value, enc_hook=str).decode()


def _fail(span: Span, error: str | None) -> None:
    if error is not None:
        span.set_status(StatusCode.ERROR, error)
