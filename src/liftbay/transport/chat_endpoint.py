"""The one client of OpenAI-compatible endpoints: vLLM, llama.cpp, Ollama, hosted services.

A method makes one try and raises an `AgentError` that says whether another may help; `liftbay.transport.retry`
does the waiting.
"""

from __future__ import annotations

import asyncio
import email.utils
import math
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Self

import aiohttp
import msgspec
from yarl import URL

import liftbay
from liftbay.errors import AgentProtocol, AgentRefused, AgentTimeout, AgentUnreachable, InputError
from liftbay.transport.kept_connection import answered, notes_reuse
from liftbay.transport.network import proxy_for, tls_context

MAX_ANSWER_BYTES = 32 << 20
_SHOWN = 300  # characters of an answer that an error repeats
_BUSY = (429, 503)
_SERVER_FAULT = 500
_REDIRECT = range(300, 400)


class FunctionCall(msgspec.Struct):
    """What a model wants to call; `arguments` is JSON text, though some servers send the object itself."""

    name: str
    arguments: str | dict[str, Any]


class ChatToolCall(msgspec.Struct):
    """A tool call of a chat message."""

    function: FunctionCall


class ChatMessage(msgspec.Struct):
    """The message that a model answered."""

    content: Any = None
    tool_calls: list[ChatToolCall] | None = None


class ChatChoice(msgspec.Struct):
    """One choice of a chat completion."""

    message: ChatMessage
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[ChatChoice] = []
    error: Any = None


class _Model(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Model]


class ChatEndpoint:
    """A connection pool to one OpenAI-compatible endpoint; used as an async context manager."""

    def __init__(self, base_url: str, api_key: str, *, connections: int, timeout: float | None) -> None:
        """`timeout` is for one try, in seconds; None: whoever asks holds the clock.

        Raises `InputError` where `base_url` is not an http address.
        """
        self.base_url = _parse(base_url)
        self._key = api_key.strip()
        if not self._key.isprintable():
            raise InputError(
                "the key holds a control character, such as an end of line",
                place="--openai-api-key",
                remedy="give the key alone",
            )
        self._connections = connections
        self._timeout = timeout
        self._chat_url = _below(self.base_url, "chat/completions")
        self._proxy = proxy_for(self.base_url)
        self._completion = msgspec.json.Decoder(_Completion)

    async def __aenter__(self) -> Self:
        secure = self.base_url.scheme == "https" or (self._proxy is not None and self._proxy.scheme == "https")
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, ssl=tls_context() if secure else True),
            timeout=aiohttp.ClientTimeout(total=None),  # `_asked` holds the clock
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={
                **({"Authorization": f"Bearer {self._key}"} if self._key else {}),
                "Content-Type": "application/json",
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": f"liftbay/{liftbay.__version__}",
            },
            proxy=self._proxy,
            trace_configs=[notes_reuse()],
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def models(self) -> list[str]:
        """The names of the models that the endpoint lists."""
        url = _below(self.base_url, "models")
        content = await self._ask("GET", url, None)
        try:
            return [model.id for model in msgspec.json.decode(content, type=_Models).data]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise AgentProtocol(
                "the list of models is not what OpenAI-compatible endpoints send: {answer}",
                place=shown(url),
                remedy="check --base-url (it usually ends in /v1), or name the model with --model",
                answer=self.beginning(content),
            ) from None

    async def chat(self, body: bytes) -> ChatChoice:
        """Ask for one completion; `body` is the request's JSON text. Returns the first choice."""
        content = await self._ask("POST", self._chat_url, body)
        try:
            completion = self._completion.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise AgentProtocol(
                "the answer is not a chat completion: {why}: {answer}", why=error, answer=self.beginning(content)
            ) from None
        if not completion.choices:
            raise AgentProtocol("the answer holds no choice: {answer}", answer=self.beginning(content))
        return completion.choices[0]

    def opened(self, body: bytes, headers: Mapping[str, str]) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Ask for one completion and read the answer while it comes; what fails meanwhile is an `AgentError`."""
        return self._asked("POST", self._chat_url, body, headers)

    async def _ask(self, method: str, url: URL, body: bytes | None) -> bytes:
        async with self._asked(method, url, body, {}) as response:
            return await whole(response)

    @asynccontextmanager
    async def _asked(
        self, method: str, url: URL, body: bytes | None, headers: Mapping[str, str]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        try:
            async with (
                asyncio.timeout(self._timeout),
                answered(self._session, method, url, headers, body) as response,
            ):
                if response.status != 200:
                    raise self._failure(url, response.status, response.headers, await whole(response))
                yield response
        except TimeoutError:
            raise AgentTimeout(
                "no answer within {seconds:g} s",
                place=shown(url),
                remedy="raise --timeout or lower --concurrency",
                seconds=self._timeout,
            ) from None
        except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError) as error:
            raise AgentRefused(
                "no secure connection: {why}",
                place=shown(url),
                remedy="for a private certificate authority set SSL_CERT_FILE to its PEM file"
                if isinstance(error, aiohttp.ClientConnectorCertificateError)
                else "check whether the server speaks https, or http alone",
                why=error,
            ) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise AgentUnreachable(
                "the connection failed: {why}",
                place=shown(url),
                remedy="check that the server runs and that --base-url is right",
                why=self._without_key(_why(error)) + (f" (proxy {shown(self._proxy)})" if self._proxy else ""),
            ) from None

    def _failure(
        self, url: URL, status: int, headers: Mapping[str, str], content: bytes
    ) -> AgentUnreachable | AgentRefused:
        answer = self.beginning(content)
        if status in _BUSY or status >= _SERVER_FAULT:
            return AgentUnreachable(
                "HTTP {status}: {answer}",
                place=shown(url),
                retry_after=_seconds(headers.get("Retry-After")) if status in _BUSY else None,
                status=status,
                answer=answer,
            )
        if status in _REDIRECT:
            return AgentRefused(
                "HTTP {status}: it redirects to {target}",
                place=shown(url),
                remedy="give the address that it redirects to as --base-url",
                status=status,
                target=headers.get("Location", "?").removesuffix("/chat/completions").removesuffix("/models"),
            )
        return AgentRefused(
            "HTTP {status}: {answer}",
            place=shown(url),
            remedy=_remedy(status, answer),
            status=status,
            answer=answer,
        )

    def beginning(self, content: bytes) -> str:
        """The beginning of an answer, on one line and without the key."""
        text = " ".join(content[: 4 * _SHOWN].decode("utf-8", "replace").split())
        return self._without_key(text)[:_SHOWN] or "(empty)"

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "***") if len(self._key) >= 8 else text


def shown(url: URL) -> str:
    """An address as errors and files may hold it: without user, password and the values of its query."""
    plain = url.with_user(None)
    return str(plain.with_query(dict.fromkeys(plain.query, "***")) if plain.query else plain)


def _parse(base_url: str) -> URL:
    try:
        url = URL(base_url)
    except ValueError:
        url = URL()
    if url.user is not None or url.password is not None:
        raise InputError(
            "the address holds a user name or a password",
            place="--base-url",
            remedy="take them out, and give the key with --openai-api-key or in LIFTBAY_OPENAI_API_KEY",
        )
    if url.scheme not in ("http", "https") or not url.host:
        raise InputError(
            "this is not an http address",
            place="--base-url",
            remedy="give an address such as http://localhost:8000/v1",
        )
    return url


def _below(base: URL, path: str) -> URL:
    return base.with_path(f"{base.path.rstrip('/')}/{path}", keep_query=True)


async def whole(response: aiohttp.ClientResponse) -> bytes:
    """The whole answer. Raises `AgentProtocol` beyond `MAX_ANSWER_BYTES`, before it is all in memory."""
    announced = response.content_length
    if announced is not None and announced <= MAX_ANSWER_BYTES and "Content-Encoding" not in response.headers:
        return await response.read()
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > MAX_ANSWER_BYTES:
            response.close()
            raise AgentProtocol("the answer is longer than {limit} MiB", limit=MAX_ANSWER_BYTES >> 20)
    return bytes(content)


def _why(error: aiohttp.ClientError | OSError | ValueError) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        return str(error.os_error)
    return f"{type(error).__name__}: {error}"


def _seconds(retry_after: str | None) -> float | None:
    """`Retry-After` in seconds from now: a number, or a date (RFC 9110, section 10.2.3)."""
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after)
        return None if math.isnan(seconds) else max(0.0, seconds)
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None


def _remedy(status: int, answer: str) -> str | None:
    text = answer.lower()
    if status == 400 and "tool" in text and ("choice" in text or "parser" in text):
        return (
            "the server does not take tool_choice; start vLLM with --enable-auto-tool-choice --tool-call-parser hermes"
        )
    if status in (401, 403):
        return "give the key with --openai-api-key or in LIFTBAY_OPENAI_API_KEY"
    if status == 404:
        return "check --base-url (it usually ends in /v1) and --model"
    if status == 400 and ("context" in text or "max_model_len" in text):
        return "the server's context is too small for the tools and the dialogue; start it with a longer one"
    return None
