"""A language model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import aiohttp
import msgspec
from opentelemetry.trace import Span, Status, StatusCode

from liftbay_demo import spans
from liftbay_demo.telemetry import tracer

_OK = 200
_SECONDS = 60.0
KEY = "DEMO_MODEL_KEY"


class ModelError(Exception):
    """The model gave no answer, or none of use."""


class ModelClient:
    """Asks the model; each call has a span."""

    def __init__(self, url: str, model: str) -> None:
        self._address = f"{url.rstrip('/')}/chat/completions"
        self._model = model
        self._http: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Get ready to ask."""
        key = os.environ.get(KEY)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=_SECONDS))

    async def close(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.close()

    async def structured(self, messages: Sequence[dict[str, str]], name: str, schema: dict[str, Any]) -> Any:
        """An answer that follows the JSON Schema. Raises `ModelError`."""
        form = {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}
        span = self._span()
        try:
            async with self._posted({"messages": list(messages), "response_format": form}) as response:
                answer = msgspec.json.decode(await response.read())
            _count(span, answer)
            return msgspec.json.decode(answer["choices"][0]["message"]["content"])
        except _FAILURES as error:
            raise self._failed(span, error) from error
        finally:
            span.end()

    async def streamed(self, messages: Sequence[dict[str, str]]) -> AsyncGenerator[str, None]:
        """A text, piece by piece. Raises `ModelError`."""
        body = {"messages": list(messages), "stream": True, "stream_options": {"include_usage": True}}
        span = self._span()
        begun = time.perf_counter()
        first = True
        try:
            async with self._posted(body) as response:
                async for line in response.content:
                    data = line.removeprefix(b"data:").strip()
                    if not line.startswith(b"data:") or data == b"[DONE]":
                        continue
                    event = msgspec.json.decode(data)
                    _count(span, event)
                    piece = event["choices"][0].get("delta", {}).get("content") if event.get("choices") else None
                    if piece:
                        if first:
                            span.set_attribute(spans.FIRST_CHUNK, time.perf_counter() - begun)
                            first = False
                        yield piece
        except _FAILURES as error:
            raise self._failed(span, error) from error
        finally:
            span.end()

    def _posted(self, body: dict[str, Any]) -> _Posted:
        if self._http is None:
            raise ModelError("the agent is not running")
        return _Posted(self._http.post(self._address, json={"model": self._model, "temperature": 0} | body))

    def _span(self) -> Span:
        # not made current: a generator that is left half read would never give the context back
        attributes = {spans.OPERATION: "chat", spans.REQUEST_MODEL: self._model}
        return tracer.start_span(f"chat {self._model}", attributes=attributes)

    def _failed(self, span: Span, error: Exception) -> ModelError:
        why = str(error) or type(error).__name__
        span.set_attribute(spans.ERROR_TYPE, type(error).__name__)
        span.set_status(Status(StatusCode.ERROR, why))
        return error if isinstance(error, ModelError) else ModelError(why)


class _Posted:
    """A request whose answer is checked for its status."""

    def __init__(self, request: Any) -> None:
        self._request = request

    async def __aenter__(self) -> aiohttp.ClientResponse:
        response: aiohttp.ClientResponse = await self._request.__aenter__()
        if response.status != _OK:
            text = (await response.text(errors="replace"))[:300]
            await self._request.__aexit__(None, None, None)
            raise ModelError(f"status {response.status}: {text}")
        return response

    async def __aexit__(self, *error: Any) -> None:
        await self._request.__aexit__(*error)


_FAILURES = (ModelError, aiohttp.ClientError, TimeoutError, ValueError, KeyError, IndexError, TypeError, AttributeError)


def _count(span: Span, answer: dict[str, Any]) -> None:
    usage = answer.get("usage")
    if isinstance(usage, dict):
        for name, key in ((spans.INPUT_TOKENS, "prompt_tokens"), (spans.OUTPUT_TOKENS, "completion_tokens")):
            if isinstance(usage.get(key), int):
                span.set_attribute(name, usage[key])
    if isinstance(answer.get("model"), str):
        span.set_attribute(spans.RESPONSE_MODEL, answer["model"])
