"""Any model behind an OpenAI-compatible endpoint as the agent: liftbay owns the tool loop and sees all of it."""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any

import msgspec

from liftbay.agents.chat_tools import AnsweredCall, Tool, answer_call, by_name, is_object, tool_of_python, tools_in_file
from liftbay.agents.mcp_client import McpServer, McpTools
from liftbay.agents.secrets import Secrets
from liftbay.domain.case import Case
from liftbay.domain.episode import Turn
from liftbay.domain.trace import EvalTrace, ModelTokens, ModelUsage, ToolCallRecord, ToolLoad
from liftbay.errors import AgentError, AgentProtocol, AgentTimeout, InputError, at
from liftbay.ports import AgentAnswer, AgentInput, SpanOrigin
from liftbay.transport.chat_endpoint import ChatEndpoint, shown
from liftbay.transport.chat_stream import ChatModel, Completion

_OURS = frozenset({"model", "messages", "tools", "stream", "stream_options", "n"})
_SESSIONS = 10_000  # whose messages are remembered: nobody says when one has ended
_START = 30.0  # seconds for the list of models

Message = dict[str, Any]


class ToolSources(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the agent's tools come from."""

    file: str | None = None  # a JSON list of definitions, with nothing behind them but mocks
    python: list[str] = []  # module:function
    mcp: list[McpServer] = []


class OpenAIChatFile(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="openai_chat", forbid_unknown_fields=True
):
    """An agent file of the kind `openai_chat`; paths are relative to its folder."""

    name: str
    base_url: str
    version: str | None = None  # None: the model
    model: str | None = None  # None: the only one that the endpoint lists
    api_key_env: str = "LIFTBAY_OPENAI_API_KEY"  # may be unset
    system_prompt: str | None = None
    system_prompt_file: str | None = None
    parameters: dict[str, Any] = {}  # go into every request
    stream: bool = True
    max_rounds: Annotated[int, msgspec.Meta(ge=1)] = 10  # calls of the model in a turn
    tools: ToolSources = ToolSources()


class OpenAIChatAgent:
    """Asks the model, answers the tool calls that it makes, and asks again until it calls none."""

    spans = SpanOrigin.NONE

    def __init__(self, file: OpenAIChatFile, folder: Path, *, connections: int, place: str | None = None) -> None:
        """`connections` are open to the endpoint at most; `place` names the file in errors, else its name.

        Raises `InputError` where the file is not right.
        """
        self.name = file.name
        self.version = file.version or file.model
        self.load_faults: dict[str, str] = {}  # by the name of the MCP server: why its tools are missing
        self._file = file
        self._place = place = place or file.name
        if ours := sorted(_OURS & file.parameters.keys()):
            raise InputError("liftbay sets {names} itself", place=at(place, None, "parameters"), names=", ".join(ours))
        self._secrets = Secrets()
        self._endpoint = _endpoint(file, connections, place)
        self._model = file.model
        self._system = _system_prompt(file, folder, place)
        definitions = tools_in_file(folder / file.tools.file) if file.tools.file else []
        functions = [tool_of_python(name, folder) for name in file.tools.python]
        self._tools = by_name([*definitions, *functions])
        self._servers = [McpTools(server, folder, self._secrets) for server in file.tools.mcp]
        self._loads: list[ToolLoad] = []
        self._histories: OrderedDict[str, list[Message]] = OrderedDict()
        self._open = AsyncExitStack()

    async def start(self) -> None:
        """Connect to the MCP servers, and ask for the model where the file names none."""
        await self._open.enter_async_context(self._endpoint)
        self._chat = ChatModel(self._endpoint, stream=self._file.stream)
        if self._model is None:
            self._model = await self._only_model()
            self.version = self.version or self._model
        loaded = await asyncio.gather(*(self._load(server) for server in self._servers))
        self._tools = by_name([*self._tools.values(), *(tool for tools in loaded for tool in tools)])
        names = [server.name for server in self._servers]
        self._loads = [ToolLoad("mcp", name, success=name not in self.load_faults) for name in names]

    async def answer(self, turn: AgentInput) -> AgentAnswer:
        """The model's last text, with all that happened until then. Raises `AgentError`."""
        messages = [*self._before(turn), {"role": "user", "content": turn.user_input}]
        seen = _Seen()
        loads = [] if turn.earlier else self._loads
        try:
            text = await self._until_no_call(turn, messages, seen)
        except AgentError as error:
            error.trace = seen.trace(loads)
            raise
        self._remember(turn, messages)
        return AgentAnswer(text=text, trace=seen.trace(loads), time_to_first_token_ms=seen.first_token_ms)

    async def _until_no_call(self, turn: AgentInput, messages: list[Message], seen: _Seen) -> str:
        """Ask the model and answer its tool calls until it makes none; `messages` and `seen` grow meanwhile."""
        tools = _offered(self._tools, turn.case)
        for _ in range(self._file.max_rounds):
            completion = await self._ask(messages, tools, turn.traceparent)
            seen.note(completion, self._model or "")
            messages.append(_said(completion, len(messages)))
            if not completion.tool_calls:
                return completion.text
            for asked, call in zip(messages[-1]["tool_calls"], completion.tool_calls, strict=True):
                answered = await answer_call(call, tools, turn.tools)
                seen.calls.append(self._without_secrets(answered))
                messages.append({"role": "tool", "tool_call_id": asked["id"], "content": answered.text})
        raise AgentProtocol(
            "the model still calls tools after {rounds} rounds (max_rounds)", rounds=self._file.max_rounds
        )

    async def settled(self, session_id: str) -> bool:
        """What was said is kept here."""
        return True

    async def close(self) -> None:
        """Disconnect; processes of MCP servers are stopped."""
        await asyncio.gather(*(server.close() for server in self._servers))
        await self._open.aclose()

    async def _only_model(self) -> str:
        place = at(self._place, None, "model")
        try:
            async with asyncio.timeout(_START):
                models = await self._endpoint.models()
        except TimeoutError:
            address = shown(self._endpoint.base_url)
            raise AgentTimeout("no answer within {seconds:g} s", place=address, seconds=_START) from None
        except AgentError as error:
            error.remedy = "check base_url and the key, or name the model"
            raise
        if len(models) != 1:
            raise InputError(
                "the endpoint lists {count} models",
                place=place,
                remedy="name one: {names}",
                count=len(models),
                names=", ".join(models[:20]) or "-",
            )
        return models[0]

    async def _load(self, server: McpTools) -> list[Tool]:
        tools: list[Tool] = []
        try:
            tools = await server.tools()
        except AgentError as fault:
            self.load_faults[server.name] = str(fault)
        return tools

    def _before(self, turn: AgentInput) -> list[Message]:
        """The messages before this turn: as they were where this session is remembered, or what was said."""
        if turn.earlier and turn.session_id in self._histories:
            return self._histories[turn.session_id]
        system = [{"role": "system", "content": self._system}] if self._system else []
        given = [msgspec.to_builtins(message) for message in turn.case.history]
        return [*system, *given, *_exchanged(turn.earlier)]

    async def _ask(self, messages: list[Message], tools: Mapping[str, Tool], traceparent: str | None) -> Completion:
        request = {**self._file.parameters, "model": self._model, "messages": messages}
        if tools:
            request["tools"] = [tool.definition for tool in tools.values()]
        return await self._chat.ask(request, {"traceparent": traceparent} if traceparent else None)

    def _remember(self, turn: AgentInput, messages: list[Message]) -> None:
        self._histories.pop(turn.session_id, None)
        if turn.round == turn.case.rounds[-1].round:
            return  # the last turn: nobody asks again
        self._histories[turn.session_id] = messages
        if len(self._histories) > _SESSIONS:
            self._histories.popitem(last=False)

    def _without_secrets(self, answered: AnsweredCall) -> ToolCallRecord:
        """The record as the store may keep it; the model is told all."""
        call = answered.record
        changes = {name: self._secrets.hidden(getattr(call, name)) for name in ("arguments", "result", "error")}
        return msgspec.structs.replace(call, **changes)


class _Seen:
    """What the client sees of one turn."""

    def __init__(self) -> None:
        self.calls: list[ToolCallRecord] = []
        self.first_token_ms: float | None = None
        self._begun = time.perf_counter()
        self._completions: list[tuple[str, Completion]] = []

    def note(self, completion: Completion, model: str) -> None:
        """One answer of the model; `model` is its name where the server does not say it."""
        self._completions.append((completion.model or model, completion))
        if self.first_token_ms is None and completion.first_visible_at is not None:
            self.first_token_ms = (completion.first_visible_at - self._begun) * 1000

    def trace(self, loads: list[ToolLoad]) -> EvalTrace:
        """The trace of the turn."""
        names = dict.fromkeys(name for name, _ in self._completions)
        by_model = {name: _tokens(one for other, one in self._completions if other == name) for name in names}
        in_all = _tokens(one for _, one in self._completions)
        usage = ModelUsage(
            calls=in_all.calls,
            input_tokens=in_all.input_tokens,
            output_tokens=in_all.output_tokens,
            by_model=by_model,
        )
        return EvalTrace(tool_calls=self.calls, tool_loads=loads, model=usage)


def _tokens(completions: Iterable[Completion]) -> ModelTokens:
    """The calls and the sums of their tokens; a sum is None where the server does not tell every part of it."""
    found = list(completions)
    return ModelTokens(
        calls=len(found),
        input_tokens=_sum([one.input_tokens for one in found]),
        output_tokens=_sum([one.output_tokens for one in found]),
    )


def _sum(numbers: list[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _endpoint(file: OpenAIChatFile, connections: int, place: str) -> ChatEndpoint:
    try:
        key = os.environ.get(file.api_key_env, "")
        return ChatEndpoint(file.base_url, key, connections=connections, timeout=None)
    except InputError as error:
        places = {"--openai-api-key": file.api_key_env, "--base-url": at(place, None, "base_url")}
        if error.place not in places:
            raise
        raise InputError(
            error.cause,
            place=places[error.place],
            remedy="give an address such as http://localhost:8000/v1, and the key in the variable of api_key_env",
        ) from None


def _system_prompt(file: OpenAIChatFile, folder: Path, place: str) -> str | None:
    if file.system_prompt_file is None:
        return file.system_prompt
    path = folder / file.system_prompt_file
    if file.system_prompt is not None:
        raise InputError("give either system_prompt or system_prompt_file", place=at(place))
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError("the file cannot be read: {why}", place=at(path), why=error.strerror) from None
    except UnicodeDecodeError:
        raise InputError("the text is not UTF-8", place=at(path)) from None


def _offered(tools: Mapping[str, Tool], case: Case) -> Mapping[str, Tool]:
    """The agent's tools with those of the case; where both know a name, the case describes the agent's tool."""
    if not case.tools:
        return tools
    offered = dict(tools)
    for position, definition in enumerate(case.tools):
        name = Tool(definition, case.id).name or f"[{position}]"  # the endpoint says what is wrong with it
        own = tools.get(name)
        offered[name] = Tool(definition, case.id, own.call if own else None)
    return offered


def _exchanged(earlier: Iterable[Turn]) -> list[Message]:
    messages: list[Message] = []
    for turn in earlier:
        messages.append({"role": "user", "content": turn.user_input})
        messages.append({"role": "assistant", "content": turn.answer or ""})
    return messages


def _said(completion: Completion, position: int) -> Message:
    """The message that goes back to the model; a call without an id of its own gets one.

    Servers read the arguments again and refuse what is no JSON: the answer to the call says what they were.
    """
    message: Message = {"role": "assistant", "content": completion.text}
    if not completion.tool_calls:
        return message
    taken: set[str] = set()
    calls = []
    for number, call in enumerate(completion.tool_calls):
        id_ = call.id if call.id and call.id not in taken else f"call_{position}_{number}"
        taken.add(id_)
        function = {"name": call.name, "arguments": call.arguments if is_object(call.arguments) else "{}"}
        calls.append({"id": id_, "type": "function", "function": function})
    return {**message, "content": completion.text or None, "tool_calls": calls}
