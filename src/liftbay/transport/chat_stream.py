"""One completion of an OpenAI-compatible endpoint with all that it tells, streamed or whole.

Servers differ in how they send tool calls in pieces, whether they tell tokens, and how they end a stream;
`Completion` is what is left when that is sorted out.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

import aiohttp
import msgspec

from liftbay.errors import AgentProtocol, AgentRefused, AgentUnreachable
from liftbay.transport.chat_endpoint import MAX_ANSWER_BYTES, ChatEndpoint, whole
from liftbay.transport.server_sent_events import events
from liftbay.transport.tool_call_pieces import RequestedCall, ToolCallPiece, ToolCalls

_DONE = "[DONE]"
_EVENT_STREAM = "text/event-stream"
_DOES_NOT_KNOW_A_FIELD = (400, 422)
_TO_END = 0.05  # seconds that a server has after its last word to end the body: the connection can be used again


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """What a model answered to one request; tokens are None where the server does not tell them."""

    text: str
    tool_calls: list[RequestedCall]
    finish_reason: str | None
    model: str | None  # as the server calls it
    input_tokens: int | None
    output_tokens: int | None
    first_visible_at: float | None  # on the clock of `time.perf_counter`; None: nothing visible came in a stream


class _Part(msgspec.Struct, frozen=True):
    content: Any = None
    tool_calls: list[ToolCallPiece] | None = None


class _Choice(msgspec.Struct, frozen=True):
    index: int = 0
    delta: _Part | None = None
    message: _Part | None = None
    finish_reason: str | None = None


class _Usage(msgspec.Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Answer(msgspec.Struct, frozen=True):
    """A chunk of a stream, or a whole answer."""

    choices: list[_Choice] | None = None
    model: str | None = None
    usage: _Usage | None = None
    error: Any = None


_ANSWERS = msgspec.json.Decoder(_Answer)


class ChatModel:
    """Asks an endpoint for completions, and remembers whether it takes `stream_options`."""

    def __init__(self, endpoint: ChatEndpoint, *, stream: bool) -> None:
        self._endpoint = endpoint
        self._stream = stream
        self._takes_options: bool | None = None  # None: not known yet

    async def ask(self, request: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Completion:
        """One try. Raises `AgentError`: half an answer is none."""
        if not self._stream:
            return await self._ask(request, headers)
        streamed = {**request, "stream": True}
        if self._takes_options is not False:
            try:
                completion = await self._ask({**streamed, "stream_options": {"include_usage": True}}, headers)
            except AgentRefused as error:
                if self._takes_options or error.values.get("status") not in _DOES_NOT_KNOW_A_FIELD:
                    raise
            else:
                self._takes_options = True
                return completion
        completion = await self._ask(streamed, headers)
        self._takes_options = False
        return completion

    async def _ask(self, request: Mapping[str, Any], headers: Mapping[str, str] | None) -> Completion:
        accept = _EVENT_STREAM if self._stream else "application/json"
        gathered = _Gathered(self._endpoint)
        async with self._endpoint.opened(
            msgspec.json.encode(request), {"Accept": accept, **(headers or {})}
        ) as response:
            if response.content_type == _EVENT_STREAM:
                await self._read_stream(response, gathered)
            else:
                gathered.take_whole(await whole(response))
        return gathered.completion()

    async def _read_stream(self, response: aiohttp.ClientResponse, gathered: _Gathered) -> None:
        async for event in events(_bounded(response), max_event_bytes=MAX_ANSWER_BYTES):
            if event.data.strip() == _DONE:
                gathered.ended = True
                with suppress(TimeoutError, aiohttp.ClientError):
                    async with asyncio.timeout(_TO_END):
                        await response.content.readany()
                return
            gathered.take_chunk(event.data.encode())


class _Gathered:
    """The pieces of one completion."""

    def __init__(self, endpoint: ChatEndpoint) -> None:
        self.ended = False
        self._endpoint = endpoint
        self._text: list[str] = []
        self._calls = ToolCalls()
        self._finish_reason: str | None = None
        self._model: str | None = None
        self._usage = _Usage()
        self._first_visible_at: float | None = None
        self._chosen = False

    def take_chunk(self, content: bytes) -> None:
        """One event of a stream."""
        answer = self._decoded(content)
        for choice in answer.choices or ():
            if choice.index == 0:
                text = self._take(choice, choice.delta or choice.message)
                if self._first_visible_at is None and text.strip():
                    self._first_visible_at = time.perf_counter()

    def take_whole(self, content: bytes) -> None:
        """An answer in one piece, which has no first token."""
        answer = self._decoded(content)
        if not answer.choices or answer.choices[0].message is None:
            raise AgentProtocol("the answer holds no choice: {answer}", answer=self._endpoint.beginning(content))
        self._take(answer.choices[0], answer.choices[0].message)
        self.ended = True

    def completion(self) -> Completion:
        """The whole. Raises `AgentUnreachable` where the end is missing."""
        if not self.ended and self._finish_reason is None:
            raise AgentUnreachable("the stream ended in the middle of the answer")
        if not self._chosen:
            raise AgentProtocol("the answer holds no choice: {answer}", answer=_DONE)
        return Completion(
            text="".join(self._text),
            tool_calls=self._calls.whole(),
            finish_reason=self._finish_reason,
            model=self._model,
            input_tokens=self._usage.prompt_tokens,
            output_tokens=self._usage.completion_tokens,
            first_visible_at=self._first_visible_at,
        )

    def _decoded(self, content: bytes) -> _Answer:
        try:
            answer = _ANSWERS.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise AgentProtocol(
                "the answer is not a chat completion: {why}: {answer}",
                why=error,
                answer=self._endpoint.beginning(content),
            ) from None
        if answer.error:
            kind = AgentUnreachable if _may_pass(answer.error) else AgentProtocol
            raise kind("the endpoint reports an error: {answer}", answer=self._endpoint.beginning(content))
        self._model = answer.model or self._model
        self._usage = answer.usage or self._usage
        return answer

    def _take(self, choice: _Choice, part: _Part | None) -> str:
        """Add a choice's part; returns its text."""
        self._chosen = True
        self._finish_reason = choice.finish_reason or self._finish_reason
        if part is None:
            return ""
        for piece in part.tool_calls or ():
            self._calls.take(piece)
        text = _text_of(part.content)
        self._text.append(text)
        return text


async def _bounded(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > MAX_ANSWER_BYTES:
            raise AgentProtocol("the answer is longer than {limit} MiB", limit=MAX_ANSWER_BYTES >> 20)
        yield chunk


def _text_of(content: Any) -> str:
    """The text of a message's content, which some servers send as a list of parts."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(text for text in texts if isinstance(text, str))
    raise AgentProtocol("the text of the answer is {kind}", kind=type(content).__name__)


def _may_pass(error: Any) -> bool:
    """Whether an error inside an answer is one of those that a status of 429 or 5xx would stand for."""
    code = error.get("code") if isinstance(error, dict) else None
    try:
        return int(code) == 429 or int(code) >= 500  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
