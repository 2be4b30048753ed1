"""The one way to serve HTTP: to this machine, or to others that know a token."""

from __future__ import annotations

import errno
import hmac
import ipaddress
from collections.abc import Iterable

from aiohttp import web
from aiohttp.typedefs import Handler
from yarl import URL

from liftbay.errors import InputError

LOOPBACK = "127.0.0.1"
MOST_BODY = 16 << 20
_OWN_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
_SECONDS_TO_END = 0.5  # for requests that are being answered when the server closes; aiohttp waits twice


class LocalServer:
    """Serves `routes` at `host` and `port` (0: a free one) from `start` to `close`.

    On loopback a request must name this machine, so that a web page cannot reach it by a name of its own. Elsewhere,
    and wherever a token is given, it must bear the token. Handlers get bodies as they were sent, of at most
    `most_body` bytes.
    """

    def __init__(
        self,
        routes: Iterable[web.AbstractRouteDef],
        *,
        host: str = LOOPBACK,
        port: int = 0,
        token: str | None = None,
        most_body: int = MOST_BODY,
    ) -> None:
        self._host = host
        self._port = port
        self._token = token
        self._loopback = is_loopback(host)
        if not self._loopback and not token:
            raise InputError(
                "without a token only this machine may be served",
                place=host,
                remedy="give a token, or serve at 127.0.0.1",
            )
        self._app = web.Application(client_max_size=most_body, middlewares=[self._guarded])
        self._app.add_routes(routes)
        # Bodies that are packed stay so: whoever unpacks them bounds what comes out.
        self._runner = web.AppRunner(
            self._app, access_log=None, shutdown_timeout=_SECONDS_TO_END, auto_decompress=False, handle_signals=False
        )

    async def start(self) -> None:
        """Begin to serve. Raises `InputError` where the address cannot be had."""
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            await self._runner.cleanup()
            if error.errno == errno.EADDRINUSE:
                raise InputError(
                    "the port is in use", place=f"{self._host}:{self._port}", remedy="name another port, or 0 for any"
                ) from None
            raise InputError(
                "nothing can be served at this address: {why}",
                place=f"{self._host}:{self._port}",
                remedy="name an address of this machine and a port that you may use",
                why=error.strerror or error,
            ) from None

        self._port = self._runner.addresses[0][1]

    @property
    def address(self) -> str:
        """Where it serves once it does: `http://HOST:PORT`."""
        return str(URL.build(scheme="http", host=self._host, port=self._port))

    async def close(self) -> None:
        """Stop serving; requests that are being answered get a second at most to end."""
        await self._runner.cleanup()

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self._loopback and not self._names_this_machine(request.headers.get("Host", "")):
            raise web.HTTPForbidden(text="this server answers only requests to its own name\n")
        if self._token is not None and not _bears(request, self._token):
            raise web.HTTPUnauthorized(headers={"WWW-Authenticate": "Bearer"})
        return await handler(request)

    def _names_this_machine(self, host: str) -> bool:
        try:
            name = URL(f"http://{host}").host
        except ValueError:
            return False
        return name in _OWN_NAMES or name == self._host


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server at `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bears(request: web.Request, token: str) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(
        given.strip().encode(errors="surrogateescape"), token.encode()
    )
