"""The processes that `trace.py` measures; each prints what it took as a line of JSON.

    python bench/trace_evaluator.py receive TRACES
    python bench/trace_evaluator.py run AGENT_FILE CASES STORE
    python bench/trace_evaluator.py steps TRACES

`receive` begins so many turns, prints `listening on ADDRESS` and its turns' `traceparent`s as a list of JSON, takes
their spans and makes EvalTraces of them. `run` is what `liftbay run` does with the scope TOOL_CALL, without its start.
`steps` gives the cost of each step of receiving.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import uvloop

from liftbay.datasets.project import Listening
from liftbay.domain.result import RunRequest
from liftbay.domain.spans import Span
from liftbay.domain.trace import EvalTrace
from liftbay.engine.run import Control
from liftbay.jobs.execute import Silent, execute
from liftbay.jobs.prepare import prepare
from liftbay.stores.open import open_store
from liftbay.telemetry import otlp
from liftbay.telemetry.assemble import trace_of
from liftbay.telemetry.collector import SpanCollector
from liftbay.telemetry.receiver import routes
from liftbay.transport.local_server import LocalServer
from liftbay.wiring.agents import agent_of
from liftbay.wiring.surroundings import started
from trace_spans import MODEL_CALLS, SPANS, TOKENS, TOOL, Turns

CONCURRENCY = 64
SECONDS_TO_SEND = 120.0


class Watched(SpanCollector):
    """Knows when the first and the last span came."""

    first = last = 0.0

    def accept(self, spans: Iterable[Span]) -> None:
        """Take spans."""
        self.first = self.first or time.perf_counter()
        super().accept(spans)
        self.last = time.perf_counter()


def right(trace: EvalTrace | None) -> bool:
    """Whether the EvalTrace says what the spans said."""
    return (
        trace is not None
        and [call.name for call in trace.tool_calls or ()] == [TOOL]
        and trace.model is not None
        and trace.model.calls == MODEL_CALLS
        and trace.model.input_tokens == MODEL_CALLS * TOKENS[0]
        and len(trace.retrievals or ()) == 1
    )


async def receive(amount: int) -> dict[str, Any]:
    """Take the spans of so many traces."""
    collector = Watched(trace_of, at_most=SECONDS_TO_SEND)
    server = LocalServer(routes(collector))
    await server.start()
    sessions = [f"session-{number}" for number in range(amount)]
    parents = [collector.begin(session, 1) for session in sessions]
    idle = peak()
    print(f"listening on {server.address}", flush=True)
    print(json.dumps(parents), flush=True)
    begun = time.process_time()
    found = await asyncio.gather(*(collector.collect(session) for session in sessions))
    cpu = time.process_time() - begun
    await server.close()
    counts = collector.counts
    return {
        "cpuSeconds": cpu,
        "seconds": collector.last - collector.first,
        "spans": counts.used,
        "lost": amount * SPANS - counts.used,
        "wrong": sum(not right(turns[0].trace) for turns in found),
        "peakMiB": peak(),
        "idleMiB": idle,
    }


async def run(agent_file: str, cases: str, path: str) -> dict[str, Any]:
    """Run the cases against the agent."""
    wired = agent_of(agent_file, connections=CONCURRENCY, listening=Listening(port=0))
    request = RunRequest(scope="TOOL_CALL", agent=agent_file, dataset=[cases], concurrency=CONCURRENCY)
    prepared = prepare(request, wired.agent)
    store = await open_store(f"sqlite:///{path}")
    await store.add_run(prepared.record)
    async with started(wired) as instruments:
        begun, cpu_begun = time.perf_counter(), time.process_time()
        record = await execute(
            prepared.record, prepared.plan, prepared.cases(), wired.agent, store, Silent(), Control(), instruments
        )
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu_begun
    await store.close()
    database = sqlite3.connect(path)
    outcomes = dict(database.execute("SELECT outcome, count(*) FROM results GROUP BY outcome").fetchall())
    database.close()
    return {
        "cpuSeconds": cpu,
        "seconds": seconds,
        "processCpuSeconds": time.process_time(),
        "peakMiB": peak(),
        "outcomes": outcomes,
        "used": None if record.spans is None else record.spans.used,
    }


def steps(amount: int) -> dict[str, float]:
    """Microseconds a span of each step of receiving so many traces, one step after the other."""
    turns = Turns()
    collector = SpanCollector(trace_of)
    parents = [collector.begin(f"session-{number}", 1) for number in range(amount)]
    bodies = [gzip.compress(turns.request(parent), 6) for parent in parents]
    taken = {}

    def step(name: str, work: Callable[[Any], Any], given: list[Any]) -> list[Any]:
        begun = time.process_time()
        made = [work(one) for one in given]
        taken[name] = (time.process_time() - begun) / (amount * SPANS) * 1e6
        return made

    unpacked = step("gunzip", gzip.decompress, bodies)
    decoded = step("decode", lambda body: otlp.decode(body, otlp.PROTOBUF), unpacked)
    step("find the turn", collector.accept, decoded)
    step("EvalTrace", trace_of, decoded)
    return taken


def peak() -> float:
    """The most memory that this process had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["receive", amount]:
            print(json.dumps(uvloop.run(receive(int(amount)))), flush=True)
        case ["run", agent_file, cases, path]:
            print(json.dumps(uvloop.run(run(agent_file, cases, path))), flush=True)
        case ["steps", amount]:
            print(json.dumps(steps(int(amount))))
        case _:
            sys.exit(__doc__)
