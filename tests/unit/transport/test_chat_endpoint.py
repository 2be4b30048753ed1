"""The client against servers that answer rightly, wrongly, slowly or not at all."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from email.utils import formatdate
from typing import Any

import pytest
import trustme
from aiohttp import web

from liftbay.errors import (
    AgentError,
    AgentProtocol,
    AgentRefused,
    AgentTimeout,
    AgentUnreachable,
    InputError,
)
from liftbay.transport import chat_endpoint
from liftbay.transport.chat_endpoint import ChatChoice, ChatEndpoint

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
KEY = "sk-very-secret"
ANSWER = {
    "choices": [
        {
            "finish_reason": "tool_calls",
            "message": {"content": None, "tool_calls": [{"function": {"name": "f", "arguments": '{"a": 1}'}}]},
        }
    ]
}


@asynccontextmanager
async def serving(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    app = web.Application(client_max_size=1 << 30)
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}/v1"
    finally:
        await runner.cleanup()


def ask(handler: Handler, *, timeout: float = 5, body: bytes = b"{}", key: str = KEY) -> ChatChoice:
    async def run() -> ChatChoice:
        async with serving(handler) as url, ChatEndpoint(url, key, connections=2, timeout=timeout) as endpoint:
            return await endpoint.chat(body)

    return asyncio.run(run())


def answering(**arguments: Any) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(**arguments)

    return handler


async def right(request: web.Request) -> web.StreamResponse:
    return web.json_response(ANSWER)


def test_a_completion() -> None:
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append((request.method, request.path, request.headers["Authorization"], await request.json()))
        return web.json_response(ANSWER)

    choice = ask(handler, body=b'{"model": "m"}')
    assert choice.message.tool_calls is not None
    assert choice.message.tool_calls[0].function.name == "f"
    assert seen == [("POST", "/v1/chat/completions", f"Bearer {KEY}", {"model": "m"})]


def test_a_body_of_several_megabytes_arrives_whole() -> None:
    sizes = []

    async def handler(request: web.Request) -> web.StreamResponse:
        sizes.append(len(await request.read()))
        return web.json_response(ANSWER)

    ask(handler, body=b'"' + b"x" * 5_000_000 + b'"')
    assert sizes == [5_000_002]


@pytest.mark.parametrize(
    ("response", "kind", "says"),
    [
        ({"status": 500, "text": "boom"}, AgentUnreachable, "HTTP 500: boom"),
        ({"status": 502}, AgentUnreachable, "HTTP 502: (empty)"),
        ({"status": 429, "text": "slow down"}, AgentUnreachable, "HTTP 429"),
        ({"status": 404, "text": "no\n  model"}, AgentRefused, "HTTP 404: no model"),
        ({"status": 307, "headers": {"Location": "http://other/"}}, AgentRefused, "redirects to http://other/"),
        ({"status": 204}, AgentRefused, "HTTP 204"),
        ({"text": "<html>"}, AgentProtocol, "not a chat completion"),
        ({"text": '{"choices": [{"mess'}, AgentProtocol, "not a chat completion"),
        ({"text": '{"choices": 1}'}, AgentProtocol, "Expected `array`, got `int`"),
        ({"text": '{"error": {"message": "overloaded"}}'}, AgentProtocol, "overloaded"),
        ({"text": "{}"}, AgentProtocol, "no choice"),
        ({"body": b"\xff\xfe"}, AgentProtocol, "not a chat completion"),
        ({"body": b'{"choices": [{"message": {"content": "\xff"}}]}'}, AgentProtocol, "not a chat completion"),
    ],
)
def test_answers_that_are_none(response: dict[str, Any], kind: type[AgentError], says: str) -> None:
    with pytest.raises(kind) as caught:
        ask(answering(**response))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("status", "text", "remedy"),
    [
        (400, '"auto" tool choice requires --enable-auto-tool-choice', "--tool-call-parser hermes"),
        (401, "who are you", "--openai-api-key"),
        (404, "no such model", "--base-url"),
        (400, "maximum context length is 4096 tokens", "context"),
    ],
)
def test_a_refusal_names_its_remedy(status: int, text: str, remedy: str) -> None:
    with pytest.raises(AgentRefused) as caught:
        ask(answering(status=status, text=text))
    assert caught.value.remedy is not None
    assert remedy in caught.value.remedy


def test_the_key_is_not_in_an_error_that_repeats_it() -> None:
    with pytest.raises(AgentRefused) as caught:
        ask(answering(status=401, text=f"Incorrect key: {KEY}"))
    assert KEY not in str(caught.value)
    assert "Incorrect key: ***" in str(caught.value)


def test_a_slow_answer_is_a_timeout() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(30)
        return web.Response()

    with pytest.raises(AgentTimeout, match=r"0\.1 s"):
        ask(handler, timeout=0.1)


def test_a_dripping_answer_is_a_timeout() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(300):
            await response.write(b" ")
            await asyncio.sleep(0.02)
        return response

    with pytest.raises(AgentTimeout):
        ask(handler, timeout=0.3)


def test_a_connection_that_is_lost_may_be_tried_again() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"choices"')
        assert request.transport is not None
        request.transport.abort()
        return response

    with pytest.raises(AgentUnreachable):
        ask(handler)


def test_nobody_listens() -> None:
    async def run() -> None:
        async with serving(right) as url:
            pass
        async with ChatEndpoint(url, KEY, connections=1, timeout=5) as endpoint:
            await endpoint.chat(b"{}")

    with pytest.raises(AgentUnreachable, match="connection failed"):
        asyncio.run(run())


@pytest.mark.parametrize("chunked", [True, False])
def test_an_answer_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch, chunked: bool) -> None:
    monkeypatch.setattr(chat_endpoint, "MAX_ANSWER_BYTES", 100_000)

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        if not chunked:
            response.content_length = 400_000
        await response.prepare(request)
        for _ in range(40):
            await response.write(b" " * 10_000)
        return response

    with pytest.raises(AgentProtocol, match="longer than"):
        ask(handler)


def test_a_compressed_bomb_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_endpoint, "MAX_ANSWER_BYTES", 100_000)
    bomb = gzip.compress(b" " * 10_000_000)
    with pytest.raises(AgentProtocol, match="longer than"):
        ask(answering(body=bomb, headers={"Content-Encoding": "gzip"}))


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7), ("0", 0), ("-3", 0), ("1.5", 1.5), (None, None), ("soon", None), ("nan", None)]
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    with pytest.raises(AgentUnreachable) as caught:
        ask(answering(status=503, headers={"Retry-After": header} if header else {}))
    assert caught.value.retry_after == seconds


def test_retry_after_may_be_a_date() -> None:
    with pytest.raises(AgentUnreachable) as caught:
        ask(answering(status=429, headers={"Retry-After": formatdate(time.time() + 60, usegmt=True)}))
    assert caught.value.retry_after == pytest.approx(60, abs=5)


def test_the_models_are_listed() -> None:
    async def run(handler: Handler) -> list[str]:
        async with serving(handler) as url, ChatEndpoint(url, KEY, connections=1, timeout=5) as endpoint:
            return await endpoint.models()

    listing = answering(text='{"object": "list", "data": [{"id": "org/one", "x": 1}, {"id": "two"}]}')
    assert asyncio.run(run(listing)) == ["org/one", "two"]
    with pytest.raises(AgentProtocol, match="list of models"):
        asyncio.run(run(answering(text="<html>")))


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://host/v1", "", "http://", "http://[::1"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(InputError, match="not an http address"):
        ChatEndpoint(url, KEY, connections=1, timeout=1)


def test_a_query_in_the_base_url_is_kept() -> None:
    paths = []

    async def handler(request: web.Request) -> web.StreamResponse:
        paths.append(request.path_qs)
        return web.json_response(ANSWER)

    async def run() -> None:
        async with (
            serving(handler) as url,
            ChatEndpoint(f"{url}/?api-version=1", KEY, connections=1, timeout=5) as endpoint,
        ):
            await endpoint.chat(b"{}")

    asyncio.run(run())
    assert paths == ["/v1/chat/completions?api-version=1"]


def test_a_private_certificate_authority(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: Any) -> None:
    authority = trustme.CA()
    pem = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(str(pem))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)

    async def run() -> ChatChoice:
        async with serving(right, tls) as url, ChatEndpoint(url, KEY, connections=1, timeout=5) as endpoint:
            return await endpoint.chat(b"{}")

    with pytest.raises(AgentRefused, match="no secure connection") as caught:
        asyncio.run(run())
    assert caught.value.remedy is not None
    assert "SSL_CERT_FILE" in caught.value.remedy
    for variable in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        with monkeypatch.context() as environment:
            environment.setenv(variable, str(pem))
            assert asyncio.run(run()).message.tool_calls


def test_a_proxy_is_used_unless_the_host_is_excepted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    async def proxy(request: web.Request) -> web.StreamResponse:
        asked.append(str(request.url))
        return web.json_response(ANSWER)

    async def run(base_url: str) -> ChatChoice:
        async with serving(proxy) as address:
            monkeypatch.setenv("http_proxy", address.removesuffix("/v1"))
            async with ChatEndpoint(base_url, KEY, connections=1, timeout=5) as endpoint:
                return await endpoint.chat(b"{}")

    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert asyncio.run(run("http://model.invalid/v1")).message.tool_calls
    assert asked == ["http://model.invalid/v1/chat/completions"]
    monkeypatch.setenv("no_proxy", "model.invalid")
    with pytest.raises(AgentUnreachable):
        asyncio.run(run("http://model.invalid/v1"))
    assert len(asked) == 1


def test_an_unknown_kind_of_proxy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1080")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(InputError, match="unknown kind: socks5"):
        ChatEndpoint("http://model.invalid/v1", KEY, connections=1, timeout=1)


def test_a_bundle_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/ca.pem")

    async def run() -> None:
        async with ChatEndpoint("https://127.0.0.1:1/v1", KEY, connections=1, timeout=1):
            pass

    with pytest.raises(InputError) as caught:
        asyncio.run(run())
    assert caught.value.place == "REQUESTS_CA_BUNDLE=/nowhere/ca.pem"


@pytest.mark.parametrize("url", ["http://user:secret@127.0.0.1:9/v1", "http://:secret@127.0.0.1:9/v1"])
def test_a_password_in_the_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(InputError, match="user name or a password") as caught:
        ChatEndpoint(url, KEY, connections=1, timeout=1)
    assert "secret" not in f"{caught.value} {caught.value.place} {caught.value.remedy}"


def test_a_secret_in_the_query_is_not_in_the_place_of_an_error() -> None:
    async def run() -> None:
        async with ChatEndpoint("http://127.0.0.1:9/v1?key=secret", KEY, connections=1, timeout=1) as endpoint:
            await endpoint.chat(b"{}")

    with pytest.raises(AgentUnreachable) as caught:
        asyncio.run(run())
    assert caught.value.place == "http://127.0.0.1:9/v1/chat/completions?key=***"


def test_a_key_with_a_line_end_is_stripped_and_one_with_a_line_inside_refused() -> None:
    ChatEndpoint("http://127.0.0.1:9/v1", KEY + "\r\n", connections=1, timeout=1)
    with pytest.raises(InputError, match="control character"):
        ChatEndpoint("http://127.0.0.1:9/v1", "one\ntwo", connections=1, timeout=1)


def test_a_nested_answer_without_a_bottom_is_no_completion() -> None:
    with pytest.raises(AgentProtocol, match="not a chat completion"):
        ask(answering(text='{"choices": ' + "[" * 100_000))
