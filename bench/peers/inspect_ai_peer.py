"""The cases of `engine.py` with inspect-ai: `inspect_ai_peer.py ADDRESS CASES TOOLS COUNT CONCURRENCY FOLDER`.

Tuned: no display, no live log, one log file written in large parts, no raw copies of requests. It has no
telemetry to turn off.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval  # type: ignore[import-not-found]
from inspect_ai.dataset import MemoryDataset, Sample  # type: ignore[import-not-found]
from inspect_ai.scorer import Score, Target, accuracy, scorer  # type: ignore[import-not-found]
from inspect_ai.solver import Generate, TaskState, generate, solver  # type: ignore[import-not-found]
from inspect_ai.tool import ToolDef, ToolParams  # type: ignore[import-not-found]


@scorer(metrics=[accuracy()])  # type: ignore[misc, untyped-decorator, unused-ignore]
def right_tools() -> Any:
    """The names of the tools that were called are the expected ones."""

    async def score(state: TaskState, target: Target) -> Score:
        called = sorted(call.function for call in state.output.message.tool_calls or ())
        return Score(value="C" if called == sorted(target) else "I", answer=", ".join(called))

    return score


def main() -> None:
    """Run; ends with 1 where the figures are not those expected."""
    address, cases, tools, count, concurrency, folder = sys.argv[1:]
    with Path(cases).open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in islice(lines, int(count))]
    function = json.loads(Path(tools).read_text("utf-8"))[0]["function"]

    async def never_called(city: str, station: str, wifi: str) -> str:
        return ""

    tool = ToolDef(
        never_called,
        name=function["name"],
        description=function["description"],
        parameters=ToolParams.model_validate(function["parameters"]),
    ).as_tool()

    @solver  # type: ignore[misc, untyped-decorator, unused-ignore]
    def with_tools() -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state.tools = [tool]
            return state

        return solve

    samples = [
        Sample(
            id=record["id"], input=record["userInput"], target=[wanted["name"] for wanted in record["expectedTools"]]
        )
        for record in records
    ]
    (log,) = eval(
        Task(dataset=MemoryDataset(samples), solver=[with_tools(), generate(tool_calls="none")], scorer=right_tools()),
        model="openai-api/bench/bench",
        model_base_url=f"{address}/v1",
        model_args={"api_key": "dummy"},
        display="none",
        log_dir=folder,
        log_realtime=False,
        log_model_api=False,
        log_buffer=1000,
        log_header_only=True,
        score_display=False,
        ctl_server=False,
        max_connections=int(concurrency),
        max_samples=int(concurrency),
    )
    right = sum(record["expectedTools"][0]["name"] == function["name"] for record in records)
    if log.status != "success":
        sys.exit(f"{log.status}: {log.error}")
    found = log.results.scores[0].metrics["accuracy"].value
    if abs(found - right / len(records)) > 1e-9:
        sys.exit(f"accuracy {found}, expected {right / len(records)}")


if __name__ == "__main__":
    main()
