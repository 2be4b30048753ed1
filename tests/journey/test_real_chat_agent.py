"""A real model behind `openai_chat`, with the tool loop over a real MCP server, where an endpoint is named.

Set `LIFTBAY_TEST_ENDPOINT` to the address of an OpenAI-compatible endpoint, such as `http://127.0.0.1:8801/v1`. What
was measured is printed: run pytest with `-s` to see it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import mcp_server
import msgspec
import pytest
from places import synchronous
from trial_double import TrialDouble

from liftbay.agents.openai_chat import OpenAIChatAgent, OpenAIChatFile
from liftbay.domain.case import Case
from liftbay.domain.trace import ToolCallRecord
from liftbay.domain.vocabulary import DatasetType, EvalMode
from liftbay.ports import AgentAnswer, AgentInput, Intercepted

ENDPOINT = os.environ.get("LIFTBAY_TEST_ENDPOINT")

pytestmark = pytest.mark.skipif(not ENDPOINT, reason="no real model: LIFTBAY_TEST_ENDPOINT names no endpoint")

QUESTION = "What does a night in the hotel Kyoto cost?"
SYSTEM_PROMPT = "You are a hotel clerk. Look up prices with the tool price, then tell the price to the guest."


def chat_agent(folder: Path) -> OpenAIChatAgent:
    """The agent, with the tools of the MCP server."""
    file = {
        "kind": "openai_chat",
        "name": "real",
        "base_url": ENDPOINT,
        "system_prompt": SYSTEM_PROMPT,
        "parameters": {"temperature": 0, "seed": 1, "max_tokens": 200},
        "tools": {"mcp": [{"name": "hotels", "command": [sys.executable, mcp_server.__file__]}]},
    }
    return OpenAIChatAgent(msgspec.convert(file, OpenAIChatFile), folder, connections=1)


async def answered(agent: OpenAIChatAgent, mode: EvalMode, tools: TrialDouble | None) -> AgentAnswer:
    """The answer to the question; the figures are printed."""
    case = Case(id="price", dataset_type=DatasetType.TOOL_CALL, eval_mode=mode, user_input=QUESTION)
    answer = await agent.answer(
        AgentInput(session_id=mode, case=case, trial=1, round=1, user_input=QUESTION, earlier=(), tools=tools)
    )
    assert answer.trace is not None
    print(f"\n{mode}: {answer.text!r}, first token {answer.time_to_first_token_ms} ms, {answer.trace}")
    return answer


def calls_of(answer: AgentAnswer) -> list[ToolCallRecord]:
    """The calls of the tool `price`, of which there is at least one, in an answer that is measured throughout."""
    assert answer.time_to_first_token_ms is not None
    assert answer.time_to_first_token_ms > 0
    assert answer.trace is not None
    assert answer.trace.model is not None
    assert answer.trace.model.calls is not None
    assert answer.trace.model.calls >= 2
    assert answer.trace.model.input_tokens is not None
    assert answer.trace.model.input_tokens > 100
    assert answer.trace.model.output_tokens
    assert answer.trace.tool_calls
    assert {call.name for call in answer.trace.tool_calls} == {"price"}
    return answer.trace.tool_calls


@synchronous
async def test_the_loop_with_the_real_tool_and_with_mock_data(tmp_path: Path) -> None:
    agent = chat_agent(tmp_path)
    try:
        await agent.start()
        assert agent.version  # the model that the endpoint lists
        answer = await answered(agent, EvalMode.E2E_REAL, TrialDouble(None))
        for call in calls_of(answer):
            assert call.arguments is not None
            assert (call.success, call.mocked) == (True, False)
            assert call.result == f"{call.arguments['hotel']}: 12,300 円"
            assert call.latency_ms is not None
        assert "12,300" in answer.text

        tools = TrialDouble(Intercepted(unmocked=True), price=Intercepted(result={"yen": 4321}, latency_ms=20))
        answer = await answered(agent, EvalMode.E2E_MOCK, tools)
        for call in calls_of(answer):
            assert (call.success, call.mocked, call.result, call.latency_ms) == (True, True, {"yen": 4321}, None)
        assert len(tools.asked) == len(calls_of(answer))
        assert "4321" in answer.text.replace(",", "")
    finally:
        await agent.close()
