"""Requests over connections that are kept open: what aiohttp leaves to whoever asks."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace

import aiohttp
from yarl import URL

_BIG_BODY = 1 << 20  # aiohttp wants bodies above this as a file, so that the loop is not held up


def notes_reuse() -> aiohttp.TraceConfig:
    """What a session that `answered` uses must be made with."""

    async def reused(
        session: aiohttp.ClientSession, context: SimpleNamespace, parameters: aiohttp.TraceConnectionReuseconnParams
    ) -> None:
        context.trace_request_ctx.reused = True

    notes = aiohttp.TraceConfig()
    notes.on_connection_reuseconn.append(reused)
    return notes


@asynccontextmanager
async def answered(
    session: aiohttp.ClientSession, method: str, url: URL, headers: Mapping[str, str], body: bytes | None
) -> AsyncIterator[aiohttp.ClientResponse]:
    """The answer to a request, while its body is read; redirects are not followed.

    A server may close a connection in the moment in which it is used again, as llama.cpp does after each stream.
    Then the request is sent once more: such a server has not taken it.
    """
    while True:
        use = SimpleNamespace(reused=False)
        data = io.BytesIO(body) if body is not None and len(body) > _BIG_BODY else body
        try:
            response = await session.request(
                method, url, data=data, headers=headers, allow_redirects=False, trace_request_ctx=use
            )
            break
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            if not use.reused:
                raise
    async with response:
        with _ended_with_connection(response):
            yield response


class MalformedBody(aiohttp.ClientPayloadError):
    """The bytes of a body are not those of HTTP."""


@contextmanager
def _ended_with_connection(response: aiohttp.ClientResponse) -> Iterator[None]:
    """Reading the body ends when the connection does.

    aiohttp closes the connection where a chunk is malformed, but does not tell whoever reads the body.
    """
    protocol = response.connection.protocol if response.connection else None
    if protocol is None:  # the body is here, and the connection is given back
        yield
        return
    closed = protocol.closed

    def end(_closed: asyncio.Future[None] | None) -> None:
        if not response.content.is_eof() and response.content.exception() is None:
            response.content.set_exception(MalformedBody(str(protocol.exception() or "the connection was closed")))

    if closed is None:
        end(None)
        yield
        return
    closed.add_done_callback(end)
    try:
        yield
    finally:
        for callback in (end, _look_at):
            closed.remove_done_callback(callback)
        closed.add_done_callback(_look_at)  # one for all requests of the connection


def _look_at(closed: asyncio.Future[None]) -> None:
    """Somebody has to, or asyncio complains of an error that nobody asked for."""
    if not closed.cancelled():
        closed.exception()
