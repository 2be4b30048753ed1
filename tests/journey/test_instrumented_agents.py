"""Agents of others, built with public frameworks and watched by public instrumentations, as liftbay sees them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from scripted_model import ANSWER, ARGUMENTS, CACHED, INPUT, OUTPUT, REASONING, serving

from liftbay.domain.spans import Span
from liftbay.domain.trace import Chunk, EvalTrace, ModelTokens, ToolCallRecord
from liftbay.scoring.reported_parts import reported_parts
from liftbay.telemetry.assemble import trace_of
from liftbay.telemetry.attributes import carried_by
from liftbay.telemetry.otlp import PROTOBUF, decode

AGENTS = Path(__file__).parent / "agents"
HOTELS = [{"name": "京都 Inn", "price": 18000}]

# One process for each framework, since it takes seconds to load.
TASKS: dict[str, list[dict[str, Any]]] = {
    "sdk": [
        {"agent": "sdk_agent", "instrumentation": "agents_genai", "question": "a hotel"},
        {"agent": "sdk_agent", "instrumentation": "agents_openinference", "question": "a hotel"},
        {"agent": "sdk_agent", "instrumentation": "agents_genai", "question": "reserve", "streams": True},
        {"agent": "sdk_agent", "instrumentation": "agents_openinference", "question": "reserve", "streams": True},
        {
            "agent": "sdk_agent",
            "instrumentation": "agents_openinference+openai_genai",
            "question": "a hotel",
            "streams": True,
        },
    ],
    "graph": [
        {"agent": "graph_agent", "instrumentation": "langchain_openinference", "question": "reserve after breakfast"},
        {"agent": "graph_agent", "instrumentation": "langchain_openinference", "question": "anything else?"},
        {
            "agent": "graph_agent",
            "instrumentation": "langchain_openinference+openai_genai",
            "question": "reserve after breakfast",
            "streams": True,
        },
    ],
    "client": [
        {"agent": "client_agent", "instrumentation": "openai_genai", "question": "a hotel"},
        {"agent": "client_agent", "instrumentation": "openai_openinference", "question": "a hotel"},
        {"agent": "client_agent", "instrumentation": "openai_genai", "question": "hello", "streams": True},
        {"agent": "client_agent", "instrumentation": "openai_openinference", "question": "hello", "streams": True},
        {"agent": "client_agent", "instrumentation": "openai_openinference+openai_genai", "question": "a hotel"},
        {"agent": "typed_agent", "instrumentation": "pydantic_ai", "question": "a hotel"},
        {"agent": "typed_agent", "instrumentation": "pydantic_ai", "question": "reserve", "streams": True},
        {"agent": "typed_agent", "instrumentation": "pydantic_ai+openai_genai", "question": "a hotel"},
    ],
}


class Sent(msgspec.Struct):
    """What a process writes of one task: base64 becomes bytes."""

    answer: str
    spans: bytes


class Watched(msgspec.Struct):
    """What came of one task."""

    answer: str
    spans: list[Span]

    @property
    def trace(self) -> EvalTrace:
        """What its spans say."""
        found = trace_of(self.spans)
        assert found is not None
        return found


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], Watched]:
    """Every task's outcome, by agent, instrumentation and question."""
    folder = tmp_path_factory.mktemp("watched")
    with serving() as address:
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": address,
            "OPENAI_API_KEY": "none",
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",
        }

        def work(group: str) -> list[Watched]:
            file = folder / f"{group}.json"
            subprocess.run(
                [sys.executable, AGENTS / "watch.py", file],
                input=json.dumps(TASKS[group]),
                text=True,
                env=environment,
                check=True,
                timeout=60,
            )
            sent = msgspec.json.decode(file.read_bytes(), type=list[Sent])
            return [Watched(one.answer, decode(one.spans, PROTOBUF)) for one in sent]

        with ThreadPoolExecutor() as pool:
            outcomes = dict(zip(TASKS, pool.map(work, TASKS), strict=True))
    return {
        (task["agent"], task["instrumentation"], task["question"]): outcome
        for group, tasks in TASKS.items()
        for task, outcome in zip(tasks, outcomes[group], strict=True)
    }


Outcomes = dict[tuple[str, str, str], Watched]
TIMES = {"latencyMs", "timeToFirstTokenMs"}


def differences(first: Any, second: Any, place: str = "") -> list[str]:
    """Where two traces differ, one line a place; of measured times it only counts whether there is one."""
    if isinstance(first, EvalTrace):
        return differences(msgspec.to_builtins(first), msgspec.to_builtins(second), "trace")
    if isinstance(first, dict) and isinstance(second, dict):
        return [
            line
            for key in sorted(first.keys() | second.keys())
            for line in (
                differences(first.get(key) is None, second.get(key) is None, f"{place}.{key} is missing")
                if key in TIMES
                else differences(first.get(key), second.get(key), f"{place}.{key}")
            )
        ]
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return [
            line
            for number, (one, other) in enumerate(zip(first, second, strict=True))
            for line in differences(one, other, f"{place}[{number}]")
        ]
    return [] if first == second else [f"{place}: {first!r}, {second!r}"]


def test_no_agent_knows_of_liftbay() -> None:
    files = list(AGENTS.glob("*.py"))
    assert len(files) >= 5
    assert not [
        file.name for file in files if "import liftbay" in file.read_text() or "from liftbay" in file.read_text()
    ]


def test_an_agent_of_a_public_framework_is_seen_from_inside(watched: Outcomes) -> None:
    """LangGraph, by OpenInference: model calls, tokens, tool calls, retrieval and latencies."""
    seen = watched["graph_agent", "langchain_openinference", "reserve after breakfast"]
    assert seen.answer == ANSWER
    trace = seen.trace
    assert trace.model is not None
    assert (trace.model.calls, trace.model.input_tokens, trace.model.output_tokens) == (3, 3 * INPUT, 3 * OUTPUT)
    assert trace.model.by_model == {"desk-model-2026": ModelTokens(3, 3 * INPUT, 3 * OUTPUT)}
    assert trace.tool_calls is not None
    found, reserved = trace.tool_calls
    assert (found.name, found.arguments, found.success, found.result) == (
        "find_hotels",
        ARGUMENTS["find_hotels"],
        True,
        HOTELS,
    )
    # The span holds the bare value of the only argument; the model's request says which it was.
    assert (reserved.name, reserved.arguments) == ("reserve", ARGUMENTS["reserve"])
    assert (reserved.success, reserved.error) == (False, "ValueError: 京都 Inn is full")
    assert trace.retrievals is not None
    (retrieval,) = trace.retrievals
    assert retrieval.count == 1
    assert retrieval.chunks == [Chunk("Breakfast is from 7 to 10.")]
    longest = max(span.end_ns - span.start_ns for span in seen.spans) / 1e6
    for latency in (found.latency_ms, reserved.latency_ms, retrieval.latency_ms):
        assert latency is not None
        assert 0 < latency < longest


def test_what_the_trace_of_that_agent_lacks(watched: Outcomes) -> None:
    trace = watched["graph_agent", "langchain_openinference", "reserve after breakfast"].trace
    wanted = {"perception.intents", "perception.skill", "planning.route", "memory.rounds", "tool_calls.arguments"}
    lacking = wanted - reported_parts(trace)
    assert lacking == wanted - {"tool_calls.arguments"}
    assert {part: carried_by(part).openinference for part in lacking} == {
        "perception.intents": "liftbay.intent; liftbay.intents",
        "perception.skill": "gen_ai.skill.name; liftbay.route",
        "planning.route": "liftbay.route",
        "memory.rounds": "liftbay.memory.rounds",
    }


def test_a_search_that_finds_nothing_is_a_search(watched: Outcomes) -> None:
    retrievals = watched["graph_agent", "langchain_openinference", "anything else?"].trace.retrievals
    assert retrievals is not None
    assert [(one.count, one.chunks) for one in retrievals] == [(0, [])]


@pytest.mark.parametrize("question", ["a hotel", "reserve"])
def test_the_same_agent_in_both_dialects_is_the_same_trace(watched: Outcomes, question: str) -> None:
    """The OpenAI Agents SDK, with a whole answer and with a streamed one whose last tool fails."""
    genai = watched["sdk_agent", "agents_genai", question]
    openinference = watched["sdk_agent", "agents_openinference", question]
    assert {"gen_ai.operation.name" in span.attributes for span in genai.spans} == {True}
    assert {"openinference.span.kind" in span.attributes for span in openinference.spans} == {True}
    assert genai.answer == openinference.answer
    assert differences(genai.trace, openinference.trace) == []


def test_the_trace_in_both_dialects_is_the_right_one(watched: Outcomes) -> None:
    trace = watched["sdk_agent", "agents_genai", "reserve"].trace
    assert trace.tool_calls is not None
    assert [(call.name, call.arguments, call.success) for call in trace.tool_calls] == [
        ("find_hotels", ARGUMENTS["find_hotels"], True),
        ("ask_guide", ARGUMENTS["ask_guide"], True),
        ("weather", ARGUMENTS["weather"], True),  # by the agent that is a tool of the other
        ("reserve", ARGUMENTS["reserve"], False),
    ]
    assert trace.tool_calls[0].result == HOTELS
    assert trace.tool_calls[2].result == "sunny in 京都"
    assert trace.retrievals == []
    assert trace.model is not None
    assert (trace.model.calls, trace.model.input_tokens, trace.model.output_tokens) == (5, 5 * INPUT, 5 * OUTPUT)


@pytest.mark.parametrize("question", ["a hotel", "hello"])
def test_the_same_calls_of_the_client_in_both_dialects_are_the_same_trace(watched: Outcomes, question: str) -> None:
    """The client library alone: a whole answer that asks for a tool, and a streamed one."""
    genai = watched["client_agent", "openai_genai", question].trace
    openinference = watched["client_agent", "openai_openinference", question].trace
    assert differences(genai, openinference) == []


def test_an_answer_without_a_framework_shows_what_was_asked_for(watched: Outcomes) -> None:
    trace = watched["client_agent", "openai_genai", "a hotel"].trace
    assert trace.tool_calls is not None
    (call,) = trace.tool_calls
    assert (call.name, call.arguments, call.success, call.latency_ms) == (
        "find_hotels",
        ARGUMENTS["find_hotels"],
        None,
        None,
    )
    assert trace.retrievals is None  # nothing here would show one


def test_a_streamed_answer_gives_the_time_to_its_first_token(watched: Outcomes) -> None:
    for instrumentation in ("openai_genai", "openai_openinference"):
        seen = watched["client_agent", instrumentation, "hello"]
        assert seen.answer.strip() == ANSWER
        assert seen.trace.tool_calls == []
        model = seen.trace.model
        assert model is not None
        assert model.time_to_first_token_ms is not None
        assert 0 < model.time_to_first_token_ms < 5000
    whole = watched["client_agent", "openai_genai", "a hotel"].trace.model
    assert whole is not None
    assert whole.time_to_first_token_ms is None


def test_embeddings_and_parts_of_the_tokens_are_not_added(watched: Outcomes) -> None:
    for instrumentation in ("openai_genai", "openai_openinference"):
        seen = watched["client_agent", instrumentation, "a hotel"]
        values = [value for span in seen.spans for value in span.attributes.values()]
        assert {CACHED, REASONING, 7} <= {value for value in values if isinstance(value, int)}
        model = seen.trace.model
        assert model is not None
        assert (model.calls, model.input_tokens, model.output_tokens) == (1, INPUT, OUTPUT)


@pytest.mark.parametrize(
    ("agent", "instrumentation", "question", "calls"),
    [
        ("client_agent", "openai_openinference+openai_genai", "a hotel", 1),  # one span in the other
        ("sdk_agent", "agents_openinference+openai_genai", "a hotel", 5),  # the same, streamed
        ("typed_agent", "pydantic_ai+openai_genai", "a hotel", 2),  # both speak the same dialect
        ("graph_agent", "langchain_openinference+openai_genai", "reserve after breakfast", 3),  # side by side
    ],
)
def test_a_call_that_two_instrumentations_saw_is_one(
    watched: Outcomes, agent: str, instrumentation: str, question: str, calls: int
) -> None:
    seen = watched[agent, instrumentation, question]
    scopes = {span.scope for span in seen.spans}
    assert len(scopes) == 2
    model = seen.trace.model
    assert model is not None
    assert (model.calls, model.input_tokens, model.output_tokens) == (calls, calls * INPUT, calls * OUTPUT)
    assert model.by_model == {"desk-model-2026": ModelTokens(calls, calls * INPUT, calls * OUTPUT)}


def test_a_framework_that_instruments_itself(watched: Outcomes) -> None:
    """pydantic-ai: its root sums the tokens up again, its failed tool says why only in an event."""
    whole = watched["typed_agent", "pydantic_ai", "a hotel"]
    assert whole.answer == ANSWER
    assert [(call.name, call.arguments, call.result) for call in whole.trace.tool_calls or []] == [
        ("find_hotels", ARGUMENTS["find_hotels"], HOTELS)
    ]
    failed = watched["typed_agent", "pydantic_ai", "reserve"].trace
    assert [(call.name, call.success, call.error) for call in failed.tool_calls or []] == [
        ("find_hotels", True, None),
        ("reserve", False, "ValueError: 京都 Inn is full"),
    ]
    assert failed.model is not None
    assert (failed.model.calls, failed.model.input_tokens) == (2, 2 * INPUT)
    assert failed.model.time_to_first_token_ms is not None


def test_the_comparison_names_each_difference_and_no_time() -> None:
    first = EvalTrace(tool_calls=[ToolCallRecord("a", latency_ms=1.0), ToolCallRecord("b")], retrievals=[])
    second = EvalTrace(tool_calls=[ToolCallRecord("a", latency_ms=2.0), ToolCallRecord("b", latency_ms=2.0)])
    assert differences(first, second) == [
        "trace.retrievals: [], None",
        "trace.toolCalls[1].latencyMs is missing: True, False",
    ]
