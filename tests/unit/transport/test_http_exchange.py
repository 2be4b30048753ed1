"""Connections to an agent's own API: certificates, proxies, and connections that are used again."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
import trustme
from aiohttp import web
from http_agents import serving
from places import synchronous
from yarl import URL

from liftbay.errors import AgentRefused, AgentUnreachable, InputError
from liftbay.transport.http_exchange import HttpExchange, seconds_until


async def got(url: str, exchange: HttpExchange | None = None) -> bytes:
    """The body of an answer."""
    exchange = exchange or HttpExchange(connections=1, file="a.toml", hide=lambda text: text)
    try:
        async with exchange.sent("GET", URL(url), {}, None) as response:
            return await response.read()
    finally:
        await exchange.close()


@synchronous
async def test_a_private_authority_must_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    authority = trustme.CA()
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    authority.cert_pem.write_to_path(pem := tmp_path / "ca.pem")

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls) as server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        with pytest.raises(AgentRefused, match="no secure connection") as caught:
            await got(url)
        assert caught.value.remedy is not None
        assert "SSL_CERT_FILE" in caught.value.remedy
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(pem))
        assert await got(url) == b"ok"


@synchronous
async def test_a_proxy_is_used_unless_the_host_is_excepted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    async def proxy(request: web.Request) -> web.StreamResponse:
        asked.append(str(request.url))
        return web.Response(text="by proxy")

    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with serving(proxy) as address:
        monkeypatch.setenv("http_proxy", address)
        assert await got("http://agent.invalid/chat") == b"by proxy"
    assert asked == ["http://agent.invalid/chat"]
    with pytest.raises(AgentUnreachable, match=rf"\(proxy {address}/?\)"):
        await got("http://agent.invalid/chat")
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(InputError, match="unknown kind: socks5"):
        await got("http://agent.invalid/chat")
    monkeypatch.setenv("no_proxy", "agent.invalid")
    with pytest.raises(AgentUnreachable, match="the connection failed: "):
        await got("http://agent.invalid/chat")


@synchronous
async def test_connections_are_used_again() -> None:
    peers = set()

    async def answer(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        peers.add(request.transport.get_extra_info("peername"))
        return web.Response(text="x" * 100_000)

    exchange = HttpExchange(connections=1, file="a.toml", hide=lambda text: text)
    async with serving(answer) as url:
        for _ in range(20):
            async with exchange.sent("GET", URL(url), {}, None) as response:
                assert len(await response.read()) == 100_000
        await exchange.close()
    assert len(peers) == 1


@pytest.mark.parametrize(
    ("said", "seconds"), [(None, None), ("3", 3.0), ("-3", 0.0), ("nan", None), ("inf", None), ("later", None)]
)
def test_how_long_to_wait(said: str | None, seconds: float | None) -> None:
    assert seconds_until(said) == seconds
