"""`liftbay jmultiwoz evaluate` against a plain script on the whole dataset: time of the whole process, peak memory.

The result file holds an answer for each of the records; a fixed share is wrong, chosen by a seed: missed calls,
wrong values, superfluous calls. Both programs run in turn, the order alternating, and must write the same.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from measure import (
    BENCH,
    GROUND,
    INPUT,
    LIFTBAY,
    Command,
    Target,
    Usage,
    conclude,
    data_option,
    measured,
    median_and_range,
    print_machine,
    unpacked,
)

SHARE_WRONG = 0.3
RATIO_LIMIT = 0.35
PEAK_LIMIT_MIB = 150
RESULT = "result_bench.jsonl"
SUPERFLUOUS = {"name": "search_hotel", "arguments": {"city": "札幌", "station": "さっぽろ", "wifi": "有り"}}

Call = dict[str, Any]


def write_results(folder: Path, seed: int) -> tuple[int, int]:
    """Write the result file; returns how many records it holds and how many of them are wrong."""
    with (folder / GROUND).open(encoding="utf-8") as lines:
        count = sum(1 for _ in lines)
    chance = random.Random(seed)
    wrong = set(chance.sample(range(count), round(count * SHARE_WRONG)))
    with (folder / GROUND).open(encoding="utf-8") as lines, (folder / RESULT).open("w", encoding="utf-8") as results:
        for number, line in enumerate(lines):
            gold = json.loads(line)
            calls = gold.pop("ground_truth")
            gold["tool_calls"] = spoilt(calls, chance) if number in wrong else calls
            results.write(json.dumps(gold, ensure_ascii=False) + "\n")
    return count, len(wrong)


def spoilt(calls: list[Call], chance: random.Random) -> list[Call]:
    """A wrong answer: a call too many, none at all, or one value that differs."""
    if not calls:
        return [SUPERFLUOUS]
    kind = chance.choice(("missed", "superfluous", "value", "value"))
    if kind == "missed":
        return []
    name = next(iter(calls[0]["arguments"]), None)
    if kind == "superfluous" or name is None:
        return [*calls, SUPERFLUOUS]
    first = calls[0] | {"arguments": calls[0]["arguments"] | {name: "別の値"}}
    return [first, *calls[1:]]


def run_in_turn(folder: Path, pairs: int) -> tuple[list[Usage], list[Usage]]:
    """Measure both programs `pairs` times; returns what liftbay took and what the plain script took."""
    files: Command = ["--result", folder / RESULT, "--ground", folder / GROUND, "--input", folder / INPUT]
    programs: dict[str, Command] = {
        "liftbay": [*LIFTBAY, "evaluate", *files, "--output-dir", folder / "liftbay"],
        "plain": [sys.executable, BENCH / "plain_evaluate.py", *files, "--output-dir", folder / "plain"],
    }
    for name, command in programs.items():  # the first run of each fills the caches and is not counted
        (folder / name).mkdir()
        measured(command)
    taken: dict[str, list[Usage]] = {name: [] for name in programs}
    for number in range(pairs):
        for name in sorted(programs, reverse=bool(number % 2)):
            taken[name].append(measured(programs[name]))
    return taken["liftbay"], taken["plain"]


def parsed(path: Path) -> Iterator[Any]:
    """The JSON values of a file's lines."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def same_content(folder: Path) -> bool:
    """Whether both programs wrote the same score lines, to the byte, and the same log."""
    one, other = folder / "liftbay", folder / "plain"
    if (one / "score_bench.json").read_bytes() != (other / "score_bench.json").read_bytes():
        return False
    logs = (parsed(one / "incorrect_bench.json"), parsed(other / "incorrect_bench.json"))
    return all(mine == its for mine, its in zip_longest(*logs))


def main() -> int:
    """Run the bench; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    data_option(parser)
    parser.add_argument("--pairs", type=int, default=9, help="how often each program is measured")
    parser.add_argument("--seed", type=int, default=1, help="seed of the wrong answers")
    options = parser.parse_args()
    print("bench: evaluate")
    print_machine()
    with tempfile.TemporaryDirectory() as name:
        folder = unpacked(options, Path(name))
        records, wrong = write_results(folder, options.seed)
        print(f"{records} records, {wrong} answers wrong, {options.pairs} pairs", flush=True)
        liftbay, plain = run_in_turn(folder, options.pairs)
        same = same_content(folder)
    print(f"both wrote the same: {'yes' if same else 'NO'}")
    ours, theirs = [one.seconds for one in liftbay], [one.seconds for one in plain]
    peak = max(one.peak_mib for one in liftbay)
    print(f"liftbay: {median_and_range(ours, 's')}, peak {peak:.1f} MiB")
    print(f"plain:   {median_and_range(theirs, 's')}, peak {max(one.peak_mib for one in plain):.1f} MiB")
    ratio = statistics.median(ours) / statistics.median(theirs)
    targets = [
        Target("wall time of liftbay / of the plain script", ratio, RATIO_LIMIT),
        Target("peak memory of liftbay, MiB", peak, PEAK_LIMIT_MIB),
        Target("differences in what they wrote", float(not same), 0),
    ]
    figures = {
        "records": records,
        "wrong": wrong,
        "liftbay_seconds": ours,
        "plain_seconds": theirs,
        "ratio": ratio,
        "liftbay_peak_mib": peak,
        "plain_peak_mib": max(one.peak_mib for one in plain),
    }
    return conclude("evaluate", targets, figures)


if __name__ == "__main__":
    sys.exit(main())
