"""The mock endpoint over HTTP: every status it has."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from mock_cases import hotels, mocked, real, said
from places import synchronous

from liftbay.domain.case import MockAnswer
from liftbay.mocks.interceptor import MockTools
from liftbay.mocks.mock_endpoint import routes


@asynccontextmanager
async def serving(tools: MockTools) -> AsyncIterator[aiohttp.ClientSession]:
    """A client of the endpoint, whose address the interceptor knows."""
    application = web.Application()
    application.add_routes(routes(tools))
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    tools.endpoint = f"http://127.0.0.1:{runner.addresses[0][1]}/mock"
    try:
        async with aiohttp.ClientSession() as client:
            yield client
    finally:
        await runner.cleanup()


async def posted(client: aiohttp.ClientSession, url: str, body: bytes = b"{}") -> tuple[int, object]:
    """The status and the body of an answer."""
    async with client.post(url, data=body) as response:
        assert response.content_type == "application/json"
        return response.status, await response.json()


@synchronous
async def test_results_errors_and_unmocked_calls() -> None:
    tools = MockTools(
        hotels(
            search=[MockAnswer(match={"city": "大阪"}, error="満室"), said({"hotel": "京"}, city="京都")],
            now=[said(None)],
        )
    )
    async with serving(tools) as client:
        with tools.open("s", mocked()) as trial:
            search = f"{trial.endpoint}/search"
            kyoto = '{"arguments": {"city": "京都"}}'.encode()
            assert await posted(client, search, kyoto) == (200, {"result": {"hotel": "京"}})
            osaka = '{"arguments": {"city": "大阪"}}'.encode()
            assert await posted(client, search, osaka) == (200, {"error": "満室"})
            assert await posted(client, search) == (404, {"error": "unmocked call"})
            assert await posted(client, f"{trial.endpoint}/now") == (200, {"result": None})
            assert [(call.name, call.mocked, call.unmocked) for call in trial.taken()] == [
                ("search", True, False),
                ("search", True, False),
                ("search", False, True),
                ("now", True, False),
            ]


@synchronous
async def test_a_name_with_a_slash() -> None:
    tools = MockTools(hotels(**{"files/ 読む": [said("text")]}))
    async with serving(tools) as client:
        with tools.open("s", mocked()) as trial:
            assert await posted(client, f"{trial.endpoint}/files%2F%20読む") == (200, {"result": "text"})


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"arguments": 1}', b'{"arguments": null}', b"\xff", b'{"arguments": {"a": "\xff"}}']
)
@synchronous
async def test_a_body_that_is_wrong(body: bytes) -> None:
    tools = MockTools(hotels(search=[said("found")]))
    async with serving(tools) as client:
        with tools.open("s", mocked()) as trial:
            status, answer = await posted(client, f"{trial.endpoint}/search", body)
            assert (status, trial.taken()) == (400, [])
            assert isinstance(answer, dict)
            assert answer["error"].startswith('the body is not {"arguments": {...}}')


@synchronous
async def test_a_case_for_real_has_nothing_here() -> None:
    tools = MockTools(hotels(search=[said("found")]))
    async with serving(tools) as client:
        with tools.open("s", real()) as trial:
            answer = await posted(client, f"{tools.endpoint}/s/search")
            assert (answer, trial.taken()) == ((409, {"error": "this case runs for real"}), [])


@synchronous
async def test_a_session_that_is_unknown_or_has_ended() -> None:
    tools = MockTools(hotels(search=[said("found")]))
    async with serving(tools) as client:
        with tools.open("s", mocked()) as trial:
            address = f"{trial.endpoint}/search"
            assert (await posted(client, f"{tools.endpoint}/other/search"))[0] == 410
        assert await posted(client, address) == (410, {"error": "the trial has ended"})
        assert tools.unassigned == 2


@synchronous
async def test_the_latency_of_a_mock_is_waited_and_not_noted() -> None:
    tools = MockTools(hotels(search=[said("found", latency_ms=60)]))
    async with serving(tools) as client:
        with tools.open("s", mocked()) as trial:
            begun = time.perf_counter()
            await posted(client, f"{trial.endpoint}/search")
            assert time.perf_counter() - begun >= 0.06
            assert [call.latency_ms for call in trial.taken()] == [None]
