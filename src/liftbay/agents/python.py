"""`python:module:callable`: a Python function, plain or async, as the agent.

It is called with the user's input, and with those of `session_id`, `history`, `tools`, `biz_code`, `mock_data_id`,
`round`, `trial`, `traceparent`, `mcp_endpoint`, `mock_endpoint` and `overrides` that it has parameters for. It returns
the text of the answer, or an `AgentAnswer` (or a mapping with `text` and, if it has one, `trace` in the form of the
EvalTrace).
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from liftbay.agents.daemon_thread import in_daemon_thread
from liftbay.agents.given_overrides import giving
from liftbay.agents.inline_trace import refuse_impossible_numbers
from liftbay.agents.stand_in_file import StandInFor
from liftbay.domain.override import said_before
from liftbay.domain.trace import EvalTrace
from liftbay.errors import AgentCrash, AgentError, AgentProtocol, AgentTimeout, AgentUnreachable, InputError
from liftbay.ports import AgentAnswer, AgentInput, SpanOrigin

_SHOWN = 300


class PythonTrace(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the agent's spans come; spans of this process need no setting."""

    otlp: bool = False  # a process that the function asks exports them to liftbay's receiver


class PythonFile(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="python", forbid_unknown_fields=True):
    """An agent file of the kind `python`."""

    function: str  # module:callable
    name: str | None = None
    version: str | None = None  # None: `__version__` of the module
    mocked: list[str] = []  # functions (module:function) that mock data answers for in E2E_MOCK
    overrides: bool = False  # the agent takes what liftbay.overrides() gives
    mcp_stand_in: StandInFor | None = None
    trace: PythonTrace = PythonTrace()


class PythonAgent:
    """A callable as the agent; each call of a plain function runs in a thread of its own."""

    overrides_remedy = (
        "give the function a parameter named overrides, or use liftbay.overrides() in it and say overrides = true in "
        "the agent file"
    )

    def __init__(self, function: Callable[..., Any], name: str, version: str | None = None) -> None:
        self.name = name
        self.version = version
        self.spans = SpanOrigin.IN_PROCESS if _uses_opentelemetry() else SpanOrigin.NONE
        self._function = function
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
        )
        self._wanted = _wanted_parameters(function)
        self.takes_overrides = "overrides" in inspect.signature(function).parameters
        try:
            inspect.signature(function).bind("", **dict.fromkeys(self._wanted & _PARAMETERS.keys()))
        except TypeError as error:
            raise InputError(
                "the function cannot be called with the user's input alone: {why}",
                place=name,
                remedy="take the user's input first, and of the others only: {names}",
                why=error,
                names=", ".join(_PARAMETERS),
            ) from None

    async def start(self) -> None:
        """Nothing to get ready."""

    async def answer(self, turn: AgentInput) -> AgentAnswer:
        """Call the function; whatever it raises is a fault of the agent."""
        arguments = {name: read(turn) for name, read in _PARAMETERS.items() if name in self._wanted}
        try:
            with giving(turn.overrides):
                if self._is_async:
                    returned = await self._function(turn.user_input, **arguments)
                else:
                    returned = await in_daemon_thread(lambda: self._function(turn.user_input, **arguments))
                    if inspect.isawaitable(returned):
                        returned = await returned
        except AgentError:
            raise
        except TimeoutError as error:
            raise AgentTimeout("the agent timed out: {why}", why=_shown(error)) from error
        except OSError as error:
            raise AgentUnreachable("the agent lost a connection: {why}", why=_shown(error)) from error
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise AgentCrash("the agent raised {why}", why=_shown(error)) from error  # nobody cancelled this trial
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise AgentCrash("the agent raised {why}", why=_shown(error)) from error
        return _answer(returned)

    async def settled(self, session_id: str) -> bool:
        """A function keeps nothing that could be late."""
        return True

    async def close(self) -> None:
        """Nothing to give back."""


def _uses_opentelemetry() -> bool:
    """Whether the agent makes spans: its module was imported, and whoever makes any has loaded the API."""
    return "opentelemetry.trace" in sys.modules and importlib.util.find_spec("opentelemetry.sdk") is not None


def _wanted_parameters(function: Callable[..., Any]) -> frozenset[str]:
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return frozenset(_PARAMETERS)
    return frozenset(parameter.name for parameter in parameters)


def _history(turn: AgentInput) -> list[dict[str, Any]]:
    """The messages before this turn, in the form of the OpenAI API."""
    return [msgspec.to_builtins(message) for message in said_before(turn.case, turn.earlier)]


_PARAMETERS: dict[str, Callable[[AgentInput], Any]] = {
    "session_id": lambda turn: turn.session_id,
    "history": _history,
    "tools": lambda turn: turn.case.tools,
    "biz_code": lambda turn: turn.case.biz_code,
    "mock_data_id": lambda turn: turn.case.mock_data_id,
    "round": lambda turn: turn.round,
    "trial": lambda turn: turn.trial,
    "traceparent": lambda turn: turn.traceparent,
    "mcp_endpoint": lambda turn: turn.tools and turn.tools.mcp_endpoint,
    "mock_endpoint": lambda turn: turn.tools and turn.tools.endpoint,
    "overrides": lambda turn: turn.overrides,
}


def _answer(returned: Any) -> AgentAnswer:
    if isinstance(returned, str):
        returned = AgentAnswer(text=returned)
    if not isinstance(returned, AgentAnswer | Mapping):
        raise AgentProtocol(
            "the agent returned {kind}, not a text, a mapping or an AgentAnswer", kind=type(returned).__name__
        )
    if isinstance(returned, Mapping):
        _refuse_unknown_keys(returned)
    try:  # as the store would keep it, so that what cannot be kept is the agent's fault and not the run's
        answer = returned if isinstance(returned, AgentAnswer) else msgspec.convert(dict(returned), AgentAnswer)
        if not isinstance(answer.text, str):
            raise TypeError(f"the text is {type(answer.text).__name__}")  # nobody checks what a struct is made of
        kept = _ANSWERS.decode(msgspec.json.encode(answer))
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise AgentProtocol("the agent's answer is not one: {why}", why=_shown(error)) from None
    refuse_impossible_numbers(kept.trace)
    return kept


_ANSWERS = msgspec.json.Decoder(AgentAnswer)


def _refuse_unknown_keys(answer: Mapping[Any, Any]) -> None:
    """A key that is misspelt would look as if nothing had been reported."""
    trace = answer.get("trace")
    for part, kind in ((answer, AgentAnswer), (trace if isinstance(trace, Mapping) else {}, EvalTrace)):
        known = {field.encode_name for field in msgspec.structs.fields(kind)}
        if unknown := sorted(str(key) for key in part if key not in known):
            raise AgentProtocol(
                "the agent's answer has unknown keys: {unknown}; known are {known}",
                unknown=", ".join(unknown),
                known=", ".join(sorted(known)),
            )


def _shown(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:_SHOWN]
    except Exception:  # its own text may be what is broken
        return type(error).__name__


def find_modules_in(*folders: Path) -> None:
    """Let modules of these folders be imported."""
    for folder in map(str, folders):
        if folder not in sys.path:
            sys.path.insert(0, folder)


def python_agent_of(file: PythonFile, folder: Path) -> PythonAgent:
    """The agent of an agent file; modules of its folder are found."""
    agent = python_agent(file.function, folder)
    agent.name = file.name or agent.name
    agent.version = file.version or agent.version
    agent.takes_overrides = agent.takes_overrides or file.overrides
    if file.trace.otlp:
        agent.spans = SpanOrigin.OTLP
    return agent


def python_agent(specification: str, root: Path | None = None) -> PythonAgent:
    """The agent of `module:callable`; modules of the current folder and of `root`, the project's, are found.

    Raises `InputError` where there is no such module or callable.
    """
    place = f"--agent python:{specification}"
    module_name, _, attribute = specification.partition(":")
    if not module_name or not attribute:
        raise InputError("this names no function", place=place, remedy="give --agent python:module:callable")
    find_modules_in(root or Path.cwd(), Path.cwd())
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # a module may raise anything while it is imported
        raise InputError(
            "the function cannot be imported: {why}",
            place=place,
            remedy="check the name, and run liftbay in the folder that holds the module",
            why=error if isinstance(error, ImportError | AttributeError) else _shown(error),
        ) from None
    if not callable(found):
        raise InputError("this is not callable", place=place, remedy="name a function")
    version = getattr(sys.modules[module_name], "__version__", None)
    return PythonAgent(found, specification, version if isinstance(version, str) else None)
