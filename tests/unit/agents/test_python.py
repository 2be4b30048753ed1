"""A Python function as the agent: how it is called, what it may return, and what its errors become."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import pytest
from places import synchronous

from liftbay.agents.python import PythonAgent, python_agent
from liftbay.domain.case import Case, Message
from liftbay.domain.episode import Turn
from liftbay.domain.override import Overrides
from liftbay.domain.trace import EvalTrace, ModelUsage, Planning, ToolCallRecord
from liftbay.domain.vocabulary import DatasetType, Route
from liftbay.errors import (
    AgentCrash,
    AgentError,
    AgentProtocol,
    AgentRefused,
    AgentTimeout,
    AgentUnreachable,
    InputError,
)
from liftbay.ports import AgentAnswer, AgentInput

CASE = Case(
    id="c",
    dataset_type=DatasetType.TOOL_CALL,
    user_input="question",
    biz_code="IC",
    mock_data_id="M-1",
    tools=[{"name": "search"}],
    history=[
        Message("system", "be brief"),
        Message("assistant", None, [{"id": "1"}]),
        Message("tool", "42", None, "1"),
    ],
)
TURN = AgentInput(
    session_id="session",
    case=CASE,
    trial=2,
    round=3,
    user_input="and then?",
    earlier=(Turn(1, "first", "one"), Turn(2, "second")),
)


async def answered(function: Callable[..., Any], turn: AgentInput = TURN) -> AgentAnswer:
    """What the adapter makes of one call."""
    return await PythonAgent(function, "name").answer(turn)


class Opaque:
    """Something that is no JSON; its text is the same in every process."""

    def __repr__(self) -> str:
        return "Opaque()"


class TestCalling:
    @synchronous
    async def test_a_plain_function_runs_beside_the_event_loop(self) -> None:
        def answer(user_input: str) -> str:
            return f"{user_input} {threading.current_thread() is threading.main_thread()}"

        assert (await answered(answer)).text == "and then? False"

    @synchronous
    async def test_an_async_function_runs_in_the_event_loop(self) -> None:
        async def answer(user_input: str) -> str:
            await asyncio.sleep(0)
            return f"{user_input} {threading.current_thread() is threading.main_thread()}"

        assert (await answered(answer)).text == "and then? True"

    @synchronous
    async def test_objects_that_can_be_called(self) -> None:
        class Plain:
            def __call__(self, user_input: str, trial: int) -> str:
                return f"{user_input} {trial}"

            def method(self, user_input: str) -> str:
                return f"method {user_input}"

        class Async:
            async def __call__(self, user_input: str, trial: int) -> str:
                return f"async {user_input} {trial}"

        assert (await answered(Plain())).text == "and then? 2"
        assert (await answered(Plain().method)).text == "method and then?"
        assert (await answered(Async())).text == "async and then? 2"

    @synchronous
    async def test_a_plain_function_may_return_something_to_await(self) -> None:
        async def inner(text: str) -> str:
            return f"awaited {text}"

        assert (await answered(lambda text: inner(text))).text == "awaited and then?"  # noqa: PLW0108 - not itself async

    @synchronous
    async def test_parameters_are_given_by_their_names(self) -> None:
        seen: dict[str, Any] = {}

        def answer(text: str, session_id: str, *, tools: Any, biz_code: str, mock_data_id: str, **rest: Any) -> str:
            seen.update(session_id=session_id, tools=tools, biz_code=biz_code, mock_data_id=mock_data_id, **rest)
            return text

        assert (await answered(answer)).text == "and then?"
        history = seen.pop("history")
        assert seen == {
            "session_id": "session",
            "tools": [{"name": "search"}],
            "biz_code": "IC",
            "mock_data_id": "M-1",
            "round": 3,
            "trial": 2,
            "traceparent": None,
            "mcp_endpoint": None,
            "mock_endpoint": None,
            "overrides": Overrides(),
        }
        assert history == [
            {"role": "system", "content": "be brief"},
            {"role": "assistant", "tool_calls": [{"id": "1"}]},
            {"role": "tool", "content": "42", "tool_call_id": "1"},
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": "one"},
            {"role": "user", "content": "second"},
            {"role": "assistant", "content": ""},
        ]

    @synchronous
    async def test_parameters_that_it_does_not_have_are_not_given(self) -> None:
        def answer(text: str, round: int, other: str = "own") -> str:
            return f"{text} {round} {other}"

        assert (await answered(answer)).text == "and then? 3 own"

    @synchronous
    async def test_plain_functions_do_not_wait_for_one_another(self) -> None:
        together = threading.Barrier(64, timeout=30)

        def answer(_user_input: str) -> str:
            together.wait()
            return "ok"

        agent = PythonAgent(answer, "name")
        answers = await asyncio.gather(*(agent.answer(TURN) for _ in range(64)))
        assert {found.text for found in answers} == {"ok"}

    @synchronous
    async def test_a_plain_function_that_hangs_is_left_behind(self) -> None:
        release = threading.Event()

        def answer(user_input: str) -> str:
            release.wait(30)
            return user_input

        agent = PythonAgent(answer, "name")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await agent.answer(TURN)
        release.set()
        assert (await agent.answer(TURN)).text == "and then?"

    @synchronous
    async def test_it_is_settled_and_holds_nothing(self) -> None:
        agent = PythonAgent(lambda text: text, "name", "1.2")
        assert (agent.name, agent.version) == ("name", "1.2")
        assert await agent.settled("session")
        await agent.close()


class TestReturning:
    @synchronous
    async def test_a_text(self) -> None:
        assert await answered(lambda _: "") == AgentAnswer(text="")

    @synchronous
    async def test_an_answer(self) -> None:
        trace = EvalTrace(
            planning=Planning(Route.SKILL_HIT),
            tool_calls=[ToolCallRecord("search", {"q": ["京都"]}, True, {"found": [1, 2.5, None, True]})],
            model=ModelUsage(1, 2, 3),
        )
        given = AgentAnswer(text="京都", trace=trace, time_to_first_token_ms=1.5)
        assert await answered(lambda _: given) == given

    @synchronous
    async def test_a_mapping_with_a_trace_in_the_form_of_the_specification(self) -> None:
        found = await answered(
            lambda _: MappingProxyType(
                {
                    "text": "done",
                    "trace": {
                        "planning": {"route": "SKILL_MISS", "latencyMs": 3},
                        "toolCalls": [{"name": "search", "arguments": {"q": 1}, "success": True}],
                        "retrievals": [],
                        "model": {"calls": 1, "inputTokens": 10, "timeToFirstTokenMs": 5},
                    },
                }
            )
        )
        assert found == AgentAnswer(
            text="done",
            trace=EvalTrace(
                planning=Planning(Route.SKILL_MISS, latency_ms=3),
                tool_calls=[ToolCallRecord("search", {"q": 1}, True)],
                retrievals=[],
                model=ModelUsage(1, 10, time_to_first_token_ms=5),
            ),
        )

    @synchronous
    async def test_a_mapping_may_hold_a_trace_that_is_one_already(self) -> None:
        trace = EvalTrace(tool_calls=[])
        assert (await answered(lambda _: {"text": "x", "trace": trace})).trace == trace

    @synchronous
    async def test_values_are_what_the_store_gives_back(self) -> None:
        found = await answered(
            lambda _: {
                "text": "x",
                "trace": {"toolCalls": [{"name": "f", "arguments": {"pair": (1, 2), "by": {3: 4}}}]},
            }
        )
        assert found.trace is not None
        assert found.trace.tool_calls == [ToolCallRecord("f", {"pair": [1, 2], "by": {"3": 4}})]
        assert msgspec.json.decode(msgspec.json.encode(found), type=AgentAnswer) == found

    @pytest.mark.parametrize(
        "nonsense",
        [
            None,
            42,
            b"bytes",
            ["text"],
            Opaque(),
            {},
            {"text": None},
            {"text": b"bytes"},
            {"text": 42},
            {"answer": "text"},
            {"text": "x", "trace": {"planning": {"route": "NOWHERE"}}},
            {"text": "x", "trace": {"toolCalls": {"name": "search"}}},
            {"text": "x", "trace": {"toolCalls": [{"name": "f", "result": Opaque()}]}},
            AgentAnswer(text=42),  # type: ignore[arg-type]
            AgentAnswer(text=b"bytes"),  # type: ignore[arg-type]
            AgentAnswer(text="x", trace={"planning": 3}),  # type: ignore[arg-type]
            AgentAnswer(text="x", recorded={"why": {(1, 2): 3}}),
            "half a character: \ud83d",
        ],
        ids=repr,
    )
    @synchronous
    async def test_nonsense_is_a_fault_of_the_agent(self, nonsense: Any) -> None:
        with pytest.raises(AgentProtocol, match="the agent") as caught:
            await answered(lambda _: nonsense)
        assert not caught.value.retry_may_help

    @pytest.mark.parametrize(
        ("answer", "unknown"),
        [
            ({"text": "x", "traces": {}}, "traces"),
            ({"text": "x", "trace": {"tool_calls": [], "toolCalls": [], "plan": {}}}, "plan, tool_calls"),
        ],
    )
    @synchronous
    async def test_a_misspelt_key_would_look_as_if_nothing_was_reported(
        self, answer: dict[str, Any], unknown: str
    ) -> None:
        with pytest.raises(AgentProtocol, match=f"unknown keys: {unknown}; known are "):
            await answered(lambda _: answer)

    @synchronous
    async def test_what_holds_itself_is_a_fault_of_the_agent(self) -> None:
        endless: list[Any] = []
        endless.append(endless)
        with pytest.raises(AgentProtocol, match="RecursionError"):
            await answered(lambda _: {"text": "x", "recorded": {"endless": endless}})


class TestRaising:
    @pytest.mark.parametrize(
        ("raised", "error", "message"),
        [
            (ValueError("no"), AgentCrash, "the agent raised ValueError: no"),
            (TimeoutError("slow"), AgentTimeout, "the agent timed out: TimeoutError: slow"),
            (ConnectionResetError("gone"), AgentUnreachable, "the agent lost a connection: ConnectionResetError: gone"),
            (OSError("gone"), AgentUnreachable, "the agent lost a connection: OSError: gone"),
            (SystemExit(3), AgentCrash, "the agent raised SystemExit: 3"),
            (StopIteration("end"), AgentCrash, "the agent raised RuntimeError: StopIteration: end"),
            (RecursionError("deep"), AgentCrash, "the agent raised RecursionError: deep"),
            (AgentRefused("own words"), AgentRefused, "own words"),
            (ExceptionGroup("many", [ValueError()]), AgentCrash, "ExceptionGroup: many"),
        ],
        ids=repr,
    )
    @synchronous
    async def test_what_a_plain_function_raises(
        self, raised: BaseException, error: type[AgentError], message: str
    ) -> None:
        def answer(_user_input: str) -> str:
            raise raised

        with pytest.raises(error) as caught:
            await answered(answer)
        assert message in str(caught.value)

    @pytest.mark.parametrize(
        ("raised", "error"),
        [
            (KeyError("no"), AgentCrash),
            (TimeoutError(), AgentTimeout),
            (BrokenPipeError(), AgentUnreachable),
            (SystemExit(), AgentCrash),
            (asyncio.CancelledError(), AgentCrash),
            (asyncio.QueueEmpty(), AgentCrash),
        ],
        ids=repr,
    )
    @synchronous
    async def test_what_an_async_function_raises(self, raised: BaseException, error: type[AgentError]) -> None:
        async def answer(_user_input: str) -> str:
            await asyncio.sleep(0)
            raise raised

        with pytest.raises(error):
            await answered(answer)

    @synchronous
    async def test_a_trial_that_is_cancelled_is_no_crash(self) -> None:
        async def answer(_user_input: str) -> str:
            await asyncio.Event().wait()
            return ""

        task = asyncio.create_task(answered(answer))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    @synchronous
    async def test_a_long_message_is_cut(self) -> None:
        def answer(_user_input: str) -> str:
            raise ValueError("x" * 10_000)

        with pytest.raises(AgentCrash) as caught:
            await answered(answer)
        assert len(str(caught.value)) < 400


class TestNaming:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "path", list(sys.path))
        known = set(sys.modules)
        yield
        for name in set(sys.modules) - known:
            del sys.modules[name]

    @synchronous
    async def test_a_module_of_the_working_folder(self, tmp_path: Path) -> None:
        (tmp_path / "naming_one.py").write_text(
            "__version__ = '3.1'\nclass Bot:\n    @staticmethod\n    def reply(text): return text.upper()\n"
        )
        agent = python_agent("naming_one:Bot.reply")
        assert (agent.name, agent.version) == ("naming_one:Bot.reply", "3.1")
        assert (await agent.answer(TURN)).text == "AND THEN?"

    def test_a_version_that_is_no_text_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "naming_two.py").write_text("__version__ = (3, 1)\ndef reply(text): return text\n")
        assert python_agent("naming_two:reply").version is None

    @pytest.mark.parametrize("specification", ["", "module", ":reply", "module:"])
    def test_no_function_is_named(self, specification: str) -> None:
        with pytest.raises(InputError, match="this names no function") as caught:
            python_agent(specification)
        assert caught.value.place == f"--agent python:{specification}"

    @pytest.mark.parametrize(
        ("source", "why"),
        [
            (None, "No module named 'naming_bad'"),
            ("", "has no attribute 'reply'"),
            ("import no_such_module_at_all", "No module named 'no_such_module_at_all'"),
            ("reply = 1 / 0", "ZeroDivisionError: division by zero"),
            ("def reply(:", "SyntaxError"),
        ],
    )
    def test_what_cannot_be_imported_is_a_mistake_of_the_user(
        self, tmp_path: Path, source: str | None, why: str
    ) -> None:
        if source is not None:
            (tmp_path / "naming_bad.py").write_text(source)
        with pytest.raises(InputError, match="the function cannot be imported") as caught:
            python_agent("naming_bad:reply")
        assert why in str(caught.value)

    def test_what_cannot_be_called(self, tmp_path: Path) -> None:
        (tmp_path / "naming_three.py").write_text("reply = 'hello'\n")
        with pytest.raises(InputError, match="this is not callable"):
            python_agent("naming_three:reply")


@pytest.mark.parametrize(
    "function", [lambda: "", lambda text, other: "", lambda *, user_input: "", lambda text, other, trial: ""]
)
def test_a_function_that_cannot_be_called_is_refused_before_the_run(function: Callable[..., str]) -> None:
    with pytest.raises(InputError, match="cannot be called"):
        PythonAgent(function, "f")


@synchronous
async def test_a_trace_with_an_impossible_number_is_refused() -> None:
    with pytest.raises(AgentProtocol, match=r"impossible number: model\.inputTokens"):
        await answered(lambda text: {"text": text, "trace": {"model": {"inputTokens": -5}}})
