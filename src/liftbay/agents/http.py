"""An agent behind an HTTP API, as an agent file of the kind `http` describes it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import aiohttp

from liftbay.agents.answer_form import AnswerForm
from liftbay.agents.hot_update import measure
from liftbay.agents.http_answer import read_answer
from liftbay.agents.http_file import HttpFile, VersionSource
from liftbay.agents.http_requests import HttpRequests, Request
from liftbay.agents.process import AgentProcess, ended, free_port, wait_until_ready
from liftbay.agents.secrets import Secrets
from liftbay.agents.templates import JsonPath, json_path
from liftbay.domain.trace import EvalTrace
from liftbay.errors import AgentError, AgentTimeout, AgentUnreachable, InputError, at
from liftbay.ports import AgentAnswer, AgentInput, SpanOrigin
from liftbay.transport.chat_endpoint import shown, whole
from liftbay.transport.http_exchange import HttpExchange
from liftbay.transport.network import proxy_for

_SIDE_TIMEOUT = 10.0  # seconds, for what is asked beside the turns
_READY_TIMEOUT = 30.0
_OK = 200


class HttpAgent:
    """The agent of an `HttpFile`."""

    def __init__(
        self, file: HttpFile, place: str, folder: Path, *, connections: int, otlp_endpoint: str | None
    ) -> None:
        """`place` names the file in errors, and its process is started in `folder`.

        `otlp_endpoint` is where exporters send spans, without `/v1/traces`. Raises `InputError` for whatever in the
        file is not right, before anything is sent.
        """
        self.name = file.name or Path(place).stem
        self.version = file.version if isinstance(file.version, str) else None
        self.spans = SpanOrigin.OTLP if file.trace.otlp else SpanOrigin.NONE
        self.secrets = Secrets()
        self.otlp_token: str | None = None  # that the receiver of spans asks for
        self.mcp_endpoint: str | None = None  # of the MCP server that liftbay stands in for, once it listens
        self._file = file
        self._place = place
        self._folder = folder
        self._otlp_endpoint = otlp_endpoint
        self._requests = HttpRequests(file, place, self.secrets, otlp_endpoint)
        self._form = AnswerForm(file.response, place, self.secrets)
        version = file.version if isinstance(file.version, VersionSource) else None
        self._version_path = None if version is None else json_path(version.path, place, "version.path")
        self._exchange = HttpExchange(connections=connections, file=place, hide=self.secrets.hide)
        self._process: AgentProcess | None = None

    overrides_remedy = (
        'send them in a field of [request], such as overrides = "{{overrides}}", and let the agent take what is in it'
    )

    @property
    def takes_overrides(self) -> bool:
        """Whether the file has a place for what is to replace modules' outputs."""
        return self._requests.sends_overrides

    @property
    def publishes_skills(self) -> bool:
        """Whether the file has a hook that publishes a changed Skill."""
        return self._file.publish_skill is not None

    async def hot_update_latency(self, ask: Callable[[str], Awaitable[EvalTrace | None]]) -> float | None:
        """Publish a changed Skill and `ask` until it is in effect: milliseconds, or None where it never was."""
        hook = self._file.publish_skill
        return None if hook is None else await measure(self.publish_skill, hook.input, ask)

    async def start(self) -> None:
        """Start the process where the file says so, wait until the agent is ready, and ask for its version."""
        try:
            if self._file.start is not None:
                await self._start_process()
            await self._wait_until_ready()
            if self._version_path is not None and (request := self._requests.version()) is not None:
                self.version = await self._version_in(request, self._version_path)
        except BaseException:
            await self.close()
            raise

    async def answer(self, turn: AgentInput) -> AgentAnswer:
        """Send one turn and read the answer; lasts until it is cancelled."""
        request = self._requests.turn(turn)
        begun = time.perf_counter()
        try:
            async with self._sent(request) as response:
                return await read_answer(self._form, response, begun)
        except AgentUnreachable:
            if self._process is not None and self._process.exit_code is not None:
                raise ended(self._process, self._place, self.secrets.hide) from None
            raise

    async def settled(self, session_id: str) -> bool:
        """Whether the agent says that the session is persisted; an agent that is not asked does not say so."""
        request = self._requests.settled(session_id)
        if request is None:
            return False
        async with _in_time(request), self._sent(request, any_status=True) as response:
            return response.status == _OK

    async def publish_skill(self, version: str) -> None:
        """Publish the Skill of the hook as `version`. Raises `AgentError` where the hook fails."""
        request = self._requests.publish(version)
        if request is not None:
            async with _in_time(request), self._sent(request) as response:
                await whole(response)

    async def close(self) -> None:
        """Close the connections and end the process."""
        await self._exchange.close()
        if self._process is not None:
            await self._process.stop()
            self._process = None

    async def _start_process(self) -> None:
        place = at(self._place, None, "start.command")
        if self._requests.wants_port:
            self._requests.use_port(free_port())
        elif await self._why_not_listening() is None:
            raise InputError(
                "something listens at {address} already",
                place=place,
                remedy="stop it, take [start] out, or write {{port}} in place of the port",
                address=self._requests.home,
            )
        environment = self._requests.environment(self.mcp_endpoint)
        if self._file.trace.otlp and self._otlp_endpoint is not None:
            exporter = {
                "OTEL_EXPORTER_OTLP_ENDPOINT": self._otlp_endpoint,
                "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            }
            if self.otlp_token is not None:
                exporter["OTEL_EXPORTER_OTLP_HEADERS"] = f"Authorization=Bearer%20{quote(self.otlp_token)}"
            environment = exporter | environment
        self._process = AgentProcess(self._requests.command(), environment, self._folder, place)

    async def _wait_until_ready(self) -> None:
        ready = self._requests.ready()
        home = self._requests.home
        if ready is not None or self._process is not None:
            await wait_until_ready(
                self._why_not_listening if ready is None else lambda: self._why_not_ready(ready),
                self._process,
                seconds=self._file.ready.timeout if self._file.ready else _READY_TIMEOUT,
                place=shown(home if ready is None else ready.url),
                hide=self.secrets.hide,
            )
        elif proxy_for(home) is None and (why := await self._why_not_listening()) is not None:
            raise AgentUnreachable(
                "nothing listens there: {why}",
                place=str(home),
                remedy="start the agent, or let liftbay start it with [start] command",
                why=why,
            )

    async def _why_not_ready(self, request: Request) -> str | None:
        try:
            async with self._sent(request) as response:
                await whole(response)
        except AgentError as error:
            return str(error)
        return None

    async def _why_not_listening(self) -> str | None:
        home = self._requests.home
        try:
            async with asyncio.timeout(_SIDE_TIMEOUT):
                _, writer = await asyncio.open_connection(home.host, home.port)
        except OSError as error:
            return str(error) or "?"
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        return None

    async def _version_in(self, request: Request, path: JsonPath) -> str:
        async with _in_time(request), self._sent(request) as response:
            answer = self._form.decoded(await whole(response))
        found = path.find(answer)
        if isinstance(found, int | float) and not isinstance(found, bool):
            return str(found)
        return self._form.text_in(answer, path)

    def _sent(
        self, request: Request, *, any_status: bool = False
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        return self._exchange.sent(request.method, request.url, request.headers, request.body, any_status=any_status)


@asynccontextmanager
async def _in_time(request: Request) -> AsyncIterator[None]:
    """What is asked beside the turns has a time of its own: no turn's clock runs meanwhile."""
    try:
        async with asyncio.timeout(_SIDE_TIMEOUT):
            yield
    except TimeoutError:
        raise AgentTimeout("no answer within {seconds:g} s", place=shown(request.url), seconds=_SIDE_TIMEOUT) from None
