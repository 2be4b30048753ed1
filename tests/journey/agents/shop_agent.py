"""A shop's desk behind HTTP, as its maker would write it: aiohttp, OpenTelemetry, nothing of liftbay.

    python shop_agent.py PORT

It answers in server-sent events and exports its spans by OTLP, where the environment says to where. In the folder
that it runs in it notes what its real stock was asked for (`real.log`) and its process (`shop.pid`). A message with
the word `late` has a span that ends after the answer, one with `tardy` a span that begins when nobody waits any more,
and to one with `silent` no instrumentation is there.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

VERSION = "2.1.0"
STOCK = {"apple": 3, "pear": 0}
TOKENS = {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 20}
PUBLISHING = 0.3  # seconds until a published Skill is in effect
LATE = {"late": 0.0, "tardy": 1.5}  # seconds after the answer until another span begins
TAKES = 0.5  # seconds that this span takes

provider = TracerProvider()
if "OTEL_EXPORTER_OTLP_ENDPOINT" in os.environ:
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), schedule_delay_millis=50))
tracer = provider.get_tracer("shop")


@contextmanager
def spanned(name: str, parent: Any = None, **attributes: Any) -> Iterator[trace.Span]:
    """A span; `_` in the names of attributes stands for `.`, and `__` for `_`."""
    named = {key.replace("__", "\0").replace("_", ".").replace("\0", "_"): value for key, value in attributes.items()}
    with tracer.start_as_current_span(name, context=parent, attributes=named) as span:
        yield span


class Desk:
    """The agent: what it knows of its sessions and of its Skill."""

    def __init__(self) -> None:
        self.said: dict[str, list[str]] = {}
        self.skill_version = "1"
        self.work: set[asyncio.Task[None]] = set()

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """One turn."""
        asked = await request.json()
        message, session = asked["message"], asked["session"]
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        async for piece in self.turn(message, session, request.headers):
            await response.write(f"data: {json.dumps({'delta': piece})}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response

    async def turn(self, message: str, session: str, headers: Mapping[str, str]) -> AsyncIterator[str]:
        """The pieces of the answer; spans are made on the way."""
        if "silent" in message:  # no instrumentation sees this one
            yield "nothing"
            return
        before = self.said.setdefault(session, [])
        conversation = {"gen__ai_conversation_id": session, "gen__ai_operation_name": "invoke_agent"}
        with spanned("invoke_agent shop", extract(headers), gen__ai_agent_name="shop", **conversation):
            yield "One moment"
            with spanned("look", liftbay_module="perception", liftbay_intent="stock") as span:
                span.set_attribute("gen_ai.skill.name", "stock")
                span.set_attribute("liftbay.skill.version", self.skill_version)
            with spanned("remember", gen__ai_operation_name="search_memory", liftbay_memory_rounds=len(before)):
                before.append(message)
            with spanned("plan", gen__ai_operation_name="plan", liftbay_route="SKILL_HIT"):
                pass
            found = [await self.tool("stock", {"fruit": fruit}, headers) for fruit in fruits_in(message)]
            if "price" in message:
                found.append(await self.tool("price", {}, headers))
            with spanned("chat desk", gen__ai_operation_name="chat", gen__ai_request_model="desk-1") as span:
                span.set_attributes({**TOKENS, "gen_ai.response.model": "desk-1"})
                await asyncio.sleep(0.02)
            yield f": {found}"
            for word, seconds in LATE.items():
                if word in message:
                    self.keep(self.afterwards(seconds, trace.set_span_in_context(trace.get_current_span())))

    async def tool(self, name: str, arguments: dict[str, Any], headers: Mapping[str, str]) -> Any:
        """What a tool says, or what stands in for it where the request says so."""
        with spanned(f"execute_tool {name}", gen__ai_operation_name="execute_tool", gen__ai_tool_name=name) as span:
            span.set_attribute("gen_ai.tool.call.arguments", json.dumps(arguments))
            result = await self.asked(name, arguments, headers.get("liftbay-mock-endpoint"))
            if "error" in result:
                span.set_status(trace.StatusCode.ERROR, result["error"])
            else:
                span.set_attribute("gen_ai.tool.call.result", json.dumps(result["result"]))
            return result

    async def asked(self, name: str, arguments: dict[str, Any], mocks: str | None) -> dict[str, Any]:
        """The answer of the mock endpoint, or of the real stock."""
        if mocks is None:
            note({"tool": name, **arguments})
            await asyncio.sleep(0.01)
            return {"result": STOCK[arguments["fruit"]]} if name == "stock" else {"error": "no prices"}
        async with (
            aiohttp.ClientSession() as client,
            client.post(f"{mocks}/{name}", json={"arguments": arguments}) as it,
        ):
            answer: dict[str, Any] = await it.json()
            return answer

    async def afterwards(self, seconds: float, parent: Any) -> None:
        """A tool that is called after the answer."""
        await asyncio.sleep(seconds)
        with spanned("execute_tool tidy", parent, gen__ai_operation_name="execute_tool", gen__ai_tool_name="tidy"):
            await asyncio.sleep(TAKES)

    async def publish(self, request: web.Request) -> web.Response:
        """A changed Skill, in effect a little later."""
        version = (await request.json())["version"]

        async def take_effect() -> None:
            await asyncio.sleep(PUBLISHING)
            self.skill_version = version

        self.keep(take_effect())
        return web.json_response({})

    def keep(self, work: Any) -> None:
        """Work that goes on after an answer."""
        task = asyncio.get_running_loop().create_task(work)
        self.work.add(task)
        task.add_done_callback(self.work.discard)


def note(call: dict[str, Any]) -> None:
    """The real stock was asked."""
    with Path("real.log").open("a") as log:
        log.write(json.dumps(call) + "\n")


def fruits_in(message: str) -> list[str]:
    """What the customer asks for."""
    return [word for word in message.lower().replace("?", "").split() if word in STOCK]


async def version(_: web.Request) -> web.Response:
    """Who answers."""
    return web.json_response({"build": {"version": os.environ.get("SHOP_VERSION", VERSION)}})


async def ready(_: web.Request) -> web.Response:
    """Open for business."""
    return web.Response()


def main() -> None:
    """Serve until told to end."""
    Path("shop.pid").write_text(str(os.getpid()))
    desk = Desk()
    app = web.Application()
    app.add_routes([web.post("/chat", desk.chat), web.post("/publish", desk.publish)])
    app.add_routes([web.get("/version", version), web.get("/ready", ready), web.get("/settled/{session}", ready)])
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)


if __name__ == "__main__":
    main()
