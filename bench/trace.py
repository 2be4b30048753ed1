"""Spans from an agent's exporter to EvalTraces. Two parts:

(a) 1,000 traces of 50 spans over HTTP (protobuf, gzip) into a process that decodes them, finds their turns and makes
EvalTraces: spans a second, processor time and memory of that process; (b) 1,000 cases of TOOL_CALL against an HTTP
agent in another process that takes 200 ms to answer, results in SQLite, with the 50 spans that the agent exports for
each request and without, in turn, the order alternating: processor time and wall time of the evaluating process,
without its start.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import uvloop

from measure import BENCH, Target, conclude, median_and_range, print_machine, server
from trace_agent import HEADERS
from trace_spans import ARGUMENTS, SPANS, TOOL, Turns

TRACES = 1_000
ROUNDS = 3  # of (a)
SENDERS = 8
CASES = 1_000
CONCURRENCY = 64
DELAY = 0.2
RATIO_LIMIT = 2.0
EVALUATOR = (sys.executable, BENCH / "trace_evaluator.py")
AGENT = """\
kind = "http"
url = "{address}"
request = {{ input = "{{userInput}}", session = "{{sessionId}}" }}
response = {{ text = "text" }}
headers = {{ x-otlp-endpoint = "{endpoint}" }}
trace = {{ otlp = {spans} }}
"""


async def send(address: str, bodies: list[bytes]) -> None:
    """Send the requests, some at a time."""
    waiting = iter(bodies)

    async def work(client: aiohttp.ClientSession) -> None:
        for body in waiting:
            async with client.post(f"{address}/v1/traces", data=body, headers=HEADERS) as response:
                await response.read()
                response.raise_for_status()

    async with aiohttp.ClientSession() as client:
        await asyncio.gather(*(work(client) for _ in range(SENDERS)))


def received() -> dict[str, Any]:
    """What the receiving process says of itself."""
    turns = Turns()
    with subprocess.Popen([*EVALUATOR, "receive", str(TRACES)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[2]
        bodies = [gzip.compress(turns.request(parent), 6) for parent in json.loads(process.stdout.readline())]
        uvloop.run(send(address, bodies))
        found: dict[str, Any] = json.loads(process.stdout.readline())
    return found | {"bytesPerTrace": statistics.mean(map(len, bodies))}


def receiving() -> tuple[list[Target], dict[str, Any]]:
    """Part (a)."""
    print(f"(a) {TRACES} traces of {SPANS} spans over HTTP, protobuf and gzip, {ROUNDS} times")
    found = [received() for _ in range(ROUNDS)]
    spans = TRACES * SPANS
    rates = [spans / one["seconds"] for one in found]
    cpus = [one["cpuSeconds"] for one in found]
    peaks = [one["peakMiB"] for one in found]
    print(f"  {found[0]['bytesPerTrace'] / 1024:.1f} KiB a request")
    print(f"  received: {median_and_range(rates, 'spans/s')}")
    print(f"  processor time: {median_and_range(cpus, 's')}; {statistics.median(cpus) / spans * 1e6:.1f} µs a span")
    print(f"  peak memory: {median_and_range(peaks, 'MiB')}; before the first span {found[0]['idleMiB']:.0f} MiB")
    taken: dict[str, float] = json.loads(subprocess.check_output([*EVALUATOR, "steps", str(TRACES)], text=True))
    print("  µs a span: " + ", ".join(f"{name} {cost:.2f}" for name, cost in taken.items()), flush=True)
    targets = [
        Target("(a) spans lost", sum(one["lost"] for one in found), 0),
        Target("(a) EvalTraces that are not right", sum(one["wrong"] for one in found), 0),
    ]
    return targets, {
        "spans_per_second": rates,
        "receive_cpu_seconds": cpus,
        "receive_peak_mib": peaks,
        "microseconds_a_span": taken,
    }


def case(number: int) -> dict[str, Any]:
    """A case of TOOL_CALL whose expectation the spans meet."""
    return {
        "id": f"case-{number:06}",
        "datasetType": "TOOL_CALL",
        "userInput": f"札幌駅の近くで、Wi-Fi が使えるホテルを 1 部屋探してください。（{number}）",
        "expectedTools": [{"name": TOOL, "arguments": ARGUMENTS}],
    }


def evaluated(folder: Path, number: int, address: str, *, spans: bool) -> dict[str, Any]:
    """What the evaluating process says of itself."""
    agent = folder / f"agent-{spans}.toml".lower()
    endpoint = "{otlpEndpoint}/v1/traces" if spans else "-"
    agent.write_text(AGENT.format(address=address, endpoint=endpoint, spans=str(spans).lower()), "utf-8")
    store = folder / f"{number}-{spans}.db"
    command: list[str | Path] = [*EVALUATOR, "run", agent, folder / "cases.jsonl", store]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return found | {"storeMiB": store.stat().st_size / (1 << 20)}


def running(pairs: int) -> tuple[list[Target], dict[str, Any]]:
    """Part (b)."""
    print(f"(b) {CASES} cases, concurrency {CONCURRENCY}, {SPANS} spans a case")
    taken: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    agent: list[str | Path] = [sys.executable, BENCH / "trace_agent.py", "--delay", str(DELAY)]
    with tempfile.TemporaryDirectory() as name, server(agent) as address:
        folder = Path(name)
        lines = (json.dumps(case(number), ensure_ascii=False) + "\n" for number in range(CASES))
        (folder / "cases.jsonl").write_text("".join(lines), "utf-8")
        for number in range(pairs):
            for spans in (False, True) if number % 2 else (True, False):
                taken[spans].append(evaluated(folder, number, address, spans=spans))
    for spans, all_ in taken.items():
        print(f"  {'with spans' if spans else 'without'}:")
        for label, key, unit in _SHOWN:
            print(f"    {label}: {median_and_range([one[key] for one in all_], unit)}")
    middle = {
        (spans, key): statistics.median(one[key] for one in all_)
        for spans, all_ in taken.items()
        for _, key, _ in _SHOWN
    }
    ratios = {key: middle[True, key] / middle[False, key] for _, key, _ in _SHOWN}
    print(f"  processor time of the whole process, with / without: {ratios['processCpuSeconds']:.2f}", flush=True)
    wrong = sum(one["outcomes"] != {"passed": CASES} or one["used"] != CASES * SPANS for one in taken[True])
    wrong += sum(one["outcomes"] != {"undecided": CASES} for one in taken[False])
    targets = [
        Target("(b) wall time with spans / without", ratios["seconds"], RATIO_LIMIT),
        Target("(b) processor time with spans / without", ratios["cpuSeconds"], RATIO_LIMIT),
        Target("(b) runs with other results than the cases were made for", wrong, 0),
    ]
    return targets, {"runs": {"with": taken[True], "without": taken[False]}, "ratios": ratios}


_SHOWN = (
    ("processor time", "cpuSeconds", "s"),
    ("processor time, whole process", "processCpuSeconds", "s"),
    ("wall time", "seconds", "s"),
    ("peak memory", "peakMiB", "MiB"),
    ("store", "storeMiB", "MiB"),
)


def main() -> int:
    """Run the bench; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5, help="how often (b) measures with spans and without")
    parser.add_argument("--parts", default="ab", help="which parts to run")
    options = parser.parse_args()
    print("bench: trace")
    print_machine()
    targets: list[Target] = []
    figures: dict[str, Any] = {}
    parts: dict[str, Callable[[], tuple[list[Target], dict[str, Any]]]] = {
        "a": receiving,
        "b": lambda: running(options.pairs),
    }
    for part, measure in parts.items():
        if part in options.parts:
            its_targets, its_figures = measure()
            targets += its_targets
            figures |= its_figures
    return conclude("trace", targets, figures)


if __name__ == "__main__":
    sys.exit(main())
