"""`liftbay run --scope TOOL_CALL` with a Python agent that asks a local endpoint, results in SQLite. Five parts:

(a) processor time for 1,000 cases, whole process, against a bare aiohttp loop that sends the same requests, in turn,
the order alternating; with `--peers` also against evalscope, inspect-ai and deepeval on the same cases, each in a
virtual environment of its own below `--peers-folder`; (b) peak memory by the number of cases; (c) wall time of the
whole process with answers after 200 ms, held against what the delay alone takes; (d) one case from the shell;
(e) how fast a page and a case come out of the store of a run of 30,000.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from engine_agent import ENDPOINT, MODEL, TOOLS, messages
from liftbay.domain.result import Outcome
from liftbay.ports import RunStore
from liftbay.stores.open import open_store
from measure import (
    BENCH,
    LIFTBAY,
    Command,
    Target,
    Usage,
    conclude,
    measured,
    median_and_range,
    print_machine,
    server,
)

EXPECTED = {"city": "札幌", "station": "さっぽろ", "wifi": "有り"}
WRONG_EVERY = 10  # every tenth case expects another tool than the endpoint's answer calls
CPU_CASES = 5_000
CPU_CONCURRENCY = 64
BARE_RATIO_LIMIT = 3.0
PEER_SHARE_LIMIT = 0.2
SIZES = (5_000, 50_000)
MEMORY_RATIO_LIMIT = 1.1
MEMORY_LIMIT_MIB = 120
DELAY = 0.2
DELAYED_CASES = 5_000
DELAYED_CONCURRENCY = 100
WALL_RATIO_LIMIT = 1.1
STARTS = 7
START_LIMIT = 0.8
KEPT_CASES = 30_000
READS = 200
PAGE_ROWS = 50
PAGE_LIMIT_MS = 10
CASE_LIMIT_MS = 2
PEERS = {
    "evalscope": ("evalscope==1.14.1",),
    "inspect_ai": ("inspect-ai==0.3.285", "openai==3.57.0"),
    "deepeval": ("deepeval==4.3.1",),
}
INSTALL_SECONDS = 900
# Nobody but the endpoint is asked.
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "MODELSCOPE_OFFLINE": "1", "NO_COLOR": "1"}


def case(number: int) -> dict[str, Any]:
    """A case of TOOL_CALL; the requests of any two differ."""
    tool = "search_hotel" if number % WRONG_EVERY else "reserve_hotel"
    return {
        "id": f"case-{number:06}",
        "datasetType": "TOOL_CALL",
        "userInput": f"札幌駅の近くで、Wi-Fi が使えるホテルを 1 部屋探してください。（{number}）",
        "expectedTools": [{"name": tool, "arguments": EXPECTED}],
    }


class Files:
    """The cases, and the commands that run them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs = 0
        self._cases = folder / "cases.jsonl"
        self._input = folder / "input.jsonl"
        self._tools = folder / "tools.json"
        self._tools.write_text(json.dumps(TOOLS, ensure_ascii=False), "utf-8")
        with self._cases.open("w", encoding="utf-8") as cases, self._input.open("w", encoding="utf-8") as inputs:
            for number in range(max(*SIZES, KEPT_CASES)):
                one = case(number)
                cases.write(json.dumps(one, ensure_ascii=False) + "\n")
                inputs.write(msgspec.json.encode({"question": messages(one["userInput"])}).decode() + "\n")

    def cases(self, amount: int) -> Path:
        """A file of so many cases."""
        path = self._folder / f"cases-{amount}.jsonl"
        if not path.exists():
            with self._cases.open(encoding="utf-8") as cases, path.open("w", encoding="utf-8") as part:
                part.writelines(line for line, _ in zip(cases, range(amount), strict=False))
        return path

    def new_folder(self) -> Path:
        """A folder that nothing was written into."""
        self._runs += 1
        folder = self._folder / f"run{self._runs}"
        folder.mkdir()
        return folder

    def liftbay(self, address: str, amount: int, concurrency: int, *options: str) -> tuple[Command, Path]:
        """The command that runs so many cases, and the store that it writes."""
        store = self.new_folder() / "runs.db"
        settings = (f"PYTHONPATH={BENCH}", f"{ENDPOINT}={address}/v1/chat/completions")
        what = ("--scope", "TOOL_CALL", "--agent", "python:engine_agent:answer", "--dataset", str(self.cases(amount)))
        how = ("--store", f"sqlite:///{store}", "--concurrency", str(concurrency), "--json", *options)
        return ["env", *settings, LIFTBAY[0], "run", *what, *how], store

    def bare(self, address: str, amount: int, concurrency: int) -> Command:
        """The command of the bare loop."""
        files = ("--tools", self._tools, "--input", self._input)
        amounts = ("--limit", str(amount), "--concurrency", str(concurrency))
        address = f"{address}/v1"
        return [sys.executable, BENCH / "bare_client.py", "--base-url", address, "--model", MODEL, *files, *amounts]

    def peer(self, peer: Peer, address: str, amount: int, concurrency: int) -> Command:
        """The command of a peer."""
        amounts = (str(amount), str(concurrency))
        settings = (f"{name}={value}" for name, value in OFFLINE.items())
        script = BENCH / "peers" / f"{peer.name}_peer.py"
        files = (self.cases(amount), self._tools)
        return ["env", *settings, peer.python, script, address, *files, *amounts, self.new_folder()]


def endpoint(*options: str) -> Command:
    """The command of the endpoint."""
    return [sys.executable, BENCH / "fast_endpoint.py", *options]


def counts(address: str) -> dict[str, Any]:
    """What the endpoint counted."""
    with urllib.request.urlopen(f"{address}/counts") as answer:
        return dict(json.load(answer))


def wrongly_kept(path: Path, amount: int) -> int:
    """How many results the store lacks, has too many, or has with another outcome than the cases were made for."""
    database = sqlite3.connect(path)
    found = database.execute(
        "SELECT case_id, outcome, main_metric, length(content) FROM results ORDER BY case_id"
    ).fetchall()
    database.close()
    wrong = abs(len(found) - amount)
    for number, (case_id, outcome, metric, size) in zip(range(amount), found, strict=False):
        expected = Outcome.PASSED if number % WRONG_EVERY else Outcome.FAILED
        wrong += (case_id, outcome, metric) != (case(number)["id"], expected.value, "tool_call_accuracy") or not size
    return wrong


def requests_differ(files: Files) -> bool:
    """Whether liftbay's agent and the bare loop send different requests: head and body, to the byte."""
    with server(endpoint("--digest")) as address:
        measured(files.liftbay(address, 500, CPU_CONCURRENCY)[0])
        of_liftbay = int(counts(address)["digest"], 16)
        measured(files.bare(address, 500, CPU_CONCURRENCY))
        return int(counts(address)["digest"], 16) != 2 * of_liftbay


@dataclass(frozen=True)
class Peer:
    """Another tool, in a virtual environment of its own."""

    name: str
    python: Path


def installed(folder: Path) -> list[Peer]:
    """The peers that there are, or that can be installed; says why where one cannot."""
    peers = []
    for name, packages in PEERS.items():
        place = folder / name
        python, mark = place / "bin" / "python", place / "installed.txt"
        wanted = "\n".join(packages)
        try:
            if not mark.is_file() or mark.read_text("utf-8") != wanted:
                print(f"installing {', '.join(packages)} into {place}", flush=True)
                _install(place, python, packages)
                mark.write_text(wanted, "utf-8")
        except (OSError, subprocess.SubprocessError) as error:
            said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
            print(f"  {name} is left out: it does not install: {said[-1] if said else error}", flush=True)
            continue
        peers.append(Peer(name, python))
    return peers


def _install(place: Path, python: Path, packages: tuple[str, ...]) -> None:
    steps: tuple[Command, ...] = (
        (sys.executable, "-m", "venv", "--clear", place),
        (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages),
    )
    for step in steps:
        subprocess.run(
            step, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=INSTALL_SECONDS
        )


def processor_time(files: Files, pairs: int, peers: list[Peer], peer_rounds: int) -> tuple[list[Target], Any]:
    """Part (a)."""
    taken: dict[str, list[Usage]] = {}
    wrong = lost = 0

    def take(name: str, command: Command, address: str) -> None:
        nonlocal lost
        before = counts(address)["requests"]
        used = measured(command)
        taken.setdefault(name, []).append(used)
        lost += abs(counts(address)["requests"] - before - CPU_CASES)

    with server(endpoint()) as address:
        for number in range(pairs):
            command, store = files.liftbay(address, CPU_CASES, CPU_CONCURRENCY)
            both = {"liftbay": command, "bare": files.bare(address, CPU_CASES, CPU_CONCURRENCY)}
            for name in sorted(both, reverse=bool(number % 2)):
                take(name, both[name], address)
            wrong += wrongly_kept(store, CPU_CASES)
            for peer in peers if number < peer_rounds else ():
                try:
                    take(peer.name, files.peer(peer, address, CPU_CASES, CPU_CONCURRENCY), address)
                except RuntimeError as error:
                    print(f"  {peer.name} is left out: {str(error).strip().splitlines()[-1]}", flush=True)
    thousands = CPU_CASES / 1000
    cpu = {name: [one.cpu / thousands for one in all_] for name, all_ in taken.items()}
    print(f"(a) {CPU_CASES} cases, concurrency {CPU_CONCURRENCY}: processor time for 1,000 cases, user + system")
    for name, all_ in taken.items():
        rate = CPU_CASES / statistics.median(one.seconds for one in all_)
        peak = max(one.peak_mib for one in all_)
        spread = median_and_range(cpu[name], "s")
        print(f"  {name + ':':11} {spread}; {rate:.0f} cases/s, peak {peak:.0f} MiB", flush=True)
    medians = {name: statistics.median(values) for name, values in cpu.items()}
    ratio = medians["liftbay"] / medians["bare"]
    targets = [
        Target("(a) processor time of liftbay / of the bare loop", ratio, BARE_RATIO_LIMIT),
        Target("(a) results missing or wrong in the store", wrong, 0),
        Target("(a) requests too many or too few", lost, 0),
    ]
    figures: dict[str, Any] = {"cpu_seconds_per_1000": cpu, "cpu_ratio": ratio}
    others = {name: value for name, value in medians.items() if name in PEERS}
    if others:
        best = min(others, key=others.__getitem__)
        share = medians["liftbay"] / others[best]
        targets.append(Target(f"(a) processor time of liftbay / of {best}, the best peer", share, PEER_SHARE_LIMIT))
        figures |= {"best_peer": best, "peer_share": share}
    return targets, figures


def peak_memory(files: Files) -> tuple[list[Target], dict[str, Any]]:
    """Part (b)."""
    print("(b) peak memory by number of cases")
    peaks = {}
    wrong = 0
    with server(endpoint()) as address:
        for size in SIZES:
            command, store = files.liftbay(address, size, CPU_CONCURRENCY)
            used = measured(command)
            wrong += wrongly_kept(store, size)
            peaks[size] = used.peak_mib
            print(f"  {size:6} cases: {used.peak_mib:.1f} MiB, {size / used.seconds:.0f} cases/s", flush=True)
    ratio = peaks[max(SIZES)] / peaks[min(SIZES)]
    targets = [
        Target(f"(b) peak memory at {max(SIZES)} cases / at {min(SIZES)}", ratio, MEMORY_RATIO_LIMIT),
        Target("(b) peak memory in MiB", max(peaks.values()), MEMORY_LIMIT_MIB),
        Target("(b) results missing or wrong in the store", wrong, 0),
    ]
    return targets, {"peak_mib": peaks, "memory_ratio": ratio}


def wall_time(files: Files) -> tuple[list[Target], dict[str, Any]]:
    """Part (c)."""
    ideal = DELAYED_CASES / DELAYED_CONCURRENCY * DELAY
    with server(endpoint("--delay", str(DELAY))) as address:
        used = measured(files.liftbay(address, DELAYED_CASES, DELAYED_CONCURRENCY)[0])
        bare = measured(files.bare(address, DELAYED_CASES, DELAYED_CONCURRENCY))
    print(f"(c) {DELAYED_CASES} cases, concurrency {DELAYED_CONCURRENCY}, {DELAY} s for each answer")
    print(
        f"  liftbay: {used.seconds:.3f} s; bare loop: {bare.seconds:.3f} s; the delay alone: {ideal:.3f} s", flush=True
    )
    ratio = used.seconds / ideal
    target = Target("(c) wall time of liftbay / of the delay alone", ratio, WALL_RATIO_LIMIT)
    return [target], {"wall_seconds": used.seconds, "bare_wall_seconds": bare.seconds, "wall_ratio": ratio}


def one_case(files: Files) -> tuple[list[Target], dict[str, Any]]:
    """Part (d): the first case of a file of 5,000, and of a file of one. The files are in the kernel's cache."""
    print(f"(d) one case from the shell, {STARTS} times")
    times: dict[int, list[float]] = {1: [], CPU_CASES: []}
    with server(endpoint()) as address:
        for number in range(STARTS + 1):
            for size, taken in times.items():
                seconds = measured(files.liftbay(address, size, 1, "--limit", "1")[0]).seconds
                if number:  # the first warms the cache
                    taken.append(seconds)
    for size, taken in times.items():
        print(f"  from a file of {size}: best {min(taken):.3f}; {median_and_range(taken, 's')}", flush=True)
    middle = statistics.median(times[CPU_CASES])
    return [Target("(d) seconds for one case from the shell", middle, START_LIMIT)], {"one_case_seconds": times}


async def _latencies(ask: Callable[[int], Awaitable[bool]]) -> list[float]:
    times = []
    for number in range(READS):
        before = time.perf_counter()
        right = await ask(number)
        times.append((time.perf_counter() - before) * 1000)
        assert right
    return times


async def _read(store: RunStore) -> dict[str, list[float]]:
    (run,) = await store.runs()
    step = KEPT_CASES // READS

    async def page(number: int) -> bool:
        found = await store.page(run.id, limit=PAGE_ROWS, offset=number * step)
        return len(found.rows) == PAGE_ROWS and found.total == KEPT_CASES

    async def one(number: int) -> bool:
        found = await store.result(run.id, "TOOL_CALL", case(number * step)["id"], 1)
        return found is not None and found.episode.turns[0].trace is not None

    return {"page": await _latencies(page), "case": await _latencies(one)}


def reading(files: Files) -> tuple[list[Target], dict[str, Any]]:
    """Part (e)."""
    with server(endpoint()) as address:
        command, path = files.liftbay(address, KEPT_CASES, CPU_CONCURRENCY)
        measured(command)

    async def read() -> dict[str, list[float]]:
        store = await open_store(f"sqlite:///{path}", create=False)
        try:
            return await _read(store)
        finally:
            await store.close()

    times = asyncio.run(read())
    print(f"(e) from the store of a run of {KEPT_CASES}: median and worst of {READS} reads")
    middle = {name: statistics.median(values) for name, values in times.items()}
    for name, values in times.items():
        print(f"  a {name}: {middle[name]:.2f} ms, worst {max(values):.2f} ms", flush=True)
    targets = [
        Target(f"(e) milliseconds for a page of {PAGE_ROWS}", middle["page"], PAGE_LIMIT_MS),
        Target("(e) milliseconds for a case", middle["case"], CASE_LIMIT_MS),
    ]
    worst = {name: max(values) for name, values in times.items()}
    return targets, {"read_ms": {"median": middle, "worst": worst}}


def main() -> int:
    """Run the bench; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5, help="how often (a) measures liftbay and the bare loop")
    parser.add_argument("--peers", action="store_true", help="install the peers where they are missing; compare in (a)")
    parser.add_argument("--peer-rounds", type=int, default=1, help="how often (a) measures each peer")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser.add_argument("--peers-folder", type=Path, default=cache / "liftbay-bench", help="where the peers live")
    parser.add_argument("--parts", default="abcde", help="which parts to run")
    options = parser.parse_args()
    print("bench: engine")
    print_machine()
    peers = installed(options.peers_folder.absolute()) if options.peers and "a" in options.parts else []
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)  # what the peers leave behind goes with it
        files = Files(Path(name))
        differ = requests_differ(files)
        print(f"liftbay's agent and the bare loop send the same requests: {'NO' if differ else 'yes'}", flush=True)
        targets = [Target("(a) differences in the requests", float(differ), 0)]
        figures: dict[str, Any] = {}
        parts: dict[str, Callable[[], tuple[list[Target], dict[str, Any]]]] = {
            "a": lambda: processor_time(files, options.pairs, peers, options.peer_rounds),
            "b": lambda: peak_memory(files),
            "c": lambda: wall_time(files),
            "d": lambda: one_case(files),
            "e": lambda: reading(files),
        }
        for part, measure in parts.items():
            if part in options.parts:
                its_targets, its_figures = measure()
                targets += its_targets
                figures |= its_figures
        os.chdir(BENCH)
    return conclude("engine", targets, figures)


if __name__ == "__main__":
    sys.exit(main())
