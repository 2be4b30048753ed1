"""The stages with a model, against an endpoint that answers what the test says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import aiohttp
from aiohttp import web

Serve = Callable[..., AbstractContextManager[str]]

P = "1005006120457665"
REQUESTS = {
    "requests": [
        {"text": "数", "intent": "stock-query", "kind": "skill", "arguments": {"productId": P, "country": "korea"}}
    ]
}
PLAN = {"calls": [{"name": "query_stock", "arguments": {"productId": P}}], "retrieve": False}


def test_the_model_perceives_plans_and_writes(serve: Serve) -> None:
    texts, asked = asyncio.run(_answers(serve, {"requests": REQUESTS, "plan": PLAN, "answer": "## 結論\nモデルの答え"}))
    assert texts == ["## 結論\nモデルの答え"]
    forms = [body.get("response_format", {}).get("json_schema", {}).get("name") for body in asked]
    assert forms == ["requests", "plan", None]
    assert "819" in json.dumps(asked[-1]["messages"]) or "372" in json.dumps(asked[-1]["messages"])


def test_nonsense_and_failures_leave_it_to_the_rules(serve: Serve) -> None:
    invented = {"calls": [{"name": "query_stock", "arguments": {"productId": "1005000000000000"}}], "retrieve": False}
    for requests, plan in (({"requests": []}, invented), ("not what was asked for", None)):
        texts, _ = asyncio.run(_answers(serve, {"requests": requests, "plan": plan, "answer": None}))
        assert "## 在庫の内訳" in texts[0]
        assert P in texts[0]


def test_a_question_about_the_conversation_that_only_the_model_sees_is_answered(serve: Serve) -> None:
    found = {"text": "これどうなってる", "intent": "knowledge_qa", "kind": "recollection", "arguments": {}}
    texts, _ = asyncio.run(_answers(serve, {"requests": {"requests": [found]}, "plan": None, "answer": None}))
    assert "何をお調べしますか" in texts[0]


async def _answers(serve: Serve, scripted: dict[str, Any]) -> tuple[list[str], list[Any]]:
    asked: list[Any] = []

    async def complete(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        asked.append(body)
        assert request.headers["Authorization"] == "Bearer secret"
        usage = {"prompt_tokens": 10, "completion_tokens": 3}
        if not body.get("stream"):
            answer = scripted[body["response_format"]["json_schema"]["name"]]
            if answer is None:
                return web.json_response({"error": "overloaded"}, status=500)
            message = {"role": "assistant", "content": json.dumps(answer)}
            return web.json_response({"choices": [{"message": message}], "usage": usage})
        if scripted["answer"] is None:
            return web.json_response({"error": "overloaded"}, status=500)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in scripted["answer"]:
            event = {"choices": [{"delta": {"content": piece}}]}
            await response.write(f"data: {json.dumps(event)}\n\n".encode())
        await response.write(f"data: {json.dumps({'choices': [], 'usage': usage})}\n\ndata: [DONE]\n\n".encode())
        return response

    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    agent = serve("--model-url", url, "--model", "scripted", env={"DEMO_MODEL_KEY": "secret"})
    address = await asyncio.to_thread(agent.__enter__)
    texts = []
    async with aiohttp.ClientSession() as client:
        body = {"session": "s", "message": f"{P} の在庫を教えて"}
        async with client.post(f"{address}/chat", json=body) as response:
            texts.append((await response.json())["text"])
    await asyncio.to_thread(agent.__exit__, None, None, None)
    await runner.cleanup()
    return texts, asked
