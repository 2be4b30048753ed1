"""Server-sent events as they arrive: the event-stream format of the WHATWG HTML standard, section 9.2."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator

import msgspec

from liftbay.errors import AgentProtocol

MAX_EVENT_BYTES = 8 << 20
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class ServerSentEvent(msgspec.Struct, frozen=True):
    """One event."""

    event: str  # "message" where the server names no other
    data: str  # its lines, joined by "\n"
    id: str = ""  # the last that the server gave


async def events(
    chunks: AsyncIterator[bytes], *, max_event_bytes: int = MAX_EVENT_BYTES
) -> AsyncIterator[ServerSentEvent]:
    """The events of a body that arrives in `chunks`, cut anywhere; what the end leaves unfinished is dropped.

    Raises `AgentProtocol` where an event is longer than `max_event_bytes`.
    """
    parser = EventParser(max_event_bytes)
    async for chunk in chunks:
        for event in parser.feed(chunk):
            yield event


class EventParser:
    """Takes bytes and gives the events that they complete."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._limit = max_event_bytes
        self._size = 0  # of the event so far, with its unfinished line
        self._line: list[bytes] = []  # the unfinished line, in pieces
        self._begun = False  # the first line is over
        self._after_return = False  # the last chunk ended with CR: LF would belong to it
        self._event = ""
        self._data: list[str] = []
        self._id = ""

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        """The events that `chunk` completes."""
        if not chunk:
            return
        if self._after_return:
            chunk = chunk.removeprefix(b"\n")
        *ended, rest = _LINE_END.split(chunk)
        self._after_return = chunk.endswith(b"\r")
        for piece in ended:
            self._grow(piece)
            line = b"".join(self._line)
            self._line.clear()
            if (event := self._take(line)) is not None:
                yield event
        self._grow(rest)

    def _grow(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            raise AgentProtocol("an event of the stream is longer than {limit} KiB", limit=self._limit >> 10)
        if piece:
            self._line.append(piece)

    def _take(self, line: bytes) -> ServerSentEvent | None:
        """Read one whole line; an empty one ends the event."""
        if not self._begun:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            self._begun = True
        if not line:
            return self._ended()
        name, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        if name == b"data":
            self._data.append(text)
            return None
        self._size -= len(line)  # of other lines at most the last value is kept
        if name == b"event":
            self._event = text
        elif name == b"id" and "\0" not in text:
            self._id = text
        return None

    def _ended(self) -> ServerSentEvent | None:
        event = ServerSentEvent(self._event or "message", "\n".join(self._data), self._id) if self._data else None
        self._event = ""
        self._data.clear()
        self._size = 0
        return event
