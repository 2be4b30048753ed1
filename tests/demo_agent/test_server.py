"""The agent over HTTP."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest
from aiohttp import web

Ask = Callable[..., dict[str, Any]]

P = "1005006120457665"


def test_an_answer_stands_under_the_headings_of_the_skill(address: str, ask: Ask) -> None:
    answer = ask(address, f"{P} は韓国で売れる?", "headings")
    assert answer["session"] == "headings"
    headings = [line for line in answer["text"].splitlines() if line.startswith("## ")]
    assert headings == ["## 結論", "## 診断の内訳", "## 理由", "## 次の対応"]
    assert "販売不可" in answer["text"]


def test_a_stream_comes_in_pieces(address: str, ask: Ask) -> None:
    body = json.dumps({"session": "stream", "message": f"{P} の在庫", "stream": True}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{address}/chat", body)) as response:
        assert response.headers["Content-Type"].startswith("text/event-stream")
        events = [line.removeprefix(b"data: ").strip() for line in response if line.startswith(b"data: ")]
    assert events[-1] == b"[DONE]"
    deltas = [json.loads(event)["delta"] for event in events[:-1]]
    assert len(deltas) > 5
    assert "".join(deltas) == ask(address, f"{P} の在庫", "whole")["text"]


def test_a_session_is_settled_after_its_answer(address: str, ask: Ask) -> None:
    ask(address, "こんにちは", "settling")
    until = time.monotonic() + 5
    while _status(f"{address}/sessions/settling/settled") != 200:
        assert time.monotonic() < until
    assert _status(f"{address}/sessions/nobody/settled") == 404


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"session": "x"}',
        b'{"session": "", "message": "x"}',
        b'{"session": "x", "message": 1}',
        b'{"session": "x", "message": "x", "overrides": {"answer": "y"}}',
        b'{"session": "x", "message": "x", "toolGateway": "file:///etc"}',
        b"\xff\xfe",
    ],
)
def test_a_wrong_request_is_said_to_be_one(address: str, body: bytes) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(urllib.request.Request(f"{address}/chat", body))
    with caught.value as error:
        assert error.code == 400
        assert json.load(error)["error"]


@pytest.mark.parametrize(
    "message", ["", " ", "あ" * 200_000, "\x00\x01", "🎉" * 50, "<html><body>" * 50, "\ud800", "'; DROP TABLE x; --"]
)
def test_odd_input_gets_a_short_answer(address: str, ask: Ask, message: str) -> None:
    answer = ask(address, message, "odd")
    if "status" in answer:  # a lone surrogate is not text
        assert answer["status"] == 400
    else:
        assert 0 < len(answer["text"]) < 300


def test_calls_go_to_the_gateway(address: str) -> None:
    async def turns() -> tuple[list[Any], list[str]]:
        asked: list[Any] = []

        async def tool(request: web.Request) -> web.Response:
            asked.append((request.match_info["name"], await request.json()))
            if request.match_info["name"] == "query_tags":
                return web.json_response({"error": "mocked failure"})
            if request.match_info["name"] == "query_product":
                return web.json_response({"error": "no mock"}, status=404)
            countries = [{"country": "KR", "allocated": True, "totalAvailable": 4711, "skus": []}]
            return web.json_response({"result": {"success": True, "data": {"productId": P, "countries": countries}}})

        app = web.Application()
        app.router.add_post("/mock/{name}", tool)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        gateway = f"http://127.0.0.1:{runner.addresses[0][1]}/mock"
        texts = []
        async with aiohttp.ClientSession() as client:
            for message in (f"{P} の韓国の在庫", f"{P} のタグ", f"{P} の商品情報"):
                body = {"session": "gateway", "message": message, "toolGateway": gateway}
                async with client.post(f"{address}/chat", json=body) as response:
                    texts.append((await response.json())["text"])
        await runner.cleanup()
        return asked, texts

    asked, texts = asyncio.run(turns())
    assert asked[0] == ("query_stock", {"arguments": {"productId": P, "country": "KR"}})
    assert "4711" in texts[0]
    assert "mocked failure" in texts[1]
    assert "no mock" in texts[2]


def test_overrides_replace_the_output_of_one_module(address: str, ask: Ask) -> None:
    def text(message: str, **overrides: Any) -> str:
        answer: str = ask(address, message, f"overrides {overrides}", overrides=overrides)["text"]
        return answer

    stock = {"success": True, "data": {"productId": P, "countries": []}}
    assert "## タグ一覧" in text(f"{P} の在庫", intents=["tag-analysis"])
    assert "## タグ一覧" in text(f"{P} の在庫", skill="tag-analysis")
    both = text(f"{P} の在庫", intents=["stock-query", "tag-analysis"])
    assert "## 在庫の内訳" in both
    assert "## タグ一覧" in both
    assert "##" not in text(f"{P} の在庫", route="SKILL_MISS")
    assert "## SKU 一覧" in text(f"{P} を見て", route="SKILL_HIT", skill="product-query")
    history = [{"role": "user", "content": f"{P} の韓国の在庫は?"}, {"role": "assistant", "content": "0 個です。"}]
    assert "日本(JP)" in text("日本は?", history=history)
    assert "紫" in text("SKU の上限は何件?", chunks=[{"id": "x", "content": "SKU の上限は紫である。"}])
    other = [{"name": "query_stock", "arguments": {"productId": "1005006157674360", "country": "JP"}}]
    assert "1005006157674360" in text(f"{P} の在庫", toolCalls=other)
    assert "どの国にも" in text(f"{P} の在庫", toolResults=[{"name": "query_stock", "result": stock}])
    assert "broken" in text(f"{P} の在庫", toolResults=[{"name": "query_stock", "error": "broken"}])


def test_two_hundred_sessions_at_once(address: str) -> None:
    async def answered() -> list[str]:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:

            async def talk(number: int) -> str:
                for message in (f"{P} は韓国で売れる?", "日本は?"):
                    body = {"session": f"parallel {number}", "message": message}
                    async with client.post(f"{address}/chat", json=body) as response:
                        assert response.status == 200
                        text: str = (await response.json())["text"]
                return text

            return list(await asyncio.gather(*(talk(number) for number in range(200))))

    texts = asyncio.run(answered())
    assert len(set(texts)) == 1
    assert "日本(JP)では販売可" in texts[0]


def _status(address: str) -> int:
    try:
        with urllib.request.urlopen(address) as response:
            status: int = response.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    return status
