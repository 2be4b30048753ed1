"""The fault bench: a sample agent with known faults; does the diagnosis name the module that has them?

The judge is scripted, sees nothing but the evidence and a key of right answers, and errs in 5 % of its verdicts. A case
counts where the agent without faults passed it and no verdict of the trace failed, where the fault changed what the
agent did, and where it then failed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diagnosis_parts import figures
from diagnosis_parts.agent import InProcess
from diagnosis_parts.confirming import Confirmed, confirm
from diagnosis_parts.figures import Blamed
from diagnosis_parts.isolation import RATE, Isolation
from diagnosis_parts.judge import ScriptedJudge, key_of
from diagnosis_parts.runs import Episodes, Runner, first_difference, judged, sound
from liftbay.diagnosis.first_fault import blame_of
from liftbay.domain.result import CaseResult, Outcome
from liftbay.mocks.interceptor import MockTools
from liftbay_demo.faults.held_out import HELD_OUT
from liftbay_demo.faults.kinds import KINDS, Kind
from liftbay_demo.faults.setting import Fault
from measure import print_machine

SEED = 7
PAIRS = (
    ("wrong_intent", "core_left_out"),
    ("forced_skill", "empty_retrieval"),
    ("wrong_route", "invented_fact"),
    ("missing_tool", "tool_error"),
    ("no_retrieval", "contradicted_source"),
    ("empty_retrieval", "invented_fact"),
    ("truncated_chunk", "core_left_out"),
    ("wrong_parameter", "core_left_out"),
    ("tool_error", "format_ignored"),
    ("asks_again", "wrong_parameter"),
)
MODULES = {kind.name: kind.module for kind in (*KINDS, *HELD_OUT)}


class Bench:
    """Holds the run without faults, and sets the others against it."""

    def __init__(self, runner: Runner, healthy: Episodes) -> None:
        self.runner = runner
        self.healthy = healthy
        self.judge = ScriptedJudge(key_of(healthy))
        self.applied: dict[str, int] = {}
        self.turns: dict[str, dict[str, int]] = {}  # by kind and case: the first turn that differs

    async def look(self) -> None:
        """Judge the run without faults."""
        self.before = await judged(self.healthy, self.judge)
        self.unprotected = await judged(self.healthy, self.judge, prerequisites=False)
        self.good = {id_ for id_, result in self.before.items() if sound(result)}

    async def with_faults(self, *kinds: str, rate: float = 1.0) -> Episodes:
        """What the agent does with these faults."""
        return await self.runner.episodes(tuple(Fault(kind, rate, SEED) for kind in kinds))

    async def isolate(self, kind: Kind, isolation: Isolation) -> None:
        """Set the rates of a run that the fault strikes in part against those without faults."""
        faulty = await self.with_faults(kind.name, rate=RATE)
        after = await judged(faulty, self.judge)
        unprotected = await judged(faulty, self.judge, prerequisites=False)
        isolation.add(kind, figures.moves(self.before, after), figures.moves(self.unprotected, unprotected))

    async def single(self, kind: Kind) -> list[Blamed]:
        """The failed cases of one kind, each with its blame."""
        faulty = await self.with_faults(kind.name)
        after = await judged(faulty, self.judge)
        turns = {
            id_: turn for id_ in after if (turn := first_difference(self.healthy[id_][1], faulty[id_][1])) is not None
        }
        self.turns[kind.name] = turns
        self.applied[kind.name] = len(turns)
        return [
            Blamed(kind.name, kind.module, after[id_], blame_of(after[id_]))
            for id_ in sorted(turns.keys() & self.good)
            if after[id_].outcome is not Outcome.PASSED
        ]

    async def pair(self, first: str, second: str) -> list[Blamed]:
        """The failed cases that both faults touch, with the module that comes first in causal order."""
        faulty = await self.with_faults(first, second)
        after = await judged(faulty, self.judge)
        both = self.turns[first].keys() & self.turns[second].keys() & self.good
        return [
            Blamed(f"{first} + {second}", self._earlier(id_, first, second), after[id_], blame_of(after[id_]))
            for id_ in sorted(both)
            if after[id_].outcome is not Outcome.PASSED
        ]

    def _earlier(self, id_: str, *kinds: str) -> str:
        order = {kind: (self.turns[kind][id_], figures.ORDER.index(MODULES[kind])) for kind in kinds}
        return MODULES[min(order, key=lambda kind: order[kind])]


async def measured(only: Sequence[str], mistakes: Path | None) -> dict[str, Any]:
    """All figures of the last line."""
    tools = MockTools({})
    with tempfile.TemporaryDirectory() as folder:
        agent = InProcess(Path(folder), tools)
        await agent.start()
        try:
            runner = Runner(agent, tools)
            bench = Bench(runner, await runner.sound_episodes())
            await bench.look()
            return await _all(bench, agent, only, mistakes)
        finally:
            await agent.close()


async def _all(bench: Bench, agent: InProcess, only: Sequence[str], mistakes: Path | None) -> dict[str, Any]:
    outcomes = Counter(result.outcome.value for result in bench.before.values())
    print(f"without faults: {len(bench.before)} cases, {dict(outcomes)}; sound in every part: {len(bench.good)}")
    isolation = Isolation()
    rows: list[Blamed] = []
    for kind in [one for one in (*KINDS, *HELD_OUT) if one.name in only] or KINDS:
        rows += await bench.single(kind)
        if kind.fails and figures.protected(kind.module):
            await bench.isolate(kind, isolation)
    print("\nsingle faults")
    figures.print_kinds(rows, bench.applied)
    print(f"  all: {len(rows)} failed cases, right {figures.said(rows)}\n\ninjected × blamed module")
    figures.print_confusion(rows)
    given, equal = figures.brier(rows)
    print(f"\nBrier score {given:.4f}; with equal weights {equal:.4f}")
    print(f"\nisolation: points by which conditional rates move where a fault strikes {RATE:.0%} of the messages")
    isolation.show()
    if mistakes is not None:
        _write_mistakes(mistakes, rows)
    if only:
        return {"cases": len(rows), "top1": figures.share(rows)}
    singles = dict(bench.applied)
    held_out = [row for kind in HELD_OUT for row in await bench.single(kind)]
    print("\nheld-out faults")
    figures.print_kinds(held_out, {name: hit for name, hit in bench.applied.items() if name not in singles})
    print(f"  all: right {figures.said(held_out)}")
    pairs = [row for first, second in PAIRS for row in await bench.pair(first, second)]
    print("\npairs of faults: the first in causal order")
    figures.print_kinds(pairs, {kind: len(found) for kind, found in figures.per_kind(pairs).items()})
    print(f"  all: right {figures.said(pairs)}")
    confirmed: Confirmed = await confirm(agent, bench.runner, bench.judge, rows, SEED)
    print(f"\nconfirmation: {confirmed}")
    return {
        "cases": len(rows),
        "top1": figures.share(rows),
        "heldout_top1": figures.share(held_out),
        "per_fault_min": figures.worst(rows),
        "pairs_first": figures.share(pairs),
        "isolation_max_move": isolation.largest,
        "confirm_flip": confirmed.flip,
        "confirm_false": confirmed.false,
    }


def _write_mistakes(file: Path, rows: Sequence[Blamed]) -> None:
    wrong: list[tuple[str, str, str, str, CaseResult]] = []
    for row in rows:
        if not row.right:
            why = row.blame.candidates[0].why if row.blame.candidates else ""
            wrong.append((row.kind, row.module, row.named, why, row.result))
    lines = [f"{kind} ({module}) → {named}: {result.case.id}: {why}" for kind, module, named, why, result in wrong]
    file.write_text("\n".join(sorted(lines)) + "\n", "utf-8")


def main() -> int:
    """Run the bench; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[], choices=list(MODULES), help="only this kind; repeatable")
    parser.add_argument("--mistakes", type=Path, help="file to write the wrongly blamed cases to")
    options = parser.parse_args()
    print("bench: diagnosis")
    print_machine()
    begun = time.perf_counter()
    line = asyncio.run(measured(options.only, options.mistakes))
    print(f"\n{time.perf_counter() - begun:.0f} seconds")
    print(json.dumps(line))
    return 0


if __name__ == "__main__":
    sys.exit(main())
