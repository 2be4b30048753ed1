"""The agent's HTTP interface."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable
from typing import Annotated

import msgspec
from aiohttp import web
from opentelemetry.propagate import extract

from liftbay_demo.agent import Agent
from liftbay_demo.faults.faulty import NAMES, under_faults
from liftbay_demo.faults.setting import VARIABLE, FaultError, faults_in
from liftbay_demo.overrides import Overrides
from liftbay_demo.pipeline import TurnInput
from liftbay_demo.tools.skills import SkillError

_LARGEST_BODY = 2 * 1024 * 1024
_log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class ChatBody(msgspec.Struct, frozen=True, rename="camel"):
    """The body of `POST /chat`."""

    session: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
    message: str
    biz_code: str | None = None
    stream: bool | None = None
    tool_gateway: Annotated[str, msgspec.Meta(pattern="^https?://")] | None = None
    overrides: Overrides | None = None
    faults: str | None = None  # in the place of those that the agent was started with


class SkillBody(msgspec.Struct, frozen=True):
    """The body of `PUT /skills/{name}`."""

    version: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    content: str | None = None


def application(agent: Agent) -> web.Application:
    """The routes of the agent."""
    routes = Routes(agent)
    app = web.Application(client_max_size=_LARGEST_BODY, middlewares=[_errors_as_json])
    app.add_routes(
        [
            web.post("/chat", routes.chat),
            web.get("/ready", routes.ready),
            web.get("/version", routes.version),
            web.get("/sessions/{id}/settled", routes.settled),
            web.get("/skills", routes.skills),
            web.put("/skills/{name}", routes.publish),
        ]
    )
    return app


class Routes:
    """What answers each route."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._faults = faults_in(os.environ.get(VARIABLE, ""), NAMES)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """One turn."""
        body = msgspec.json.decode(await request.read(), type=ChatBody)
        if not self._agent.ready:
            return _json({"error": "the agent is starting"}, 503)
        turn = TurnInput(body.session, body.message, body.biz_code, body.tool_gateway, body.overrides or Overrides())
        parent = extract(request.headers)
        faults = self._faults if body.faults is None else faults_in(body.faults, NAMES)
        pipeline = under_faults(self._agent.pipeline, faults, turn)
        async with self._agent.sessions.turn_of(body.session):
            if body.stream or ("text/event-stream" in request.headers.get("Accept", "") and body.stream is not False):
                events = Events(request)
                await events.begin()
                try:
                    await pipeline.turn(turn, events.delta, parent)
                except Exception:
                    _log.exception("a turn of session %s failed", body.session)
                    await events.send(msgspec.json.encode({"error": "internal error"}))
                return await events.end()
            text = await pipeline.turn(turn, _nowhere, parent)
        return _json({"text": text, "session": body.session})

    async def ready(self, request: web.Request) -> web.StreamResponse:
        """Whether messages can be answered, and what was loaded."""
        if not self._agent.ready:
            return _json({"ready": False}, 503)
        loads = [{"kind": one.kind, "name": one.name, "error": one.error} for one in self._agent.loads()]
        return _json({"ready": True, "loads": loads})

    async def version(self, request: web.Request) -> web.StreamResponse:
        """The versions of the agent and of its knowledge base."""
        if not self._agent.ready:
            return _json({"error": "the agent is starting"}, 503)
        return _json({"version": self._agent.version, "knowledgeVersion": self._agent.knowledge.version})

    async def settled(self, request: web.Request) -> web.StreamResponse:
        """Whether a session is on disk: 200, or 409 as long as it is not."""
        if not self._agent.ready:
            return _json({"error": "the agent is starting"}, 503)
        settled = await self._agent.sessions.settled(request.match_info["id"])
        if settled is None:
            return _json({"error": "there is no such session"}, 404)
        return _json({"settled": settled}, 200 if settled else 409)

    async def skills(self, request: web.Request) -> web.StreamResponse:
        """The Skills that are in effect, and those that could not be loaded."""
        if not self._agent.ready:
            return _json({"error": "the agent is starting"}, 503)
        skills = self._agent.skills
        shown = [
            {"name": one.name, "title": one.title, "version": one.version, "tools": one.tools}
            for one in skills.current.values()
        ]
        return _json({"skills": shown, "failures": skills.failures})

    async def publish(self, request: web.Request) -> web.StreamResponse:
        """Write a changed Skill; it takes effect as soon as the folder is looked at again."""
        body = msgspec.json.decode(await request.read(), type=SkillBody)
        if not self._agent.ready:
            return _json({"error": "the agent is starting"}, 503)
        name = request.match_info["name"]
        try:
            self._agent.skills.publish(name, body.version, body.content)
        except SkillError as error:
            return _json({"error": str(error)}, 400)
        return _json({"name": name, "version": body.version})


class Events:
    """An answer as server-sent events."""

    def __init__(self, request: web.Request) -> None:
        self._request = request
        self._response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
        )
        self._gone = False

    async def begin(self) -> None:
        """Send the head of the answer."""
        await self._response.prepare(self._request)

    async def delta(self, piece: str) -> None:
        """Send a piece of the answer."""
        await self.send(msgspec.json.encode({"delta": piece}))

    async def send(self, data: bytes) -> None:
        """Send an event; whoever has hung up gets none, and the turn goes on."""
        if self._gone:
            return
        try:
            await self._response.write(b"data: " + data + b"\n\n")
        except ConnectionError:
            self._gone = True

    async def end(self) -> web.StreamResponse:
        """Send the last event."""
        await self.send(b"[DONE]")
        return self._response


async def _nowhere(piece: str) -> None:
    """For an answer that is sent as a whole."""


def _json(value: object, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), status=status, content_type="application/json")


@web.middleware
async def _errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except (msgspec.ValidationError, msgspec.DecodeError, FaultError) as error:
        return _json({"error": str(error)}, 400)
    except web.HTTPException as error:
        return _json({"error": error.reason}, error.status)
    except Exception:
        _log.exception("%s %s failed", request.method, request.path)
        return _json({"error": "internal error"}, 500)
