"""Ask the judge's endpoint: few calls at once, tried again where that may help."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from typing import Any

import msgspec

from liftbay.errors import AgentError, AgentRefused, AgentTimeout, AgentUnreachable
from liftbay.transport.chat_endpoint import ChatEndpoint
from liftbay.transport.chat_stream import ChatModel, Completion
from liftbay.transport.retry import RetryPolicy, with_retries

Message = dict[str, Any]

RETRIES = RetryPolicy(
    timeout_tries=3,
    timeout_wait=3.0,
    server_tries=3,
    backoff_first=3.0,
    backoff_longest=3.0,
    retry_after_longest=120.0,
)
NO_RETRIES = RetryPolicy(timeout_tries=1, server_tries=1)
DOWN_AFTER = 8  # questions in a row that nobody answered: from then on each is tried once, until one is answered
_DOES_NOT_KNOW_A_FIELD = (400, 422)


class Spent(msgspec.Struct):
    """What one vote has taken so far."""

    calls: int = 0
    latency_ms: float = 0.0  # of the calls that were answered
    input_tokens: int | None = None
    output_tokens: int | None = None

    def add(self, completion: Completion, latency_ms: float) -> None:
        """Count a call that was answered."""
        self.latency_ms += latency_ms
        for name in ("input_tokens", "output_tokens"):
            if (told := getattr(completion, name)) is not None:
                setattr(self, name, (getattr(self, name) or 0) + told)


class Asker:
    """A judge's model behind an endpoint; remembers whether it takes `response_format`."""

    def __init__(self, endpoint: ChatEndpoint, *, concurrency: int, retries: RetryPolicy = RETRIES) -> None:
        self._endpoint = endpoint
        self._chat = ChatModel(endpoint, stream=False)
        self._slots = asyncio.Semaphore(concurrency)
        self._retries = retries
        self._takes_schema: bool | None = None  # None: not known yet
        self._unanswered = 0  # in a row
        self._open = AsyncExitStack()

    async def start(self) -> None:
        """Open the connection pool."""
        await self._open.enter_async_context(self._endpoint)

    async def models(self) -> list[str]:
        """The names of the models that the endpoint lists. Raises `AgentError`."""
        return await self._endpoint.models()

    async def ask(self, request: Message, schema: dict[str, Any], spent: Spent) -> Completion:
        """One answer, counted in `spent`. Raises the `AgentError` of the last try."""
        policy = self._retries if self._unanswered < DOWN_AFTER else NO_RETRIES
        async with self._slots:
            try:
                completion = await with_retries(lambda: self._with_schema(request, schema, spent), policy)
            except (AgentTimeout, AgentUnreachable):
                self._unanswered += 1
                raise
        self._unanswered = 0
        return completion

    async def close(self) -> None:
        """Give back the connections."""
        await self._open.aclose()

    async def _with_schema(self, request: Message, schema: dict[str, Any], spent: Spent) -> Completion:
        if self._takes_schema is not False:
            form = {"type": "json_schema", "json_schema": {"name": "judgement", "strict": True, "schema": schema}}
            try:
                completion = await self._timed({**request, "response_format": form}, spent)
            except AgentRefused as error:
                if self._takes_schema or error.values.get("status") not in _DOES_NOT_KNOW_A_FIELD:
                    raise
            else:
                self._takes_schema = True
                return completion
        completion = await self._timed(request, spent)
        self._takes_schema = False
        return completion

    async def _timed(self, request: Message, spent: Spent) -> Completion:
        spent.calls += 1
        begun = time.perf_counter()
        completion = await self._chat.ask(request)
        spent.add(completion, (time.perf_counter() - begun) * 1000)
        return completion


def why_unanswered(error: AgentError) -> str:
    """The reason of a verdict that a judge did not give, the same for all that failed in this way."""
    match error:
        case AgentTimeout():
            return "the judge did not answer: timeout"
        case AgentUnreachable():
            return "the judge did not answer: it could not be reached"
        case AgentRefused():
            return "the judge did not answer: the request was refused"
    return "the judge did not answer: the answer could not be understood"
