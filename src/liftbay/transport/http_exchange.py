"""Requests to an agent's own HTTP API: one pool of connections, and one way to say what went wrong."""

from __future__ import annotations

import asyncio
import email.utils
import io
import math
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

import aiohttp
from yarl import URL

import liftbay
from liftbay.errors import AgentError, AgentProtocol, AgentRefused, AgentUnreachable
from liftbay.transport.chat_endpoint import shown, whole
from liftbay.transport.network import proxy_for, tls_context

_BIG_BODY = 1 << 20  # aiohttp wants bodies above this as a file, so that the loop is not held up
_SHOWN = 300  # characters of an answer that an error repeats
_BUSY = (429, 503)
_SERVER_FAULT = 500
_GOOD = range(200, 300)
_REDIRECT = range(300, 400)


class HttpExchange:
    """A pool of connections. Whoever asks holds the clock: a request lasts until it is cancelled."""

    def __init__(self, *, connections: int, file: str, hide: Callable[[str], str]) -> None:
        """`file` describes the requests, for remedies; `hide` takes secrets out of what errors repeat."""
        self._connections = connections
        self._file = file
        self._hide = hide
        self._session: aiohttp.ClientSession | None = None
        self._secure: ssl.SSLContext | None = None
        self._proxies: dict[URL, URL | None] = {}

    @asynccontextmanager
    async def sent(
        self, method: str, url: URL, headers: Mapping[str, str], body: bytes | None, *, any_status: bool = False
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer to a request, while its body is read; its status is 2xx, or `any_status`.

        Raises the `AgentError` that another status is, or a failure of the connection until the block ends. Redirects
        are not followed.
        """
        proxy = self._proxy(url)
        data = io.BytesIO(body) if body is not None and len(body) > _BIG_BODY else body
        try:
            async with self._open_session().request(
                method,
                url,
                headers=headers,
                data=data,
                allow_redirects=False,
                proxy=proxy,
                ssl=self._tls() if "https" in (url.scheme, proxy and proxy.scheme) else True,
            ) as response:
                with _ended_with_connection(response):
                    if response.status not in _GOOD and not any_status:
                        raise self._failure(url, response, await whole(response))
                    yield response
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self._lost(url, proxy, error) from None

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    def beginning(self, content: bytes) -> str:
        """The beginning of an answer, on one line and without secrets."""
        return " ".join(self._hide(content.decode("utf-8", "replace")).split())[:_SHOWN] or "(empty)"

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections),
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"Accept-Encoding": "identity", "User-Agent": f"liftbay/{liftbay.__version__}"},
                skip_auto_headers=("Content-Type",),
            )
        return self._session

    def _proxy(self, url: URL) -> URL | None:
        origin = url.origin()
        if origin not in self._proxies:
            self._proxies[origin] = proxy_for(origin)
        return self._proxies[origin]

    def _tls(self) -> ssl.SSLContext:
        if self._secure is None:
            self._secure = tls_context()
        return self._secure

    def _failure(self, url: URL, response: aiohttp.ClientResponse, content: bytes) -> AgentError:
        status, place = response.status, self._hide(shown(url))
        if status in _REDIRECT:
            return AgentRefused(
                "HTTP {status}: it redirects to {target}",
                place=place,
                remedy="give the address that it redirects to as the url in {file}",
                status=status,
                target=self._hide(response.headers.get("Location", "?")),
                file=self._file,
            )
        answer = self.beginning(content)
        if status in _BUSY or status >= _SERVER_FAULT:
            return AgentUnreachable(
                "HTTP {status}: {answer}",
                place=place,
                retry_after=seconds_until(response.headers.get("Retry-After")) if status in _BUSY else None,
                status=status,
                answer=answer,
            )
        return AgentRefused(
            "HTTP {status}: {answer}",
            place=place,
            remedy=_REMEDIES.get(status),
            status=status,
            answer=answer,
            file=self._file,
        )

    def _lost(self, url: URL, proxy: URL | None, error: aiohttp.ClientError | OSError | ValueError) -> AgentError:
        place = self._hide(shown(url))
        if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
            return AgentRefused(
                "no secure connection: {why}",
                place=place,
                remedy="for a private certificate authority set SSL_CERT_FILE to its PEM file"
                if isinstance(error, aiohttp.ClientConnectorCertificateError)
                else "check whether the server speaks https, or http alone",
                why=error,
            )
        by = f" (proxy {shown(proxy)})" if proxy else ""
        if isinstance(error, aiohttp.ClientResponseError | _MalformedBody) and not isinstance(
            error, aiohttp.ClientHttpProxyError
        ):
            return AgentProtocol("the answer is not HTTP: {why}", place=place, why=self._why(error) + by)
        return AgentUnreachable(
            "the connection failed: {why}",
            place=place,
            remedy="check that the agent runs, and the url in {file}",
            why=self._why(error) + by,
            file=self._file,
        )

    def _why(self, error: aiohttp.ClientError | OSError | ValueError) -> str:
        if isinstance(error, aiohttp.ClientConnectorError):
            return str(error.os_error)
        return " ".join(self._hide(f"{type(error).__name__}: {error}").split())[:_SHOWN]


class _MalformedBody(aiohttp.ClientPayloadError):
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
            response.content.set_exception(_MalformedBody(str(protocol.exception() or "the connection was closed")))

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


_REMEDIES = {
    400: "check [request] in {file}",
    401: "check [headers] in {file}",
    403: "check [headers] in {file}",
    404: "check the url in {file}",
    405: "check the method in {file}",
    415: "check [headers] in {file}",
    422: "check [request] in {file}",
}


def seconds_until(retry_after: str | None) -> float | None:
    """`Retry-After` in seconds from now: a number, or a date (RFC 9110, section 10.2.3)."""
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
