"""Where the tools of a chat agent come from: a file of definitions, Python functions; and the answer to a call."""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import sys
import time
import typing
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from liftbay.agents.daemon_thread import in_daemon_thread
from liftbay.domain.trace import ToolCallRecord
from liftbay.errors import InputError, LiftbayError, at
from liftbay.ports import TrialTools
from liftbay.transport.tool_call_pieces import RequestedCall

MAX_RESULT_BYTES = 1 << 20
NO_IMPLEMENTATION = "there is no implementation behind this tool"
UNMOCKED = "unmocked call"
_SHOWN = 300  # characters of an error

Implementation = Callable[[dict[str, Any]], Awaitable[Any]]


class ToolFailed(LiftbayError):
    """A tool says that the call failed; its text is all that the model is told."""

    def __init__(self, why: str) -> None:
        super().__init__("{why}", why=why)


class Tool(msgspec.Struct, frozen=True):
    """A tool that a model is offered."""

    definition: dict[str, Any]  # in the form of the OpenAI API
    source: str  # where it comes from, for errors
    call: Implementation | None = None  # None: only a mock can answer

    @property
    def name(self) -> str:
        """Its name, if the definition has one."""
        function = self.definition.get("function")
        return str(function.get("name", "")) if isinstance(function, dict) else ""


def by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """The tools by name. Raises `InputError` where two have the same."""
    found: dict[str, Tool] = {}
    for tool in tools:
        if (other := found.setdefault(tool.name, tool)) is not tool:
            raise InputError(
                "there are two tools of the name {name}",
                place=tool.source,
                remedy="rename one of them; the other is in {source}",
                name=tool.name,
                source=other.source,
            )
    return found


def tools_in_file(path: Path) -> list[Tool]:
    """The definitions of a JSON file. Raises `InputError` where they are not those of the OpenAI API."""
    try:
        definitions = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise InputError("the file cannot be read: {why}", place=at(path), why=error.strerror) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError("invalid JSON: {why}", place=at(path), why=error) from None
    tools = [
        Tool(definition if isinstance(definition, dict) else {}, at(path, None, f"[{position}]"))
        for position, definition in enumerate(definitions if isinstance(definitions, list) else [None])
    ]
    for tool in tools:
        if not tool.name:
            raise InputError(
                "this is no tool definition",
                place=tool.source,
                remedy='give a list of {{"type": "function", "function": {{"name": …, "parameters": …}}}}',
            )
    return tools


def tool_of_python(name: str, folder: Path) -> Tool:
    """The function `module:function`; modules of `folder` and of the current one are found.

    Raises `InputError` where there is none, or where its parameters cannot be described.
    """
    place = f"python: {name}"
    module, _, attribute = name.partition(":")
    for path in (str(folder), str(Path.cwd())):
        if path not in sys.path:
            sys.path.insert(0, path)
    try:
        if not module or not attribute:
            raise ImportError(name)
        function: Any = importlib.import_module(module)
        for part in attribute.split("."):
            function = getattr(function, part)
        if not callable(function):
            raise TypeError(f"{attribute} is {type(function).__name__}")
    except (Exception, SystemExit) as error:  # a module may raise anything while it is imported
        raise InputError(
            "the function cannot be imported: {why}",
            place=place,
            remedy="name it module:function; the module is looked for beside the agent file",
            why=_shown(error),
        ) from None
    return _tool_of_function(function, attribute.rpartition(".")[2], place)


def _tool_of_function(function: Callable[..., Any], name: str, place: str) -> Tool:
    try:
        parameters = _parameters(function, name)
        (reference,), components = msgspec.json.schema_components([parameters])
    except (TypeError, ValueError, NameError, RuntimeError) as error:
        raise InputError(
            "the parameters of the function cannot be described: {why}",
            place=place,
            remedy="give each a name and a type that JSON has: str, int, float, bool, list, dict, a dataclass",
            why=_shown(error),
        ) from None
    schema = components.pop(reference["$ref"].rpartition("/")[2])
    schema.pop("title", None)
    if components:
        schema["$defs"] = components
    summary = (inspect.getdoc(function) or "").partition("\n")[0].strip()
    definition = {"name": name, **({"description": summary} if summary else {}), "parameters": schema}
    is_async = inspect.iscoroutinefunction(function)

    async def call(arguments: dict[str, Any]) -> Any:
        try:
            given = msgspec.convert(arguments, parameters)
        except msgspec.ValidationError as error:
            raise ToolFailed(f"wrong arguments: {error}") from None
        named = {key: getattr(given, key) for key in arguments}  # the function itself has the defaults
        if is_async:
            return await function(**named)
        returned = await in_daemon_thread(functools.partial(function, **named))
        return await returned if inspect.isawaitable(returned) else returned

    return Tool({"type": "function", "function": definition}, place, call)


def _parameters(function: Callable[..., Any], name: str) -> type[msgspec.Struct]:
    """The parameters as a struct, which describes them and checks what a model sends."""
    types = typing.get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{parameter} cannot be given by name")
        kind = types.get(parameter.name, Any)
        default = parameter.default
        if default is parameter.empty:
            fields.append((parameter.name, kind))
        elif default is None or isinstance(default, str | int | float):
            fields.append((parameter.name, kind, default))
        else:
            fields.append((parameter.name, kind, msgspec.field(default_factory=object)))  # may be left out
    return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)


_ARGUMENTS = msgspec.json.Decoder(dict[str, Any])
_NO_OBJECT = (msgspec.DecodeError, UnicodeError, RecursionError)


def is_object(arguments: str) -> bool:
    """Whether the arguments of a call are what they must be, the text of a JSON object."""
    try:
        _ARGUMENTS.decode(arguments)
    except _NO_OBJECT:
        return False
    return True


class AnsweredCall(msgspec.Struct, frozen=True):
    """A call that was answered, and what the model is told."""

    record: ToolCallRecord
    text: str


async def answer_call(call: RequestedCall, tools: Mapping[str, Tool], trial: TrialTools | None) -> AnsweredCall:
    """Answer one call of the model: from the trial's mock data, or with the real tool; an error is an answer too."""
    try:
        arguments = _ARGUMENTS.decode(call.arguments or "{}")
    except _NO_OBJECT as error:
        return _refused(call, {}, f"the arguments are not a JSON object: {error}: {call.arguments[:_SHOWN]}")
    tool = tools.get(call.name)
    if tool is None:
        return _refused(call, arguments, f"there is no tool of the name {call.name}")
    answer = trial.intercept(call.name, arguments) if trial is not None else None
    if answer is None:
        return await _asked(tool, call.name, arguments)
    await asyncio.sleep(answer.latency_ms / 1000)
    error_text = (answer.error or UNMOCKED) if answer.unmocked else answer.error
    record = ToolCallRecord(
        call.name,
        arguments,
        success=error_text is None,
        result=answer.result,
        error=error_text,
        mocked=not answer.unmocked,
        unmocked=answer.unmocked,
    )
    return AnsweredCall(record, _text_of(answer.result) if error_text is None else _told_error(error_text))


async def _asked(tool: Tool, name: str, arguments: dict[str, Any]) -> AnsweredCall:
    """The answer of the real tool. Whatever it raises is told to the model."""
    if tool.call is None:
        return _refused(RequestedCall(name=name), arguments, NO_IMPLEMENTATION)
    result: Any = None
    error: str | None = None
    begun = time.perf_counter()
    try:
        result, text = _told(await tool.call(arguments))
    except (Exception, asyncio.CancelledError, SystemExit) as raised:
        task = asyncio.current_task()
        if isinstance(raised, asyncio.CancelledError) and (task is None or task.cancelling()):
            raise
        error = _shown(raised)
        text = _told_error(error)
    took = (time.perf_counter() - begun) * 1000
    record = ToolCallRecord(name, arguments, success=error is None, result=result, error=error, latency_ms=took)
    return AnsweredCall(record, text)


def _refused(call: RequestedCall, arguments: dict[str, Any], why: str) -> AnsweredCall:
    return AnsweredCall(ToolCallRecord(call.name, arguments, success=False, error=why), _told_error(why))


def _told(result: Any) -> tuple[Any, str]:
    """A result as JSON has it, and the text that the model gets. Raises `ToolFailed` where it has no such form."""
    try:
        encoded = msgspec.json.encode(result)
        kept = msgspec.json.decode(encoded)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ToolFailed(f"the result cannot be written as JSON: {error}") from None
    if len(encoded) > MAX_RESULT_BYTES:
        raise ToolFailed(f"the result is longer than {MAX_RESULT_BYTES >> 10} KiB")
    return kept, _text_of(kept)


def _text_of(result: Any) -> str:
    return result if isinstance(result, str) else msgspec.json.encode(result).decode()


def _told_error(why: str) -> str:
    return msgspec.json.encode({"error": why}).decode()


def _shown(error: BaseException) -> str:
    try:
        text = str(error) if isinstance(error, ToolFailed) else f"{type(error).__name__}: {error}"
    except Exception:  # its own text may be what is broken
        text = type(error).__name__
    return text[:_SHOWN].encode("utf-8", "backslashreplace").decode()
