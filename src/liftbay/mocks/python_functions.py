"""Puts the interceptor before functions of this process, for agents whose tools are plain Python functions."""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any

from liftbay.domain.trace import ToolCallRecord
from liftbay.errors import InputError, LiftbayError, MissingExtra
from liftbay.mocks.interceptor import MockTools, OpenTrial, record_of
from liftbay.mocks.json_form import json_form
from liftbay.ports import Intercepted

UNASSIGNED = "this call belongs to no trial that is known: make it in the context of the turn"


class ToolFailed(LiftbayError):
    """The tool failed because the mock says so, or because no mock answers; its text is all that the tool says."""

    def __init__(self, why: str) -> None:
        super().__init__("{why}", why=why)


@contextmanager
def intercepting(tools: MockTools, names: Sequence[str]) -> Iterator[None]:
    """While this lasts, calls of the named functions ask the interceptor of their trial.

    A name is `module:function` or `module:Class.method`; its last part is the name of the tool. The function is
    replaced in every module that holds it. What wraps a function in an object of its own when it is imported, as the
    tool decorators of frameworks do, holds the function from before: enter this before such a module is imported.

    Raises `InputError` for a name that names no function.
    """
    with ExitStack() as replaced:
        for name in names:
            replaced.enter_context(_replaced(tools, name))
        yield


@contextmanager
def _replaced(tools: MockTools, name: str) -> Iterator[None]:
    owner, attribute = _found(name)
    function = getattr(owner, attribute)
    if isinstance(owner, ModuleType):
        wrapper = _wrapper(tools, name, attribute, function)
        _replace_everywhere(function, wrapper)
        try:
            yield
        finally:
            _replace_everywhere(wrapper, function)  # also where it was imported meanwhile
    else:
        with _replaced_in(owner, attribute, _for_class(tools, name, owner, attribute), name):
            yield


def _for_class(tools: MockTools, name: str, owner: Any, attribute: str) -> Any:
    """What stands in a class, or on an object, in place of the method."""
    raw = inspect.getattr_static(owner, attribute)
    if not inspect.isclass(owner):
        return _wrapper(tools, name, attribute, getattr(owner, attribute))
    if isinstance(raw, staticmethod):
        return staticmethod(_wrapper(tools, name, attribute, raw.__func__))
    if isinstance(raw, classmethod):
        return classmethod(_wrapper(tools, name, attribute, raw.__func__, bound=True))
    return _wrapper(tools, name, attribute, getattr(owner, attribute), bound=True)


@contextmanager
def _replaced_in(owner: Any, attribute: str, new: Any, name: str) -> Iterator[None]:
    own = getattr(owner, "__dict__", {})
    before = own.get(attribute)
    inherited = attribute not in own
    try:
        setattr(owner, attribute, new)
    except (AttributeError, TypeError) as error:
        raise InputError("the function cannot be replaced: {why}", place=name, why=error) from None
    try:
        yield
    finally:
        if inherited:
            delattr(owner, attribute)
        else:
            setattr(owner, attribute, before)


def _found(name: str) -> tuple[Any, str]:
    """What holds the function, and under which name."""
    module_name, _, path = name.partition(":")
    *way, attribute = path.split(".")
    if not module_name or not attribute:
        raise InputError("this names no function", place=name, remedy="write module:function or module:Class.method")
    try:
        owner: Any = importlib.import_module(module_name)
        for part in way:
            owner = getattr(owner, part)
        getattr(owner, attribute)
    except MissingExtra:
        raise
    except (Exception, SystemExit) as error:  # a module may raise anything while it is imported
        raise InputError("the function cannot be imported: {why}", place=name, why=error) from None
    return owner, attribute


def _signature(function: Any, place: str) -> inspect.Signature:
    """How the function is called; what is not a plain one is refused."""
    if not inspect.isroutine(function):
        raise InputError(
            "this is not a function: {kind}",
            place=place,
            remedy="name the function behind it",
            kind=type(function).__name__,
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InputError("a generator cannot be mocked", place=place, remedy="name a function that returns its result")
    try:
        return inspect.signature(function)
    except ValueError as error:  # some that are written in C do not tell
        raise InputError("the function cannot be replaced: {why}", place=place, why=error) from None


def _replace_everywhere(old: Any, new: Any) -> None:
    """Put `new` under every name of a module that `old` stands under."""
    # By its real type: other things stand among the modules and only say that they are some.
    for module in [one for one in sys.modules.values() if issubclass(type(one), ModuleType)]:
        names = object.__getattribute__(module, "__dict__")  # a module that loads when it is touched stays asleep
        for name in [name for name, value in list(names.items()) if value is old]:
            names[name] = new


def _wrapper(
    tools: MockTools, place: str, name: str, function: Callable[..., Any], *, bound: bool = False
) -> Callable[..., Any]:
    """The function with the interceptor before it; `bound`: its first argument is the object or the class."""
    made = functools.partial(_Call, name, _signature(function, place), bound)
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def ask_first(*given: Any, **named: Any) -> Any:
            trial = _trial(tools)
            if trial is None:
                return await function(*given, **named)
            call = _noted(made, trial, given, named)
            answer = call.answered_by(trial)
            if answer is not None:
                await asyncio.sleep(answer.latency_ms / 1000)
                return _said(answer)
            with call.recorded(trial):
                call.result = await function(*given, **named)
            return call.result

        return ask_first

    @functools.wraps(function)
    def ask_first_and_wait(*given: Any, **named: Any) -> Any:
        trial = _trial(tools)
        if trial is None:
            return function(*given, **named)
        call = _noted(made, trial, given, named)
        answer = call.answered_by(trial)
        if answer is not None:
            time.sleep(answer.latency_ms / 1000)
            return _said(answer)
        with call.recorded(trial):
            call.result = function(*given, **named)
        return call.result

    return ask_first_and_wait


def _trial(tools: MockTools) -> OpenTrial | None:
    """The trial that a call belongs to; None: to none, and it passes through.

    A thread that did not copy its context belongs to the only trial that is open. Where there are several, it is
    refused: the real tool must not answer for a case with mock data.
    """
    trial = tools.of_context()
    if trial is not None:
        return trial
    trials = tools.open_trials()
    if len(trials) == 1:
        return trials[0]
    if trials:
        tools.refuse()
        if not all(trial.real for trial in trials):
            raise ToolFailed(UNASSIGNED)
    return None


def _said(answer: Intercepted) -> Any:
    if answer.error is not None:
        raise ToolFailed(answer.error)
    return answer.result


def _noted(
    made: functools.partial[_Call],
    trial: OpenTrial,
    given: tuple[Any, ...],
    named: dict[str, Any],
) -> _Call:
    """The call; one that the function would not take is noted as the failed call that it is."""
    try:
        return made(given, named)
    except TypeError as error:
        arguments = {str(position): value for position, value in enumerate(given)} | named
        trial.record(ToolCallRecord(made.args[0], arguments, success=False, error=f"TypeError: {error}"))
        raise


class _Call:
    """One call of a function; raises `TypeError` where the function would, for arguments that it does not take."""

    def __init__(
        self, name: str, signature: inspect.Signature, bound: bool, given: tuple[Any, ...], named: dict[str, Any]
    ) -> None:
        self.name = name
        self.result: Any = None
        passed = signature.bind(*given, **named)
        self._arguments = _by_name(passed, bound)  # as the agent gave them: a default was not its choice
        passed.apply_defaults()
        self._complete = _by_name(passed, bound)

    def answered_by(self, trial: OpenTrial) -> Intercepted | None:
        """What the interceptor answers, and the call is noted; None: the function itself is to be called."""
        answer = trial.intercept(self.name, self._complete)
        if answer is not None:
            trial.record(record_of(self.name, self._arguments, answer))
        return answer

    @contextmanager
    def recorded(self, trial: OpenTrial) -> Iterator[None]:
        """Note the call of the function itself with its time, and what it returned or raised."""
        begun = time.perf_counter()
        error: str | None = None
        try:
            yield
        except BaseException as raised:
            error = "".join(traceback.format_exception_only(raised)).strip()
            raise
        finally:
            took = (time.perf_counter() - begun) * 1000
            trial.record(
                ToolCallRecord(
                    self.name, self._arguments, success=error is None, result=self.result, error=error, latency_ms=took
                )
            )


def _by_name(passed: inspect.BoundArguments, bound: bool) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for number, (name, value) in enumerate(passed.arguments.items()):
        if bound and number == 0:
            continue
        if passed.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            arguments.update(value)
        else:
            arguments[name] = value
    return {name: json_form(value) for name, value in arguments.items()}
