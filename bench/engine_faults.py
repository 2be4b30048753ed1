"""The drill: `liftbay run` against an agent that breaks in every way, killed again and again, resumed.

Each kill is SIGKILL at a random moment: while the process starts, or after a random number of trials. Right before it
the process is stopped (SIGSTOP), so that the agent's log says what was in flight and what had finished at the kill.
The last run goes to its end. Then it is checked that

- every trial of every case is in the store exactly once, with the verdict that its case must have;
- what the store held at a kill is unchanged in it, and none of that was run again;
- what had finished before a kill and was run again after it had finished in the last 200 ms, which is how long the
  writer gathers results (the time of a commit comes on top: `--slack`);
- cases in which the agent crashed, hung or answered nonsense are undecided, counted, each under its reason.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from liftbay.domain.result import CaseResult
from liftbay.stores.open import open_store
from measure import Target, conclude, print_machine

LIFTBAY = (sys.executable, "-m", "liftbay")
PATIENCE = 60.0  # for what must happen soon
GATHERED = 0.2  # seconds in which the writer gathers results
TIMEOUT = 0.25  # of a turn, which is what a hanging agent costs
TRIALS = 2
AGENT = """
import asyncio, os, random, time

LOG = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
BIG = "x" * 1_000_000

def note(what, case, trial):
    os.write(LOG, f"{what} {case} {trial} {time.monotonic()}\\n".encode())

async def answer(text, biz_code, trial):
    note("start", biz_code, trial)
    kind = text
    await asyncio.sleep(random.uniform(0.01, 0.05))
    try:
        if kind == "hang":
            await asyncio.Event().wait()
    finally:
        note("end", biz_code, trial)
    if kind == "crash":
        raise ZeroDivisionError
    if kind == "nonsense":
        return 42
    calls = [{"name": "search" if kind != "wrong" else "other", "arguments": {"case": biz_code}, "success": True}]
    return {"text": BIG if kind == "big" else "", "trace": {"toolCalls": calls}}
"""
# What the agent does in a case: how often in twenty cases, and the outcome.
KINDS = {
    "right": (12, "passed"),
    "wrong": (3, "failed"),
    "crash": (2, "undecided"),
    "hang": (1, "undecided"),
    "nonsense": (1, "undecided"),
    "big": (1, "passed"),
}
REASONS = {
    "crash": "the trial did not finish: the agent crashed",
    "hang": "the trial did not finish: timeout",
    "nonsense": "the trial did not finish: the answer could not be understood",
}

Key = tuple[str, int]  # of a trial: case and number


@dataclass(frozen=True)
class Session:
    """What one process did, as the agent's log says: what it began, and when each trial ended."""

    started: set[Key]
    ended: dict[Key, float]


@dataclass(frozen=True)
class Kill:
    """One kill: when, what the process had done, and what the store then held."""

    moment: float
    session: Session
    held: dict[Key, bytes]


@dataclass
class Drill:
    """The project and its run."""

    folder: Path
    cases: int
    concurrency: int
    chance: random.Random
    run: str | None = None
    read: int = 0  # lines of the log that are known
    sessions: list[Session] = field(default_factory=list)

    def prepare(self) -> None:
        """Write the project."""
        (self.folder / "datasets").mkdir()
        (self.folder / "bot.py").write_text(AGENT)
        lines = [json.dumps(self._case(number)) for number in range(self.cases)]
        (self.folder / "datasets" / "cases.jsonl").write_text("\n".join(lines) + "\n")

    def kind(self, number: int) -> str:
        """What the agent does in a case."""
        kinds = [kind for kind, (share, _) in KINDS.items() for _ in range(share)]
        return kinds[number * 7 % len(kinds)]

    def _case(self, number: int) -> dict[str, Any]:
        id_ = f"case-{number:05}"
        expected = [{"name": "search", "arguments": {"case": id_}}]
        question = {"userInput": self.kind(number), "expectedTools": expected}
        return {"id": id_, "bizCode": id_, "datasetType": "TOOL_CALL", **question}

    def start(self) -> subprocess.Popen[bytes]:
        """Begin the run, or go on with it."""
        options: Sequence[object] = ("--resume", self.run)
        if self.run is None:
            options = (
                *("--scope", "TOOL_CALL", "--agent", "python:bot:answer", "--trials", TRIALS, "--retries", 0),
                *("--timeout", TIMEOUT, "--concurrency", self.concurrency),
            )
        return subprocess.Popen(
            [*LIFTBAY, "run", *map(str, options), "--json"],
            cwd=self.folder,
            env=os.environ | {"LIFTBAY_LANG": "en"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def log(self) -> list[list[str]]:
        """The lines of the log that are whole."""
        path = self.folder / "log"
        content = path.read_text() if path.exists() else ""
        return [line.split() for line in content[: content.rfind("\n") + 1].splitlines()]

    def _session(self) -> Session:
        lines = self.log()
        new, self.read = lines[self.read :], len(lines)
        started = {(case, int(trial)) for what, case, trial, _ in new if what == "start"}
        ended = {(case, int(trial)): float(at) for what, case, trial, at in new if what == "end"}
        self.sessions.append(Session(started, ended))
        return self.sessions[-1]

    def kill_once(self) -> Kill:
        """Start the process and kill it at a random moment."""
        process = self.start()
        known = len(self.log())
        if self.chance.random() < 0.2:
            time.sleep(self.chance.uniform(0, 0.6))
        else:
            wanted = known + self.chance.randint(1, max(2, self.cases * TRIALS // 4))
            end = time.monotonic() + PATIENCE
            while len(self.log()) < wanted and process.poll() is None:
                assert time.monotonic() < end, "the run does not go on"
                time.sleep(0.002)
            time.sleep(self.chance.uniform(0, 0.02))
        process.send_signal(signal.SIGSTOP)
        moment = time.monotonic()
        time.sleep(0.01)
        session = self._session()
        process.kill()
        process.communicate()
        return Kill(moment, session, asyncio.run(self.held()))

    def finish(self) -> tuple[int, dict[str, Any], str]:
        """Go on to the end: exit code, report, and what was said."""
        process = self.start()
        said, complained = process.communicate(timeout=PATIENCE * 5)
        self._session()
        return process.returncode, json.loads(said or b"{}"), complained.decode()

    async def held(self) -> dict[Key, bytes]:
        """What the store holds, by trial; finds the run where it is not known yet."""
        path = self.folder / ".liftbay" / "liftbay.db"
        if not path.exists():
            return {}
        store = await open_store(f"sqlite:///{path}")
        try:
            if self.run is None:
                runs = await store.runs()
                self.run = runs[0].id if runs else None
            if self.run is None:
                return {}
            found: dict[Key, bytes] = {}
            async for result in store.results(self.run):
                key = (result.case.id, result.trial)
                assert key not in found
                found[key] = msgspec.json.encode(result)
            return found
        finally:
            await store.close()


def check(
    drill: Drill, kills: Sequence[Kill], report: dict[str, Any], end: dict[Key, bytes], slack: float
) -> tuple[list[Target], dict[str, Any]]:
    """What must hold, and figures."""
    keys = {(f"case-{number:05}", trial) for number in range(drill.cases) for trial in range(1, TRIALS + 1)}
    outcomes = {f"case-{number:05}": KINDS[drill.kind(number)][1] for number in range(drill.cases)}
    results = [msgspec.json.decode(content, type=CaseResult) for content in end.values()]
    wrong = sum(result.outcome.value != outcomes[result.case.id] for result in results)
    changed = sum(end.get(key) != content for kill in kills for key, content in kill.held.items())
    ages, again_though_held, in_flight, again = [], 0, [], []
    for position, kill in enumerate(kills):
        later = set[Key]().union(*(session.started for session in drill.sessions[position + 1 :]))
        again_though_held += len(later & set(kill.held))
        repeated = later & set(kill.session.ended)
        ages += [kill.moment - kill.session.ended[key] for key in repeated]
        again.append(len(repeated))
        in_flight.append(len(kill.session.started - set(kill.session.ended)))
    counts = dict.fromkeys(("passed", "failed", "undecided"), 0)
    reasons: dict[str, int] = {}
    for number in range(drill.cases):
        kind = drill.kind(number)
        counts[KINDS[kind][1]] += TRIALS
        if kind in REASONS:
            reasons[REASONS[kind]] = reasons.get(REASONS[kind], 0) + TRIALS
    cases = report.get("cases", {})
    said = {name: cases.get(name) for name in counts}
    print(f"held at each kill:                         {[len(kill.held) for kill in kills]}")
    print(f"in flight at each kill:                    {in_flight}")
    print(f"finished before, run again after each kill: {again}")
    targets = [
        Target("trials lost", len(keys - set(end)), 0),
        Target("trials that nobody asked for", len(set(end) - keys), 0),
        Target("trials with a wrong outcome", wrong, 0),
        Target("stored results lost or changed", changed, 0),
        Target("trials run again though stored", again_though_held, 0),
        Target(
            "age in seconds of the oldest that was finished and ran again", max(ages, default=0.0), GATHERED + slack
        ),
        Target("most in flight at one kill", max(in_flight, default=0), drill.concurrency),
        Target("outcomes that the report counts otherwise", sum(said[name] != counts[name] for name in counts), 0),
        Target("reasons that the report counts otherwise", int(cases.get("undecidedByReason") != reasons), 0),
    ]
    return targets, {"ranAgain": sum(again), "oldestRanAgainSeconds": round(max(ages, default=0.0), 3), **said}


def main() -> int:
    """Run the drill; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=600)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--slack", type=float, default=0.1, help="seconds that a commit may take")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    options = parser.parse_args()
    print("bench: engine faults")
    print_machine()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        drill = Drill(Path(name), options.cases, options.concurrency, random.Random(options.seed))
        drill.prepare()
        kills = [drill.kill_once() for _ in range(options.kills)]
        code, report, complained = drill.finish()
        if code:
            print(complained)
        targets, figures = check(drill, kills, report, asyncio.run(drill.held()), options.slack)
    figures |= {
        "cases": options.cases,
        "trials": options.cases * TRIALS,
        "kills": options.kills,
        "seconds": round(time.perf_counter() - begun, 1),
    }
    return conclude("engine faults", [Target("exit code of the last run", code, 0), *targets], figures)


if __name__ == "__main__":
    sys.exit(main())
