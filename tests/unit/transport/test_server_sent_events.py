"""The event stream: every form of it, cut anywhere, and never more in memory than allowed."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import synchronous

from liftbay.errors import AgentProtocol
from liftbay.transport.server_sent_events import EventParser, ServerSentEvent, events


def parsed(*chunks: bytes, limit: int = 1 << 20) -> list[ServerSentEvent]:
    """The events of the chunks."""
    parser = EventParser(limit)
    return [event for chunk in chunks for event in parser.feed(chunk)]


def datas(*chunks: bytes) -> list[str]:
    """What the events carry."""
    return [event.data for event in parsed(*chunks)]


STREAM = (
    b"\xef\xbb\xbf: hello\r\n"
    b"event: delta\r\nid: 7\r\ndata: \xe4\xba\xac\xe9\x83\xbd\r\ndata:  two spaces\r\n\r\n"
    b"data:no space\n\n"
    b"data\r\r"
    b"retry: 10\nunknown: x\n\n"
    b"event: lost\n\n"
    b"id: a\0b\ndata: \xff\n\n"
    b"data: unfinished\n"
)
EVENTS = [
    ServerSentEvent("delta", "京都\n two spaces", "7"),
    ServerSentEvent("message", "no space", "7"),
    ServerSentEvent("message", "", "7"),
    ServerSentEvent("message", "\ufffd", "7"),
]


def test_every_form() -> None:
    assert parsed(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM))))
def test_the_chunks_may_be_cut_anywhere(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    assert parsed(*(STREAM[start:end] for start, end in itertools.pairwise(edges))) == EVENTS


def test_byte_by_byte() -> None:
    assert parsed(*(bytes([byte]) for byte in STREAM)) == EVENTS


def test_a_return_and_a_line_feed_in_two_chunks_are_one_line_end() -> None:
    assert datas(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == ["a\nb"]
    assert datas(b"data: a\r", b"", b"\n", b"\n") == ["a"]


def test_a_byte_order_mark_counts_at_the_beginning_alone() -> None:
    assert datas(b"\xef\xbb", b"\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n") == ["a"]


@pytest.mark.parametrize(
    "chunks", [[b"data: " + b"x" * 200], [b"x" * 60, b"x" * 60], [b"data: " + b"x" * 20 + b"\n"] * 5]
)
def test_an_event_without_end_is_cut_off(chunks: list[bytes]) -> None:
    with pytest.raises(AgentProtocol, match="longer than"):
        parsed(*chunks, limit=100)


def test_the_limit_is_for_one_event_and_comments_are_not_kept() -> None:
    stream = (b": still there\n" * 10 + b"data: " + b"x" * 50 + b"\n\n") * 10
    assert len(parsed(stream, limit=100)) == 10


@synchronous
async def test_events_come_as_soon_as_they_are_whole() -> None:
    seen: list[str] = []

    async def chunks() -> AsyncIterator[bytes]:
        yield b"data: one\n\ndata: t"
        assert seen == ["one"]
        yield b"wo\n\n"
        assert seen == ["one", "two"]

    async for event in events(chunks()):
        seen.append(event.data)
    assert seen == ["one", "two"]
