"""Tools of a file and of Python functions, and the answers to calls: rightly made, wrongly made, mocked."""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from places import synchronous
from trial_double import TrialDouble

from liftbay.agents import chat_tools
from liftbay.agents.chat_tools import AnsweredCall, Tool, answer_call, by_name, tool_of_python, tools_in_file
from liftbay.domain.trace import ToolCallRecord
from liftbay.errors import InputError
from liftbay.ports import Intercepted
from liftbay.transport.tool_call_pieces import RequestedCall

FUNCTIONS = textwrap.dedent(
    '''
    """Functions that a model may call."""

    from __future__ import annotations

    import contextvars
    import dataclasses
    import datetime
    import sys
    import threading
    import time
    from collections.abc import Callable
    from typing import Annotated, Literal

    import msgspec

    WHERE = contextvars.ContextVar("WHERE", default="nowhere")

    @dataclasses.dataclass
    class Guest:
        name: str
        age: int = 30

    def book(city: str, nights: int = 2, *, day: datetime.date | None = None, plan: Literal["a", "b"] = "a",
             guest: Guest = Guest("nobody"), note: Annotated[str, msgspec.Meta(description="Free text")] = ""):
        """Books a hotel.

        More that nobody needs.
        """
        thread = threading.current_thread().name
        return {"city": city, "nights": nights, "day": day, "guest": guest.name, "thread": thread}

    async def later(x):
        return [x, WHERE.get()]

    def promised(x: int):
        return later(x)

    def where():
        return WHERE.get()

    class Desk:
        @staticmethod
        def ring() -> str:
            return "りん"

    def fails(): raise RuntimeError("no room \\ud800")
    def leaves(): sys.exit(3)
    def cancels():
        import asyncio
        raise asyncio.CancelledError
    def stops(): raise StopIteration("end")
    def strange(): return object()
    def holds_itself():
        found = []
        found.append(found)
        return found
    def half(): return "\\ud800"
    def huge(length: int = 2_000_000): return "x" * length
    def hangs(): time.sleep(1.5)
    def variadic(*args): ...
    def anything(**named): ...
    def positional(x, /): ...
    def unknown_type(x: Nowhere): ...
    def no_json(x: Callable[[], None]): ...
    number = 3
    '''
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of functions."""
    monkeypatch.setattr("sys.path", list(sys.path))
    (tmp_path / "hotel_functions.py").write_text(FUNCTIONS, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "hotel_functions", raising=False)
    return tmp_path


async def called(
    folder: Path, function: str, arguments: str = "{}", trial: TrialDouble | None = None, name: str | None = None
) -> AnsweredCall:
    """The answer to one call."""
    tools = by_name([tool_of_python(f"hotel_functions:{function}", folder)])
    return await answer_call(RequestedCall(name=name or function, arguments=arguments), tools, trial)


def test_a_function_describes_itself(folder: Path) -> None:
    tool = tool_of_python("hotel_functions:book", folder)
    assert tool.name == "book"
    assert tool.definition == {
        "type": "function",
        "function": {
            "name": "book",
            "description": "Books a hotel.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "nights": {"type": "integer", "default": 2},
                    "day": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
                    "plan": {"enum": ["a", "b"], "default": "a"},
                    "guest": {"$ref": "#/$defs/Guest"},
                    "note": {"type": "string", "description": "Free text", "default": ""},
                },
                "required": ["city"],
                "additionalProperties": False,
                "$defs": {
                    "Guest": {
                        "title": "Guest",
                        "type": "object",
                        "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 30}},
                        "required": ["name"],
                    }
                },
            },
        },
    }
    assert "description" not in tool_of_python("hotel_functions:later", folder).definition["function"]


@synchronous
async def test_a_plain_function_runs_in_a_thread_with_what_it_is_given(folder: Path) -> None:
    answered = await called(folder, "book", '{"city": "京都", "day": "2026-11-30", "guest": {"name": "佐藤"}}')
    assert answered.record.success
    assert answered.record.error is None
    assert (answered.record.mocked, answered.record.unmocked) == (False, False)
    assert answered.record.result == {
        "city": "京都",
        "nights": 2,
        "day": "2026-11-30",
        "guest": "佐藤",
        "thread": "liftbay-agent",
    }
    assert json.loads(answered.text) == answered.record.result
    assert "京都" in answered.text
    assert answered.record.arguments == {"city": "京都", "day": "2026-11-30", "guest": {"name": "佐藤"}}
    assert answered.record.latency_ms is not None


@synchronous
async def test_async_functions_and_methods(folder: Path) -> None:
    assert (await called(folder, "later", '{"x": {"a": 1}}')).record.result == [{"a": 1}, "nowhere"]
    assert (await called(folder, "promised", '{"x": 1}')).text == '[1,"nowhere"]'
    assert (await called(folder, "Desk.ring", name="ring")).text == "りん"
    assert (await called(folder, "Desk.ring", "", name="ring")).record.arguments == {}


@synchronous
async def test_a_function_runs_in_the_context_of_the_turn(folder: Path) -> None:
    tool = tool_of_python("hotel_functions:where", folder)
    sys.modules["hotel_functions"].WHERE.set("in the turn")
    answered = await answer_call(RequestedCall(name="where"), {"where": tool}, None)
    assert answered.text == "in the turn"


@pytest.mark.parametrize(
    ("function", "arguments", "error"),
    [
        ("book", "{}", "wrong arguments: Object missing required field `city`"),
        ("book", '{"city": 3}', "wrong arguments: Expected `str`, got `int` - at `$.city`"),
        ("book", '{"city": "a", "stars": 5}', "wrong arguments: Object contains unknown field `stars`"),
        ("fails", "{}", "RuntimeError: no room \\ud800"),
        ("leaves", "{}", "SystemExit: 3"),
        ("cancels", "{}", "CancelledError: "),
        ("stops", "{}", "RuntimeError: StopIteration: end"),
        ("strange", "{}", "the result cannot be written as JSON: Encoding objects of type object is unsupported"),
        ("holds_itself", "{}", "the result cannot be written as JSON: maximum recursion depth"),
        ("half", "{}", "the result cannot be written as JSON: 'utf-8' codec"),
        ("huge", "{}", "the result is longer than 1024 KiB"),
    ],
)
def test_a_call_that_fails_tells_the_model(folder: Path, function: str, arguments: str, error: str) -> None:
    answered = asyncio.run(called(folder, function, arguments))
    assert answered.record.success is False
    assert answered.record.error is not None
    assert answered.record.error.startswith(error)
    assert answered.record.result is None
    assert answered.record.latency_ms is not None
    assert json.loads(answered.text) == {"error": answered.record.error}


@pytest.mark.parametrize("arguments", ['{"city"', "[1]", "null", '"{}"', "NaN", '{"a":' * 5000, "{} {}"])
def test_arguments_that_are_no_object_tell_the_model(folder: Path, arguments: str) -> None:
    trial = TrialDouble(Intercepted(result=1))
    answered = asyncio.run(called(folder, "book", arguments, trial))
    assert (answered.record.success, answered.record.arguments, trial.asked) == (False, {}, [])
    assert answered.record.error is not None
    assert answered.record.error.startswith("the arguments are not a JSON object")
    assert arguments[:100] in json.loads(answered.text)["error"]


@synchronous
async def test_a_tool_that_nobody_knows_is_an_error_even_where_calls_are_mocked(folder: Path) -> None:
    trial = TrialDouble(Intercepted(result=1))
    answered = await called(folder, "book", '{"a": 1}', trial, name="boök")
    assert answered.record == ToolCallRecord("boök", {"a": 1}, success=False, error="there is no tool of the name boök")
    assert trial.asked == []


@synchronous
async def test_a_mock_answers_after_its_latency(folder: Path) -> None:
    trial = TrialDouble(Intercepted(result={"id": "予約"}, latency_ms=50))
    begun = time.perf_counter()
    answered = await called(folder, "fails", '{"a": 1}', trial)
    assert time.perf_counter() - begun >= 0.05
    assert trial.asked == [("fails", {"a": 1})]
    assert answered.record == ToolCallRecord("fails", {"a": 1}, success=True, result={"id": "予約"}, mocked=True)
    assert answered.text == '{"id":"予約"}'
    assert (await called(folder, "fails", trial=TrialDouble(Intercepted(result="text")))).text == "text"
    assert (await called(folder, "fails", trial=TrialDouble(Intercepted()))).text == "null"


@synchronous
async def test_a_mock_may_fail_or_be_missing(folder: Path) -> None:
    answered = await called(folder, "book", trial=TrialDouble(Intercepted(error="full")))
    assert answered.record == ToolCallRecord("book", {}, success=False, error="full", mocked=True)
    assert answered.text == '{"error":"full"}'
    for unmocked in (Intercepted(unmocked=True), Intercepted(unmocked=True, error="unmocked call")):
        answered = await called(folder, "book", trial=TrialDouble(unmocked))
        assert answered.record == ToolCallRecord("book", {}, success=False, error="unmocked call", unmocked=True)
        assert answered.text == '{"error":"unmocked call"}'


@synchronous
async def test_without_a_mock_the_call_passes_through(folder: Path) -> None:
    answered = await called(folder, "book", '{"city": "a"}', TrialDouble(None))
    assert (answered.record.success, answered.record.mocked) == (True, False)


@synchronous
async def test_a_definition_alone_answers_nothing(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text('[{"type": "function", "function": {"name": "f", "parameters": {}}}]')
    tools = by_name(tools_in_file(tmp_path / "tools.json"))
    answered = await answer_call(RequestedCall(name="f"), tools, None)
    assert answered.record == ToolCallRecord(
        "f", {}, success=False, error="there is no implementation behind this tool"
    )
    answered = await answer_call(RequestedCall(name="f"), tools, TrialDouble(Intercepted(result=3)))
    assert (answered.record.success, answered.text) == (True, "3")


@synchronous
async def test_functions_that_hang_hold_up_nothing(folder: Path) -> None:
    hanging = [asyncio.create_task(called(folder, "hangs")) for _ in range(30)]
    await asyncio.sleep(0)
    begun = time.perf_counter()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await asyncio.gather(*hanging)
    assert (await called(folder, "later", '{"x": 1}')).record.success
    assert time.perf_counter() - begun < 20
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "liftbay-agent")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[", "invalid JSON"),
        ("[" * 100_000, "invalid JSON"),
        ("{}", "no tool definition"),
        ("[3]", "no tool definition"),
        ('[{"name": "f"}]', "no tool definition"),
        ('[{"function": {}}]', "no tool definition"),
        (None, "cannot be read"),
    ],
)
def test_files_that_hold_no_definitions(tmp_path: Path, content: str | None, says: str) -> None:
    path = tmp_path / "tools.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=says) as caught:
        tools_in_file(path)
    assert caught.value.place is not None
    assert caught.value.place.startswith(str(path))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("hotel_functions", "cannot be imported"),
        ("hotel_functions:", "cannot be imported"),
        ("hotel_functions:missing", "cannot be imported: AttributeError"),
        ("no_such_module_at_all:f", "cannot be imported: ModuleNotFoundError"),
        ("hotel_functions:number", "cannot be imported: TypeError: number is int"),
        ("hotel_functions:variadic", "cannot be described"),
        ("hotel_functions:anything", "cannot be described"),
        ("hotel_functions:positional", "cannot be described"),
        ("hotel_functions:unknown_type", "cannot be described: NameError"),
        ("hotel_functions:no_json", "cannot be described"),
    ],
)
def test_functions_that_are_none(folder: Path, name: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        tool_of_python(name, folder)
    assert caught.value.place == f"python: {name}"


def test_two_tools_of_one_name_are_refused() -> None:
    tools = [Tool({"function": {"name": "f"}}, source) for source in ("a", "b")]
    with pytest.raises(InputError, match="two tools of the name f") as caught:
        by_name(tools)
    assert (caught.value.place, caught.value.values["source"]) == ("b", "a")


def test_the_limit_of_a_result_is_exact(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_tools, "MAX_RESULT_BYTES", 1 << 10)
    run: Callable[[int], AnsweredCall] = lambda n: asyncio.run(called(folder, "huge", f'{{"length": {n}}}'))  # noqa: E731
    assert run(1022).record.success
    assert run(1023).record.success is False
