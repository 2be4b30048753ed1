"""The receiver of OTLP/HTTP: traces go to the collector; metrics and logs are taken and thrown away."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator
from itertools import islice

from aiohttp import web

from liftbay.domain.spans import Span
from liftbay.errors import InputError
from liftbay.telemetry import otlp_protobuf  # noqa: F401 - fails here, not at the first request, without its extra
from liftbay.telemetry.collector import SpanCollector
from liftbay.telemetry.otlp import CONTENT_TYPES, JSON, spans_of

PATH = "/v1/traces"
_IGNORED = ("/v1/metrics", "/v1/logs")
_MOST_INFLATED = 64 << 20
_AT_ONCE = 64 << 10  # bytes that hold the event loop up for less than a millisecond
_SPANS_AT_ONCE = 200


def routes(collector: SpanCollector) -> list[web.RouteDef]:
    """What a server that receives spans for `collector` has to serve."""

    async def traces(request: web.Request) -> web.Response:
        content_type = _content_type(request)
        try:
            body = await _body(request)
            parts = [part async for part in _parts(spans_of(body, content_type), len(body))]
        except (InputError, zlib.error) as error:
            raise web.HTTPBadRequest(text=f"{error}\n") from None
        for number, part in enumerate(parts):  # all of a request or nothing
            if number:
                await asyncio.sleep(0)
            collector.accept(part)
        return _answer(content_type)

    return [web.post(PATH, traces), *(web.post(path, _ignore) for path in _IGNORED)]


async def _ignore(request: web.Request) -> web.Response:
    async for _ in request.content.iter_any():  # a connection with a body left in it could not be used again
        pass
    return _answer(request.content_type)


def _answer(content_type: str) -> web.Response:
    """An `Export…ServiceResponse` that says nothing, which means that all was taken."""
    return web.Response(body=b"{}" if content_type == JSON else b"", content_type=content_type)


def _content_type(request: web.Request) -> str:
    if request.content_type not in CONTENT_TYPES:
        raise web.HTTPUnsupportedMediaType(text=f"the content type must be one of {', '.join(CONTENT_TYPES)}\n")
    return request.content_type


async def _body(request: web.Request) -> bytes:
    """The body, unpacked. Raises `zlib.error` where it cannot be."""
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("gzip", "identity", ""):
        raise web.HTTPUnsupportedMediaType(text="the content encoding must be gzip, or none\n")
    body = await request.read()
    if encoding != "gzip":
        return body
    return _inflated(body) if len(body) <= _AT_ONCE else await asyncio.to_thread(_inflated, body)


def _inflated(body: bytes) -> bytes:
    inflating = zlib.decompressobj(zlib.MAX_WBITS | 16)  # gzip, not zlib
    inflated = inflating.decompress(body, _MOST_INFLATED + 1)
    if len(inflated) > _MOST_INFLATED:
        raise web.HTTPRequestEntityTooLarge(_MOST_INFLATED, len(inflated))
    if not inflating.eof or inflating.unused_data:
        raise zlib.error("the body is not one whole gzip stream")
    return inflated


async def _parts(spans: Iterator[Span], size: int) -> AsyncIterator[list[Span]]:
    """The spans of a body of `size`; where that is big, others get their turn between two parts."""
    if size <= _AT_ONCE:
        yield list(spans)
        return
    while part := list(islice(spans, _SPANS_AT_ONCE)):
        yield part
        await asyncio.sleep(0)
