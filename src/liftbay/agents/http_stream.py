"""An answer that arrives as server-sent events: its text piece by piece, and what the events say besides."""

from __future__ import annotations

import time
from typing import Any

import aiohttp
import msgspec

from liftbay.agents.answer_form import AnswerForm
from liftbay.agents.http_file import ResponseStream
from liftbay.agents.inline_trace import parts_in
from liftbay.agents.templates import JsonPath
from liftbay.errors import AgentProtocol, AgentUnreachable
from liftbay.ports import AgentAnswer
from liftbay.transport.chat_endpoint import MAX_ANSWER_BYTES
from liftbay.transport.server_sent_events import EventParser, ServerSentEvent

_FAILURE = "error"  # the name of events by which servers say that they failed
_END_OF_EVENT = b"\n\n"


async def read_stream(form: AnswerForm, response: aiohttp.ClientResponse, begun: float) -> AgentAnswer:
    """The answer that the events of `response` make.

    Raises `AgentUnreachable` where the stream is cut in half, `AgentProtocol` and `AgentCrash` where it is no answer.
    """
    if form.stream is None or form.delta is None:
        raise AgentProtocol(
            "the answer is a stream of events, where JSON was expected",
            remedy="say in {file}, under [response.stream], where an event holds its text",
            file=form.file,
        )
    answer = _StreamedAnswer(form, form.stream, form.delta, begun)
    parser = EventParser()
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > MAX_ANSWER_BYTES:
            response.close()
            raise AgentProtocol("the answer is longer than {limit} MiB", limit=MAX_ANSWER_BYTES >> 20)
        for event in parser.feed(chunk):
            if answer.take(event):
                return answer.whole()
    unfinished = list(parser.feed(_END_OF_EVENT))
    if any(form.stream.done in (event.data, event.event) for event in unfinished):
        return answer.whole()
    if unfinished or form.stream.done is not None:
        raise AgentUnreachable(
            "the stream was cut in half: its last event is not finished"
            if form.stream.done is None
            else "the stream was cut in half: {done} did not come",
            remedy="if this is how it ends, check done under [response.stream] in {file}",
            done=form.stream.done,
            file=form.file,
        )
    return answer.whole()


class _StreamedAnswer:
    def __init__(self, form: AnswerForm, stream: ResponseStream, delta: JsonPath, begun: float) -> None:
        self._form = form
        self._stream = stream
        self._delta = delta
        self._begun = begun
        self._pieces: list[str] = []
        self._first_ms: float | None = None
        self._parts: dict[str, Any] = {}
        self._last: Any = None  # the last event that could have held text

    def take(self, event: ServerSentEvent) -> bool:
        """Take in an event; True where it was the last."""
        if self._stream.done is not None and self._stream.done in (event.data, event.event):
            return True
        carries_text = self._stream.event in (None, event.event)
        if event.event == _FAILURE and self._stream.event != _FAILURE:
            self._form.fail(event.data)
        if carries_text and not self._delta.steps:
            self._add(event.data)
        else:
            self._take_json(event.data, carries_text)
        return False

    def _take_json(self, data: str, carries_text: bool) -> None:
        try:
            value = msgspec.json.decode(data)
        except (msgspec.MsgspecError, RecursionError) as error:
            if not carries_text:
                return
            raise AgentProtocol(
                "an event is not JSON: {why}: {answer}",
                remedy="if it ends the stream, name it as done under [response.stream] in {file}",
                why=error,
                answer=self._form.beginning(data),
                file=self._form.file,
            ) from None
        self._form.refuse_failure(value)
        for name, found in parts_in(value, self._form.parts_of_events).items():
            if found or name not in self._parts:  # what an event leaves empty, an earlier one may have said
                self._parts[name] = found
        if carries_text:
            self._last = value
            if self._delta.find(value) not in (msgspec.UNSET, None):
                self._add(self._form.text_in(value, self._delta))

    def _add(self, piece: str) -> None:
        if self._first_ms is None and piece.strip():
            self._first_ms = (time.perf_counter() - self._begun) * 1000
        self._pieces.append(piece)

    def whole(self) -> AgentAnswer:
        """The answer that the events made."""
        if not self._pieces:
            raise AgentProtocol(
                "no event of the stream has a text at {path}; in the last one there is {there}",
                remedy="check the path in {file}",
                path=repr(str(self._delta)),
                there=self._form.beginning(self._delta.what_is_there(self._last)),
                file=self._form.file,
            )
        return AgentAnswer(
            text=self._form.shown("".join(self._pieces)),
            trace=self._form.trace_from(self._parts),
            time_to_first_token_ms=self._first_ms,
        )
