"""Who is answered by a server of this machine, and what becomes of a port that cannot be had."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from places import synchronous

from liftbay.errors import InputError
from liftbay.transport.local_server import LocalServer

TOKEN = "tøken-1"
SLOW = 0.2


async def echo(request: web.Request) -> web.Response:
    return web.Response(body=await request.read())


async def slow(request: web.Request) -> web.Response:
    await asyncio.sleep(SLOW)
    return web.Response(text="done")


async def hang(request: web.Request) -> web.Response:
    await asyncio.Event().wait()
    raise AssertionError


ROUTES = [web.post("/echo", echo), web.get("/slow", slow), web.get("/hang", hang)]


@asynccontextmanager
async def serving(
    *, host: str = "127.0.0.1", token: str | None = None, most_body: int = 1_000
) -> AsyncIterator[tuple[LocalServer, aiohttp.ClientSession]]:
    server = LocalServer(ROUTES, host=host, token=token, most_body=most_body)
    await server.start()
    try:
        async with aiohttp.ClientSession() as client:
            yield server, client
    finally:
        await server.close()


def port_of(server: LocalServer) -> int:
    return int(server.address.rpartition(":")[2])


async def status(client: aiohttp.ClientSession, url: str, **headers: str) -> int:
    async with client.post(url, data=b"x", headers=headers) as response:
        return response.status


@synchronous
async def test_routes_are_served_at_the_address() -> None:
    async with serving() as (server, client):
        assert server.address.startswith("http://127.0.0.1:")
        async with client.post(f"{server.address}/echo", data=b"hello") as response:
            assert (response.status, await response.read()) == (200, b"hello")
        assert await status(client, f"{server.address}/other") == 404


@synchronous
async def test_the_sixth_version_of_the_protocol_too() -> None:
    async with serving(host="::1") as (server, client):
        assert server.address.startswith("http://[::1]:")
        assert await status(client, f"{server.address}/echo") == 200


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("localhost", 200),
        ("LOCALHOST:80", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:4318", 200),
        ("127.0.0.2", 403),
        ("evil.example", 403),
        ("localhost.evil.example", 403),
        ("evil.example:4318", 403),
        ("127.0.0.1@evil.example", 403),
        ("local host", 403),
        ("localhost:port", 403),
        ("", 403),
    ],
)
@synchronous
async def test_on_loopback_a_request_must_name_this_machine(name: str, expected: int) -> None:
    async with serving() as (server, client):
        assert await status(client, f"{server.address}/echo", Host=name) == expected


@synchronous
async def test_a_request_without_a_name_is_refused() -> None:
    async with serving() as (server, _):
        port = port_of(server)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /echo HTTP/1.0\r\nContent-Length: 0\r\n\r\n")
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        assert b" 403 " in answer.splitlines()[0]


@synchronous
async def test_an_address_of_this_machine_may_be_its_own_name() -> None:
    async with serving(host="127.0.0.2") as (server, client):
        assert await status(client, f"{server.address}/echo") == 200


@pytest.mark.parametrize("token", [None, ""])
def test_others_are_served_with_a_token_only(token: str | None) -> None:
    with pytest.raises(InputError, match="without a token only this machine may be served") as caught:
        LocalServer(ROUTES, host="0.0.0.0", token=token)
    assert caught.value.place == "0.0.0.0"


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])
@synchronous
async def test_where_there_is_a_token_it_must_be_borne(host: str) -> None:
    async with serving(host=host, token=TOKEN) as (server, client):
        url = server.address.replace("0.0.0.0", "127.0.0.1") + "/echo"
        name = "liftbay.example" if host == "0.0.0.0" else "localhost"
        assert await status(client, url, Host=name, Authorization=f"Bearer {TOKEN}") == 200
        assert await status(client, url, Host=name, Authorization=f"bearer  {TOKEN} ") == 200
        assert await status(client, url, Host=name) == 401
        for wrong in ("Bearer", "Bearer ", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}"):
            assert await status(client, url, Host=name, Authorization=wrong) == 401


@synchronous
async def test_a_body_that_is_too_big_is_refused() -> None:
    async with serving(most_body=1_000) as (server, client):
        for size, expected in ((1_000, 200), (1_001, 413), (100_000, 413)):
            async with client.post(f"{server.address}/echo", data=b"x" * size) as response:
                assert response.status == expected


@synchronous
async def test_a_packed_body_stays_packed() -> None:
    async with serving() as (server, client):
        headers = {"Content-Encoding": "gzip"}
        async with client.post(f"{server.address}/echo", data=b"no gzip", headers=headers) as response:
            assert (response.status, await response.read()) == (200, b"no gzip")


@synchronous
async def test_a_port_in_use() -> None:
    async with serving() as (server, _):
        port = port_of(server)
        other = LocalServer(ROUTES, port=port)
        with pytest.raises(InputError, match="the port is in use") as caught:
            await other.start()
        assert caught.value.place == f"127.0.0.1:{port}"
        assert caught.value.remedy == "name another port, or 0 for any"
    await other.start()  # it is free again
    await other.close()


@synchronous
async def test_an_address_that_is_not_this_machines() -> None:
    server = LocalServer(ROUTES, host="192.0.2.1", token=TOKEN)
    with pytest.raises(InputError, match="nothing can be served at this address") as caught:
        await server.start()
    assert caught.value.place == "192.0.2.1:0"


@synchronous
async def test_a_request_that_is_being_answered_may_end() -> None:
    async with serving() as (server, client):
        asked = asyncio.create_task(client.get(f"{server.address}/slow"))
        await asyncio.sleep(SLOW / 4)
        await server.close()
        async with await asked as response:
            assert await response.text() == "done"


@synchronous
async def test_closing_does_not_wait_for_what_hangs_nor_for_idle_connections(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serving() as (server, client):
        assert await status(client, f"{server.address}/echo") == 200
        asked = asyncio.create_task(client.get(f"{server.address}/hang"))
        await asyncio.sleep(0.05)
        begun = time.perf_counter()
        await server.close()
        assert time.perf_counter() - begun < 4
        with pytest.raises(aiohttp.ClientError):
            await asked
        with socket.socket() as connection, pytest.raises(ConnectionRefusedError):
            connection.connect(("127.0.0.1", port_of(server)))
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@synchronous
async def test_nothing_is_logged_of_requests(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with serving(token=TOKEN) as (server, client):
        assert await status(client, f"{server.address}/echo?secret=1", Authorization=f"Bearer {TOKEN}") == 200
    assert [record.getMessage() for record in caplog.records if record.name.startswith("aiohttp")] == []
