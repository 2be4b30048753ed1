"""Numbers that nothing can have measured are found where they stand; the agent's own data may hold any."""

from __future__ import annotations

import pytest

from liftbay.domain.trace import EvalTrace, Memory, ModelTokens, ModelUsage, Retrieval, ToolCallRecord
from liftbay.scoring.impossible_numbers import impossible_number


@pytest.mark.parametrize(
    ("trace", "place"),
    [
        (EvalTrace(model=ModelUsage(input_tokens=-5)), "model.inputTokens"),
        (EvalTrace(model=ModelUsage(output_tokens=10**30)), "model.outputTokens"),
        (EvalTrace(model=ModelUsage(by_model={"m": ModelTokens(-1)})), "model.byModel.m.calls"),
        (EvalTrace(memory=Memory(rounds=-1)), "memory.rounds"),
        (EvalTrace(retrievals=[Retrieval(2), Retrieval(-2)]), "retrievals[1].count"),
        (EvalTrace(tool_calls=[ToolCallRecord("a", latency_ms=float("nan"))]), "toolCalls[0].latencyMs"),
        (EvalTrace(hot_update_latency_ms=-0.1), "hotUpdateLatencyMs"),
        (EvalTrace(tool_calls=[ToolCallRecord("a", {"count": -1, "latencyMs": -2}, result={"rounds": -3})]), None),
        (EvalTrace(model=ModelUsage(calls=0, input_tokens=2**53)), None),
        (EvalTrace(), None),
        (None, None),
    ],
)
def test_where_it_stands(trace: EvalTrace | None, place: str | None) -> None:
    assert impossible_number(trace) == place
