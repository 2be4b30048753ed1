"""The cases of `engine.py` with deepeval: `deepeval_peer.py ADDRESS CASES TOOLS COUNT CONCURRENCY FOLDER`.

deepeval judges answers and leaves asking to its user: aiohttp does it here, the fastest way there is. Its cache is off
(on, it is quadratic), its display and telemetry too; it keeps the run in its SQLite store.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

os.environ |= {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_NO_INSPECT_PROMPT": "1",
    "DEEPEVAL_LOCAL_STORE": "sqlite",
}

import aiohttp
from deepeval import evaluate  # type: ignore[import-not-found]
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig  # type: ignore[import-not-found]
from deepeval.metrics import ExactMatchMetric  # type: ignore[import-not-found]
from deepeval.test_case import LLMTestCase, ToolCall  # type: ignore[import-not-found]

Record = dict[str, Any]


def calls_of(names_and_arguments: Iterator[tuple[str, Any]]) -> list[Any]:
    """Calls in deepeval's form."""
    return [ToolCall(name=name, input_parameters=arguments) for name, arguments in names_and_arguments]


def names_of(calls: list[Any]) -> str:
    """The text that is compared."""
    return ", ".join(sorted(call.name for call in calls))


async def ask(url: str, records: list[Record], tools: Any, concurrency: int) -> list[Any]:
    """Ask for every record; a test case each."""
    cases: list[Any] = []
    waiting = iter(records)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency)) as session:

        async def work() -> None:
            for record in waiting:
                text = record["userInput"]
                body = {"model": "bench", "messages": [{"role": "user", "content": text}], "tools": tools}
                async with session.post(url, json=body) as response:
                    message = (await response.json())["choices"][0]["message"]
                functions = (call["function"] for call in message["tool_calls"])
                made = calls_of((one["name"], json.loads(one["arguments"])) for one in functions)
                wanted = calls_of((one["name"], one["arguments"]) for one in record["expectedTools"])
                cases.append(
                    LLMTestCase(
                        input=text,
                        actual_output=names_of(made),
                        expected_output=names_of(wanted),
                        tools_called=made,
                        expected_tools=wanted,
                    )
                )

        async with asyncio.TaskGroup() as workers:
            for _ in range(concurrency):
                workers.create_task(work())
    return cases


def main() -> None:
    """Run; ends with 1 where the figures are not those expected."""
    address, path, tools, count, concurrency, folder = sys.argv[1:]
    with Path(path).open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in islice(lines, int(count))]
    known = json.loads(Path(tools).read_text("utf-8"))
    cases = asyncio.run(ask(f"{address}/v1/chat/completions", records, known, int(concurrency)))
    result = evaluate(
        test_cases=cases,
        metrics=[ExactMatchMetric()],
        async_config=AsyncConfig(run_async=True, max_concurrent=int(concurrency)),
        display_config=DisplayConfig(
            show_indicator=False, print_results=False, inspect_after_run=False, results_folder=folder
        ),
        cache_config=CacheConfig(write_cache=False, use_cache=False),
    )
    right = sum(record["expectedTools"][0]["name"] == known[0]["function"]["name"] for record in records)
    found = sum(one.success for one in result.test_results)
    if (len(result.test_results), found) != (len(records), right):
        sys.exit(f"{found} of {len(result.test_results)} right, expected {right} of {len(records)}")


if __name__ == "__main__":
    main()
