"""The agent of `engine.py`: asks the endpoint that `LIFTBAY_BENCH_ENDPOINT` names, once a turn, and reports the calls.

It sends what `bare_client.py` sends, to the byte, and adds what any agent has to: it reads the answer.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import aiohttp
import msgspec

import liftbay
from liftbay import AgentAnswer
from liftbay.domain.trace import EvalTrace, ModelUsage, ToolCallRecord

ENDPOINT = "LIFTBAY_BENCH_ENDPOINT"
MODEL = "bench"
HEADERS = {
    "Authorization": "Bearer dummy",
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": f"liftbay/{liftbay.__version__}",
}
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "search_hotel",
            "description": "ホテルを探す",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "都市名"},
                    "station": {"type": "string", "description": "最寄り駅"},
                    "wifi": {"type": "string", "description": "Wi-Fi の有無"},
                },
            },
        },
    }
]


class _Function(msgspec.Struct):
    name: str
    arguments: str


class _Call(msgspec.Struct):
    function: _Function


class _Message(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_Call] = []


class _Choice(msgspec.Struct):
    message: _Message


class _Usage(msgspec.Struct):
    prompt_tokens: int
    completion_tokens: int


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage


_completion = msgspec.json.Decoder(_Completion)
_arguments = msgspec.json.Decoder(dict[str, Any])
_url = os.environ.get(ENDPOINT, "")
_rest = b"," + msgspec.json.encode({"model": MODEL, "tools": TOOLS, "tool_choice": "auto"}).removeprefix(b"{")


@functools.cache
def _session() -> aiohttp.ClientSession:
    """The one session of the process; it lives as long as that."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=None),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=HEADERS,
    )


def messages(user_input: str) -> list[dict[str, str]]:
    """What the model is told."""
    return [{"role": "user", "content": user_input}]


async def answer(user_input: str) -> AgentAnswer:
    """Answer one turn."""
    body = b"".join((b'{"messages":', msgspec.json.encode(messages(user_input)), _rest))
    async with _session().post(_url, data=body) as response:
        completion = _completion.decode(await response.read())
    message = completion.choices[0].message
    calls = [
        ToolCallRecord(name=call.function.name, arguments=_arguments.decode(call.function.arguments))
        for call in message.tool_calls
    ]
    usage = ModelUsage(
        calls=1, input_tokens=completion.usage.prompt_tokens, output_tokens=completion.usage.completion_tokens
    )
    return AgentAnswer(text=message.content or "", trace=EvalTrace(tool_calls=calls, model=usage))
