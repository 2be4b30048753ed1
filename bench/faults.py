"""The drill: `liftbay jmultiwoz generate` against an endpoint that fails at random, killed again and again, resumed.

Each kill is SIGKILL at a random moment: while the process starts, or after a random number of requests. Right before
it the process is stopped (SIGSTOP), so that the endpoint's count of the requests in flight is the count at the kill.
After a kill a torn line, or a whole line without its line feed, may be put at the end of the result file, as a
machine that loses power may leave it. The last run goes to its end. Then it is checked that

- every id is in the result file exactly once, and each answer that is no error is the right one for its id;
- what the file held at a kill is unchanged in it, and no id that it held was asked for again;
- an id that had its whole answer before a kill and was asked for again after it was in flight at the kill.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from measure import LIFTBAY, PROJECT, Command, Target, conclude, print_machine, server

ENDPOINT = PROJECT / "tests/journey/faulty_endpoint.py"
MODEL = "faulty"
TIMEOUT = 1.0  # of a try, which is what a hanging answer costs
DELAY = 0.1  # mean of the endpoint's answers
PATIENCE = 60.0  # for what must happen soon
TOOLS = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}]


@dataclass(frozen=True)
class Counts:
    """What the endpoint counted up to some moment."""

    asked: dict[str, int]
    answered: dict[str, int]
    in_flight: list[str]
    outcomes: dict[str, int]

    @property
    def requests(self) -> int:
        """All requests for records."""
        return sum(self.asked.values())


@dataclass(frozen=True)
class Kill:
    """One kill: the counts when the process started and when it was killed, and what the file then held."""

    before: Counts
    at: Counts
    held: bytes  # whole lines
    torn: str  # what was done to the file afterwards

    def answered(self) -> set[str]:
        """The ids that got a whole answer from this process's requests."""
        return {id_ for id_, count in self.at.answered.items() if count > self.before.answered.get(id_, 0)}

    def asked_later(self, end: Counts) -> set[str]:
        """The ids that were asked for before the kill and again after it."""
        return {id_ for id_, count in self.at.asked.items() if end.asked[id_] > count}


class Drill:
    """The files, the endpoint and the process."""

    def __init__(self, folder: Path, address: str, options: argparse.Namespace) -> None:
        self._address = address
        self._concurrency: int = options.concurrency
        self._kills: int = options.kills
        self._chance = random.Random(options.seed)
        self._damages = cycle(("torn line", "no line feed", "nothing"))
        self.ids = [f"r{number:05}" for number in range(options.records)]
        self._input = folder / "input.jsonl"
        self._tools = folder / "tools.json"
        self._output = folder / "output"
        self._log = folder / "log"
        self.result = self._output / f"result_{MODEL}.jsonl"
        self._tools.write_text(json.dumps(TOOLS), "utf-8")
        self._input.write_text("".join(map(_input_line, self.ids)), "utf-8")

    def command(self) -> Command:
        """The command that is killed and resumed."""
        files = ("--input", self._input, "--tools", self._tools, "--output-dir", self._output)
        where = ("--base-url", f"{self._address}/v1", "--model", MODEL)
        how = ("--concurrency", str(self._concurrency), "--timeout", str(TIMEOUT))
        return [*LIFTBAY, "generate", *files, *where, *how]

    def kill_once(self) -> Kill:
        """Start the process, kill it at a random moment, perhaps damage the end of the file."""
        before = self.counts()
        process = self._start()
        try:
            self._wait_for_a_moment(process, before)
            process.send_signal(signal.SIGSTOP)
            at = self._settled_counts()
        finally:
            process.kill()
            process.wait()
        torn = self._damage(at)
        return Kill(before, at, whole_lines(self.result), torn)

    def _wait_for_a_moment(self, process: subprocess.Popen[bytes], before: Counts) -> None:
        if self._chance.random() < 0.25:
            time.sleep(self._chance.uniform(0, 1))
            return
        # Each worker holds one record, so this leaves records for the kills that follow.
        share = len(self.ids) // (self._kills + 1)
        wanted = before.requests + self._concurrency + self._chance.randint(0, share)
        wait_until(lambda: process.poll() is not None or self.counts().requests >= wanted)
        if process.poll() is not None:
            raise RuntimeError(f"the process ended by itself with {process.returncode}: {self._log.read_text('utf-8')}")

    def _settled_counts(self) -> Counts:
        """The counts once all that the stopped process sent has arrived."""
        counts = self.counts()
        while True:
            time.sleep(0.05)
            again = self.counts()
            if again.asked == counts.asked:
                return again
            counts = again

    def _damage(self, at: Counts) -> str:
        content = self.result.read_bytes() if self.result.exists() else b""
        lost = sorted(set(at.in_flight) - set(lines_by_id(content)))
        if not lost or not content.endswith(b"\n"):
            return "nothing"
        kind = next(self._damages)
        line = _result_line(lost[0])
        end = {"nothing": 0, "torn line": self._chance.randrange(1, len(line)), "no line feed": len(line)}[kind]
        with self.result.open("ab") as result:
            result.write(line[:end])
        return kind

    def finish(self) -> int:
        """Run to the end; returns the exit code."""
        exit_code = self._start().wait(10 * PATIENCE)
        if exit_code:
            print(self._log.read_text("utf-8"))
        return exit_code

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("wb") as log:
            return subprocess.Popen(self.command(), stdout=log, stderr=log)

    def counts(self) -> Counts:
        """What the endpoint counted up to now."""
        with urllib.request.urlopen(f"{self._address}/counts", timeout=PATIENCE) as answer:
            found: dict[str, Any] = json.load(answer)
        asked = {id_: len(times) for id_, times in found["asked"].items()}
        return Counts(asked, found["answered"], found["in_flight"], found["outcomes"])


def _input_line(id_: str) -> str:
    question = [{"role": "user", "content": f"record:{id_}"}]
    return json.dumps({"data_id": id_, "dialogue_id": f"dialogue_{id_}", "question": question}) + "\n"


def _result_line(id_: str) -> bytes:
    calls = [{"name": "find", "arguments": {"place": id_}}]
    record = {"data_id": id_, "dialogue_id": f"dialogue_{id_}", "tool_calls": calls}
    return json.dumps(record, separators=(",", ":")).encode()


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait until something happened. Raises `TimeoutError` where it does not."""
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            raise TimeoutError("the drill does not go on")
        time.sleep(0.01)


def is_json(text: bytes) -> bool:
    """Whether the text is a JSON value."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def whole_lines(result: Path) -> bytes:
    """The lines of the file without a torn last one, and with the line feed that a whole last one may lack."""
    content = result.read_bytes() if result.exists() else b""
    whole, _, rest = content.rpartition(b"\n")
    lines = [whole, rest] if is_json(rest) else [whole]
    return b"".join(line + b"\n" for line in lines if line)


def lines_by_id(content: bytes) -> dict[str, bytes]:
    """The whole lines of a result file by their id."""
    return {json.loads(line)["data_id"]: line for line in content.splitlines() if is_json(line)}


def check(drill: Drill, kills: list[Kill], end: Counts, exit_code: int, concurrency: int) -> list[Target]:
    """What must hold at the end; each value counts what is wrong."""
    content = drill.result.read_bytes()
    lines = content.splitlines()
    records = [json.loads(line) for line in lines if is_json(line)]
    ids = Counter(record["data_id"] for record in records)
    right = [record for record in records if "error" not in record]
    held_before = [b"", *(kill.held for kill in kills)]
    held_after = [*(kill.held for kill in kills), content]
    changed = sum(not after.startswith(before) for before, after in zip(held_before, held_after, strict=True))
    asked_though_held = set[str]().union(*(kill.asked_later(end) & set(lines_by_id(kill.held)) for kill in kills))
    again = [(kill.answered() & kill.asked_later(end)) - set(lines_by_id(kill.held)) for kill in kills]
    not_in_flight = sum(len(ids - set(kill.at.in_flight)) for ids, kill in zip(again, kills, strict=True))
    in_flight = [len(kill.at.in_flight) for kill in kills]
    print(f"asked again though answered, at each kill: {[len(ids) for ids in again]}")
    print(f"in flight at each kill:                    {in_flight}")
    return [
        Target("exit code of the last run", abs(exit_code), 0),
        Target("ids lost", len(set(drill.ids) - set(ids)), 0),
        Target("ids more than once or unknown", len((ids - Counter(drill.ids)).keys()), 0),
        Target("lines that are no record", len(lines) - len(records) + (not content.endswith(b"\n")), 0),
        Target("answers that are another record's", sum(_place(one) != one["data_id"] for one in right), 0),
        Target("kills after which the file had lost or changed a line", changed, 0),
        Target("ids asked again though the file held them", len(asked_though_held), 0),
        Target("ids asked again though answered and not in flight at the kill", not_in_flight, 0),
        Target("most asked again because of one kill", max(map(len, again)), concurrency),
        Target("most in flight at one kill", max(in_flight), concurrency),
    ]


def _place(record: dict[str, Any]) -> Any:
    return next((call["arguments"].get("place") for call in record["tool_calls"]), None)


def main() -> int:
    """Run the drill; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=400)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1, help="of the moments, the damage and the endpoint's faults")
    options = parser.parse_args()
    print("bench: faults")
    print_machine()
    begun = time.perf_counter()
    endpoint: Command = [sys.executable, ENDPOINT, "--seed", str(options.seed), "--delay", str(DELAY)]
    with tempfile.TemporaryDirectory() as name, server(endpoint) as address:
        drill = Drill(Path(name), address, options)
        kills = [drill.kill_once() for _ in range(options.kills)]
        exit_code = drill.finish()
        end = drill.counts()
        seconds = time.perf_counter() - begun
        print(f"{options.records} records, concurrency {options.concurrency}, {len(kills)} kills, {seconds:.1f} s")
        print(f"what the endpoint did: {dict(Counter(end.outcomes).most_common())}")
        print(f"damage after the kills: {dict(Counter(kill.torn for kill in kills))}")
        print(f"lines held at each kill:                   {[len(lines_by_id(kill.held)) for kill in kills]}")
        targets = check(drill, kills, end, exit_code, options.concurrency)
    figures = {
        "records": options.records,
        "kills": len(kills),
        "requests": end.requests,
        "outcomes": end.outcomes,
        "seconds": seconds,
    }
    return conclude("faults", targets, figures)


if __name__ == "__main__":
    sys.exit(main())
