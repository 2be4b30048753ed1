"""Functions of this process behind the interceptor: replaced everywhere, and put back."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mock_cases import hotels, mocked, real, said
from places import synchronous

from liftbay.domain.case import MockAnswer
from liftbay.domain.trace import ToolCallRecord
from liftbay.errors import InputError
from liftbay.mocks.interceptor import MockTools
from liftbay.mocks.python_functions import UNASSIGNED, ToolFailed, intercepting

SOURCE = (Path(__file__).parent / "tool_functions.py").read_text(encoding="utf-8")


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module with the tools, new for each test."""
    module = ModuleType("tool_functions")
    monkeypatch.setitem(sys.modules, "tool_functions", module)
    exec(SOURCE, module.__dict__)
    return module


def test_a_mock_answers_in_place_of_the_function(functions: Any) -> None:
    tools = MockTools(hotels(search=[said(["mock"], city="京都")]))
    with intercepting(tools, ["tool_functions:search"]), tools.open("s", mocked()) as trial:
        assert functions.search("京都") == ["mock"]
        with pytest.raises(ToolFailed, match=r"^unmocked call$"):
            functions.search("大阪", 3)
        assert trial.taken() == [
            ToolCallRecord("search", {"city": "京都"}, success=True, result=["mock"], mocked=True),
            ToolCallRecord(
                "search", {"city": "大阪", "people": 3}, success=False, error="unmocked call", unmocked=True
            ),
        ]


def test_an_error_of_the_mock_is_raised_with_its_text_alone(functions: Any) -> None:
    tools = MockTools(hotels(search=[MockAnswer(error="満室です {0}")]))
    with intercepting(tools, ["tool_functions:search"]), tools.open("s", mocked()), pytest.raises(ToolFailed) as raised:
        functions.search("京都")
    assert str(raised.value) == "満室です {0}"


@synchronous
async def test_async_functions_stay_async(functions: Any) -> None:
    tools = MockTools(hotels(book=[said("mock", nights=1)]))
    with intercepting(tools, ["tool_functions:book"]):
        assert inspect.iscoroutinefunction(functions.book)
        assert await functions.book("京") == "really 京 for 1"  # outside of any trial
        with tools.open("s", mocked()) as trial:
            assert await functions.book("京") == "mock"  # a default is an argument of the call, not a choice to judge
            assert [call.arguments for call in trial.taken()] == [{"hotel": "京"}]
        with tools.open("s", real()) as trial:
            assert await functions.book("京", nights=3) == "really 京 for 3"
            (call,) = trial.taken()
        assert (call.arguments, call.success, call.result) == ({"hotel": "京", "nights": 3}, True, "really 京 for 3")
        assert call.latency_ms is not None
        assert 15 < call.latency_ms < 1000


@synchronous
async def test_the_latency_of_a_mock_is_waited(functions: Any) -> None:
    tools = MockTools(hotels(book=[said("mock", latency_ms=40)], search=[said("mock", latency_ms=40)]))
    loop = asyncio.get_running_loop()
    with intercepting(tools, ["tool_functions:book", "tool_functions:search"]), tools.open("s", mocked()) as trial:
        begun = loop.time()
        await functions.book("京")
        between = loop.time()
        functions.search("京")
        assert between - begun >= 0.04
        assert loop.time() - between >= 0.04
        assert [call.latency_ms for call in trial.taken()] == [None, None]


def test_what_the_real_function_raises_is_noted_and_raised(functions: Any) -> None:
    tools = MockTools({})
    with intercepting(tools, ["tool_functions:failing"]), tools.open("s", real()) as trial:
        with pytest.raises(ValueError, match="down"):
            functions.failing("down")
        (call,) = trial.taken()
    assert (call.success, call.error, call.result) == (False, "ValueError: down", None)
    assert call.latency_ms is not None


@synchronous
async def test_a_call_that_is_cancelled_is_noted(functions: Any) -> None:
    tools = MockTools({})
    with intercepting(tools, ["tool_functions:book"]), tools.open("s", real()) as trial:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(functions.book("京"), 0.001)
        (call,) = trial.taken()
    assert (call.success, call.error) == (False, "asyncio.exceptions.CancelledError")


def test_arguments_go_by_their_names(functions: Any) -> None:
    tools = MockTools(hotels(search=[said("mock")]))
    with intercepting(tools, ["tool_functions:search"]), tools.open("s", mocked()) as trial:
        functions.search("京都", 3, "spa", "quiet", sort="price", seen={1})
        with pytest.raises(TypeError, match="missing a required argument: 'city'"):
            functions.search(people=1)
        call, refused = trial.taken()
    assert (refused.arguments, refused.success) == ({"people": 1}, False)
    assert refused.error == "TypeError: missing a required argument: 'city'"
    assert call.arguments == {
        "city": "京都",
        "people": 3,
        "more": ["spa", "quiet"],
        "sort": "price",
        "seen": "{1}",
    }


def test_every_module_that_holds_the_function_gets_it_and_all_is_undone(
    functions: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = MockTools(hotels(search=[said("mock")]))
    agent, late = ModuleType("its_agent"), ModuleType("its_late_part")
    agent.look_up = agent.again = functions.search  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "its_agent", agent)
    before = functions.search
    with intercepting(tools, ["tool_functions:search"]):
        late.search = functions.search  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "its_late_part", late)
        with tools.open("s", mocked()):
            assert agent.look_up("京都") == agent.again("京都") == late.search("京都") == "mock"
    assert functions.search is agent.look_up is agent.again is late.search is before


def test_what_only_says_that_it_is_a_module_is_left_alone(functions: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Library:  # as cffi puts them among the modules
        __slots__ = ()
        __class__ = ModuleType  # type: ignore[assignment]

    monkeypatch.setitem(sys.modules, "a_library", Library())
    with intercepting(MockTools({}), ["tool_functions:search"]):
        assert functions.search("京都") == {"really": "京都", "people": 2}


def test_signature_and_description_are_kept(functions: Any) -> None:
    before = functions.search
    with intercepting(MockTools({}), ["tool_functions:search"]):
        assert functions.search is not before
        assert inspect.signature(functions.search) == inspect.signature(before)
        assert (functions.search.__name__, functions.search.__doc__) == ("search", "Search for hotels.")


CALLS: list[tuple[str, str, Callable[[Any], Any], str]] = [
    ("Client.find", "find", lambda module: module.Client().find("京都"), "really 京都"),
    ("Client.find", "find", lambda module: module.Special().find("京都"), "really 京都"),
    ("Special.find", "find", lambda module: module.Special().find("京都"), "really 京都"),
    ("Client.of", "of", lambda module: module.Special.of("京都"), "really Special 京都"),
    ("Special.of", "of", lambda module: module.Special.of("京都"), "really Special 京都"),
    ("Client.at", "at", lambda module: module.Client().at("京都"), "really 京都"),
    ("client.find", "find", lambda module: module.client.find("京都"), "really 京都"),
    ("client.at", "at", lambda module: module.client.at("京都"), "really 京都"),
    ("client.of", "of", lambda module: module.client.of("京都"), "really Client 京都"),
]


@pytest.mark.parametrize(("name", "tool", "call", "expected"), CALLS)
def test_methods(functions: Any, name: str, tool: str, call: Callable[[Any], Any], expected: str) -> None:
    tools = MockTools(hotels(**{tool: [said("mock", city="京都")]}))
    held = {owner: dict(vars(owner)) for owner in (functions.Client, functions.Special, functions.client)}
    with intercepting(tools, [f"tool_functions:{name}"]):
        with tools.open("s", mocked()) as trial:
            assert call(functions) == "mock"
            assert [(one.name, one.arguments) for one in trial.taken()] == [(tool, {"city": "京都"})]
        with tools.open("s", real()):
            assert call(functions) == expected
    assert {owner: dict(vars(owner)) for owner in held} == held


def test_a_sibling_of_the_class_is_left_alone(functions: Any) -> None:
    tools = MockTools({})
    with intercepting(tools, ["tool_functions:Special.find"]), tools.open("s", mocked()):
        assert functions.Client().find("京都") == "really 京都"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("search", "this names no function"),
        (":search", "this names no function"),
        ("tool_functions:", "this names no function"),
        ("no_such_module:search", "the function cannot be imported: No module named 'no_such_module'"),
        ("tool_functions:nothing", "the function cannot be imported: module 'tool_functions' has no attribute"),
        ("tool_functions:not_a_function", "this is not a function: dict"),
        ("tool_functions:Client", "this is not a function: type"),
        ("tool_functions:pages", "a generator cannot be mocked"),
        ("tool_functions:slotted.find", "the function cannot be replaced: 'Slotted' object attribute 'find'"),
        ("builtins:str.upper", "the function cannot be replaced: cannot set 'upper' attribute"),
    ],
)
def test_a_name_that_names_no_function(functions: Any, name: str, why: str) -> None:
    before = functions.search
    with (
        pytest.raises(InputError, match=f"^{why}") as raised,
        intercepting(MockTools({}), ["tool_functions:search", name]),
    ):
        raise AssertionError
    assert raised.value.place == name
    assert functions.search is before


def called_in_a_bare_thread(function: Callable[[str], Any]) -> Any:
    """What the function returns or raises in a thread that did not copy the context."""
    found: list[Any] = []

    def work() -> None:
        try:
            found.append(function("京都"))
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]


def test_a_thread_without_context_never_reaches_the_real_tool_of_a_mocked_case(functions: Any) -> None:
    tools = MockTools(hotels(search=[said("mock")]))
    with intercepting(tools, ["tool_functions:search"]):
        assert called_in_a_bare_thread(functions.search) == {"really": "京都", "people": 2}
        with tools.open("one", mocked()) as one:
            assert called_in_a_bare_thread(functions.search) == "mock"  # there is only one that it can be
            assert len(one.taken()) == 1
            with tools.open("two", real()) as two:
                refused = called_in_a_bare_thread(functions.search)
                assert isinstance(refused, ToolFailed)
                assert (str(refused), tools.unassigned, one.taken(), two.taken()) == (UNASSIGNED, 1, [], [])
        with tools.open("one", real()), tools.open("two", real()):
            assert called_in_a_bare_thread(functions.search) == {"really": "京都", "people": 2}
        assert tools.unassigned == 2


@synchronous
async def test_what_is_left_of_a_trial_that_ended_is_refused(functions: Any) -> None:
    tools = MockTools({})
    with intercepting(tools, ["tool_functions:search"]):
        go = asyncio.Event()

        async def left_over() -> Any:
            await go.wait()
            return functions.search("京都")

        with tools.open("s", real()):
            task = asyncio.create_task(left_over())
            await asyncio.sleep(0)
        go.set()
        with pytest.raises(ToolFailed, match="the trial has ended"):
            await task
