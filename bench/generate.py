"""`liftbay jmultiwoz generate` against a local endpoint that answers at once, or after 200 ms. Three parts:

(a) processor time for 1,000 records, whole process, against a bare aiohttp loop that sends the same requests, in
turn, the order alternating; (b) wall time of the whole process against the endpoint with the delay, held against
what the delay alone takes; (c) peak memory by the number of records.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from measure import (
    BENCH,
    INPUT,
    LIFTBAY,
    TOOLS,
    Command,
    Target,
    Usage,
    conclude,
    data_option,
    measured,
    median_and_range,
    print_machine,
    server,
    unpacked,
)

MODEL = "bench"
COMPARED_RECORDS = 500
CPU_RECORDS = 10_000
CPU_CONCURRENCY = 64
CPU_RATIO_LIMIT = 2.5
DELAY = 0.2
DELAYED_RECORDS = 5_000
DELAYED_CONCURRENCY = 100
WALL_RATIO_LIMIT = 1.1
SIZES = (5_000, 31_303, 125_000)
MEMORY_CONCURRENCY = 64
MEMORY_RATIO_LIMIT = 1.1


class Files:
    """The unpacked dataset, and the commands that send it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs = 0
        self.input = folder / INPUT

    def liftbay(self, address: str, limit: int, concurrency: int, inputs: Path | None = None) -> Command:
        """The command that generates into a folder of its own."""
        self._runs += 1
        output = self._folder / f"run{self._runs}"
        return [*LIFTBAY, "generate", *self._common(address, limit, concurrency, inputs), "--output-dir", output]

    def bare(self, address: str, limit: int, concurrency: int) -> Command:
        """The command of the bare loop."""
        return [sys.executable, BENCH / "bare_client.py", *self._common(address, limit, concurrency, None)]

    def _common(self, address: str, limit: int, concurrency: int, inputs: Path | None) -> Command:
        files = ("--tools", self._folder / TOOLS, "--input", inputs or self.input)
        amounts = ("--limit", str(limit), "--concurrency", str(concurrency))
        return ["--base-url", f"{address}/v1", "--model", MODEL, *files, *amounts]

    def repeated(self, count: int) -> Path:
        """A file with the inputs again and again under new ids, up to `count`."""
        path = self._folder / "repeated.jsonl"
        with path.open("w", encoding="utf-8") as repeated:
            for number, line in enumerate(islice(self._endless_lines(), count)):
                repeated.write(line.replace('{"data_id": "', f'{{"data_id": "{number}-', 1))
        return path

    def _endless_lines(self) -> Iterator[str]:
        while True:
            with self.input.open(encoding="utf-8") as lines:
                yield from lines


def endpoint(*options: str) -> Command:
    """The command of the endpoint."""
    return [sys.executable, BENCH / "fast_endpoint.py", *options]


def counts(address: str) -> dict[str, Any]:
    """What the endpoint counted."""
    with urllib.request.urlopen(f"{address}/counts") as answer:
        return dict(json.load(answer))


def requests_differ(files: Files) -> bool:
    """Whether liftbay and the bare loop send different requests: head and body, to the byte."""
    with server(endpoint("--digest")) as address:
        measured(files.liftbay(address, COMPARED_RECORDS, CPU_CONCURRENCY))
        of_liftbay = int(counts(address)["digest"], 16)
        measured(files.bare(address, COMPARED_RECORDS, CPU_CONCURRENCY))
        of_both = int(counts(address)["digest"], 16)
    return of_both != 2 * of_liftbay


def processor_time(files: Files, pairs: int) -> tuple[list[Target], dict[str, Any]]:
    """Part (a)."""
    taken: dict[str, list[Usage]] = {"liftbay": [], "bare": []}
    commands = {"liftbay": files.liftbay, "bare": files.bare}
    with server(endpoint()) as address:
        for number in range(pairs):
            for name in sorted(commands, reverse=bool(number % 2)):
                taken[name].append(measured(commands[name](address, CPU_RECORDS, CPU_CONCURRENCY)))
        sent = counts(address)["requests"]
    thousands = CPU_RECORDS / 1000
    per_thousand = {name: [one.cpu / thousands for one in all_] for name, all_ in taken.items()}
    print(f"(a) {CPU_RECORDS} records, concurrency {CPU_CONCURRENCY}: processor time for 1,000 records, user + system")
    for name, all_ in taken.items():
        user = statistics.median(one.user for one in all_) / thousands
        system = statistics.median(one.system for one in all_) / thousands
        spread = median_and_range(per_thousand[name], "s")
        print(f"  {name + ':':8} {spread}; user {user:.3f}, system {system:.3f}", flush=True)
    ratio = statistics.median(per_thousand["liftbay"]) / statistics.median(per_thousand["bare"])
    targets = [
        Target("(a) processor time of liftbay / of the bare loop", ratio, CPU_RATIO_LIMIT),
        Target("(a) requests too many or too few", abs(sent - 2 * pairs * CPU_RECORDS), 0),
    ]
    return targets, {"cpu_seconds_per_1000": per_thousand, "cpu_ratio": ratio}


def wall_time(files: Files) -> tuple[list[Target], dict[str, Any]]:
    """Part (b)."""
    ideal = DELAYED_RECORDS / DELAYED_CONCURRENCY * DELAY
    with server(endpoint("--delay", str(DELAY))) as address:
        used = measured(files.liftbay(address, DELAYED_RECORDS, DELAYED_CONCURRENCY))
    print(f"(b) {DELAYED_RECORDS} records, concurrency {DELAYED_CONCURRENCY}, {DELAY} s for each answer")
    print(f"  liftbay: {used.seconds:.3f} s; the delay alone: {ideal:.3f} s", flush=True)
    ratio = used.seconds / ideal
    target = Target("(b) wall time of liftbay / of the delay alone", ratio, WALL_RATIO_LIMIT)
    return [target], {"wall_seconds": used.seconds, "wall_ratio": ratio}


def peak_memory(files: Files) -> tuple[list[Target], dict[str, Any]]:
    """Part (c)."""
    print("(c) peak memory by number of records")
    inputs = files.repeated(max(SIZES))
    peaks = {}
    with server(endpoint()) as address:
        for size in SIZES:
            used = measured(files.liftbay(address, size, MEMORY_CONCURRENCY, inputs))
            peaks[size] = used.peak_mib
            print(f"  {size:7} records: {used.peak_mib:.1f} MiB, {size / used.seconds:.0f} records/s", flush=True)
    ratio = peaks[max(SIZES)] / peaks[min(SIZES)]
    target = Target(f"(c) peak memory at {max(SIZES)} / at {min(SIZES)}", ratio, MEMORY_RATIO_LIMIT)
    return [target], {"peak_mib": peaks, "memory_ratio": ratio}


def main() -> int:
    """Run the bench; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    data_option(parser)
    parser.add_argument("--pairs", type=int, default=5, help="how often (a) measures each program")
    options = parser.parse_args()
    print("bench: generate")
    print_machine()
    with tempfile.TemporaryDirectory() as name:
        files = Files(unpacked(options, Path(name)))
        differ = requests_differ(files)
        print(f"liftbay and the bare loop send the same requests: {'NO' if differ else 'yes'}", flush=True)
        targets = [Target("(a) differences in the requests", float(differ), 0)]
        figures: dict[str, Any] = {}
        for its_targets, its_figures in (
            processor_time(files, options.pairs),
            wall_time(files),
            peak_memory(files),
        ):
            targets += its_targets
            figures |= its_figures
    return conclude("generate", targets, figures)


if __name__ == "__main__":
    sys.exit(main())
