"""Do the intervals cover as often as they say, and does the gate fail as rarely, and find as much, as it says?

    python bench/intervals.py

Simulates, with a fixed seed, and asks the functions that reports and the gate use themselves:

1. 95 % intervals of rates and of paired differences, on a grid: 50 to 1,000 independent groups, of 1 to 5 cases each
   or of mixed sizes, rates from 0.1 to 0.9, and within a group no, some or strong agreement (correlation 0, 0.3, 0.7).
   Cells that seem to lie outside 94-96 % are simulated anew with ten times the samples, and only that counts.
2. The same for 50 and 100 cases in few groups (10 to 50), where no method can do as well; reported apart.
3. The gate on pairs of runs without a change, and on a drop of 10 points on 200 cases against what `power` says.

The last line is one JSON object. Ends with 1 where a promise is not kept.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

from liftbay.domain.case import Case
from liftbay.domain.episode import Episode
from liftbay.domain.result import CaseResult, Outcome
from liftbay.domain.vocabulary import DatasetType
from liftbay.jobs.gate import Decision, Limits, gate
from liftbay.jobs.pairing import Pair
from liftbay.scoring.paired import clustered_difference
from liftbay.scoring.power import design
from liftbay.scoring.rates import ClusterSums

SAMPLES = 1000
GROUPS = (50, 100, 200, 500, 1000)
SIZES = (1, 2, 3, 4, 5, 0)  # 0: 1 to 5 in turn
RATES = (0.1, 0.3, 0.5, 0.7, 0.9)
CORRELATIONS = (0.0, 0.3, 0.7)
DROPS = (0.0, 0.1)
FEW = (50, 100)  # cases in groups, not groups
LEAST, MOST = 0.93, 0.97
GATED, GATE_CASES, ALPHA = 500, 200, 0.05
Integers = np.ndarray[Any, np.dtype[np.int64]]


class Cell(NamedTuple):
    """One place of the grid; `drop` is None for a rate."""

    sizes: tuple[int, ...]
    rate: float
    correlation: float
    drop: float | None

    def __str__(self) -> str:
        of = "rate" if self.drop is None else f"drop {self.drop:.1f} from"
        kinds = ", ".join(f"{count}x{size}" for size, count in sorted(Counter(self.sizes).items()))
        return f"{of} {self.rate:.1f}, correlation {self.correlation:.1f}, groups {kinds}"


def sizes_of(size: int, *, groups: int | None = None, cases: int = 0) -> tuple[int, ...]:
    """So many groups of a size, or groups of it that hold so many cases."""
    if groups is not None:
        return tuple(size or 1 + number % 5 for number in range(groups))
    found: list[int] = []
    while (rest := cases - sum(found)) > 0:
        found.append(min(rest, size or 1 + len(found) % 5))
    return tuple(found)


def cells(shapes: list[tuple[int, ...]]) -> Iterator[Cell]:
    """All places of a grid over these groups."""
    for sizes in shapes:
        for correlation in CORRELATIONS if max(sizes) > 1 else (0.0,):
            for rate in RATES:
                yield Cell(sizes, rate, correlation, None)
                yield from (Cell(sizes, rate, correlation, drop) for drop in DROPS if drop < rate)


def drawn(chance: np.random.Generator, cell: Cell, samples: int) -> Integers:
    """Sums by group: of passes, or of differences between two runs that agree by chance alone.

    Each case takes what its group drew with the chance that gives the correlation, else a draw of its own.
    """
    groups = np.repeat(np.arange(len(cell.sizes)), cell.sizes)
    starts = np.r_[0, np.cumsum(cell.sizes)[:-1]]

    def one(count: int) -> Integers:
        before = chance.random((samples, count)) < cell.rate
        if cell.drop is None:
            return before.astype(np.int64)
        after = chance.random((samples, count)) < cell.rate - cell.drop
        return after.astype(np.int64) - before

    shared = chance.random((samples, len(groups))) < np.sqrt(cell.correlation)
    values = np.where(shared, one(len(cell.sizes))[:, groups], one(len(groups)))
    return np.add.reduceat(values, starts, axis=1)


def covered(chance: np.random.Generator, cell: Cell, samples: int) -> float:
    """The share of samples whose interval holds the truth."""
    hits = done = 0
    at_once = max(1, min(samples, 1_000_000 // sum(cell.sizes)))
    while done < samples:
        sums = drawn(chance, cell, min(at_once, samples - done))
        done += len(sums)
        hits += sum(rates_hold(sums, cell)) if cell.drop is None else sum(differences_hold(sums, cell))
    return hits / done


def rates_hold(sums: Integers, cell: Cell) -> Iterator[bool]:
    """Whether each interval of a rate holds the truth: the tool's own, from sums that are added up here."""
    sizes = np.array(cell.sizes)
    columns = (sums.sum(1), (sums**2).sum(1), sums @ sizes)
    for passes, squares, products in zip(*(column.tolist() for column in columns), strict=True):
        total = ClusterSums()
        total.clusters, total.size, total._size2 = len(sizes), int(sizes.sum()), int((sizes**2).sum())
        total.passes, total._passes2, total._cross = passes, squares, products
        rate = total.rate()
        assert rate.low is not None
        assert rate.high is not None
        yield rate.low <= cell.rate <= rate.high


def differences_hold(sums: Integers, cell: Cell) -> Iterator[bool]:
    """Whether each interval of a paired difference holds the truth."""
    assert cell.drop is not None
    for row in sums.tolist():
        found = clustered_difference(zip(row, cell.sizes, strict=True))
        assert found.low is not None
        assert found.high is not None
        yield found.low <= -cell.drop <= found.high


def grid(title: str, shapes: list[tuple[int, ...]], seed: int) -> dict[str, Any]:
    """Every cell of a grid: the least and the most that was covered, and what lies outside."""
    chance = np.random.default_rng(seed)
    found: dict[Cell, float] = {}
    for cell in cells(shapes):
        share = covered(chance, cell, SAMPLES)
        if not 0.94 <= share <= 0.96:
            share = covered(chance, cell, 10 * SAMPLES)
        found[cell] = share
    result: dict[str, Any] = {}
    for name, wanted in (("rate", False), ("difference", True)):
        own = {cell: share for cell, share in found.items() if (cell.drop is not None) is wanted}
        outside = {cell: share for cell, share in own.items() if not tolerated(share)}
        result[name] = {
            "cells": len(own),
            "min": round(min(own.values()), 4),
            "max": round(max(own.values()), 4),
            "outside": len(outside),
        }
        print(f"{title}, {name}: {result[name]}")
        for cell, share in sorted(outside.items(), key=lambda item: item[1]):
            print(f"  {share * 100:.1f} %  {cell}")
        sys.stdout.flush()
    return result


def tolerated(share: float) -> bool:
    """Within 93-97 %, up to three standard errors of ten thousand samples."""
    slack = 3 * np.sqrt(LEAST * (1 - LEAST) / (10 * SAMPLES))
    return bool(LEAST - slack <= share <= MOST + slack)


def result_of(number: int, passes: bool, group: int) -> CaseResult:
    """A trial that did or did not pass."""
    case = Case(id=str(number), dataset_type=DatasetType.TOOL_CALL, extra={"dialogueId": group})
    outcome = Outcome.PASSED if passes else Outcome.FAILED
    return CaseResult(
        case=case, trial=1, episode=Episode("s", []), verdicts=[], main_metric="tool_call_accuracy", outcome=outcome
    )


def gated(chance: np.random.Generator, limits: Limits, *, drop: float, fresh: float, grouped: bool) -> Decision:
    """The gate's own decision on two runs of 200 cases, 85 % of which pass before.

    A share `fresh` of the cases that pass, and of those that fail, is drawn anew in the second run.
    """
    rate = 0.85
    groups = group_numbers(grouped)
    before = chance.random(GATE_CASES) < rate
    again = chance.random(GATE_CASES) < rate
    after = np.where(chance.random(GATE_CASES) < fresh, again, before)
    both = rate * (1 - fresh + fresh * rate)  # the share that passes twice, of which the drop is taken
    after &= ~(before & after & (chance.random(GATE_CASES) < drop / both))

    async def pairs() -> AsyncIterator[Pair]:
        for number, (one, other, group) in enumerate(zip(before, after, groups, strict=True)):
            yield Pair(result_of(number, bool(one), int(group)), result_of(number, bool(other), int(group)))

    return asyncio.run(gate(pairs(), base="base", head="head", limits=limits)).decision


def group_numbers(grouped: bool) -> Integers:
    """The group of each case."""
    sizes = sizes_of(0 if grouped else 1, cases=GATE_CASES)
    return np.repeat(np.arange(len(sizes)), sizes)


def without_change() -> dict[str, Any]:
    """How often the gate fails where nothing changed, and how often it may by chance."""
    chance = np.random.default_rng(3)
    found: dict[str, Any] = {"pairs": GATED, "allowed": float(binom.ppf(0.999, GATED, ALPHA) / GATED)}
    for name, max_drop, grouped in (("alone", 0.0, False), ("grouped", 0.0, True), ("two_points", 0.02, False)):
        limits = Limits(max_drop=max_drop, alpha=ALPHA)
        failed = sum(
            gated(chance, limits, drop=0.0, fresh=0.6, grouped=grouped) is Decision.FAILED for _ in range(GATED)
        )
        found[name] = failed / GATED
    print(f"gate without a change: {found}")
    return found


def with_a_drop() -> dict[str, Any]:
    """How often the gate finds a drop of 10 points, and how often `power` says that it does."""
    chance, rate, drop = np.random.default_rng(4), 0.85, 0.1
    found: dict[str, Any] = {}
    for fresh in (0.2, 0.6, 1.0):
        gains = (1 - rate) * fresh * rate  # failed before, passes now; as many are lost, and those of the drop
        predicted = design(cases=GATE_CASES, discordant=drop + 2 * gains, alpha=ALPHA).power(drop)
        decisions = [
            gated(chance, Limits(alpha=ALPHA), drop=drop, fresh=fresh, grouped=False) for _ in range(2 * GATED)
        ]
        measured = decisions.count(Decision.FAILED) / len(decisions)
        found[f"{fresh:g}"] = {"predicted": round(predicted, 4), "measured": measured}
    print(f"gate with a drop of 10 points: {found}")
    return found


def main() -> int:
    """Measure all of it."""
    groups = [sizes_of(size, groups=count) for count in GROUPS for size in SIZES]
    few = [sizes_of(size, cases=count) for count in FEW for size in SIZES if size != 1]
    figures = {
        "coverage": grid("50 to 1,000 groups", groups, 1),
        "coverage_few_groups": grid("10 to 50 groups", few, 2),
        "no_change": without_change(),
        "power": with_a_drop(),
    }
    nulls, powers = figures["no_change"], figures["power"]
    kept = (
        not any(one["outside"] for one in figures["coverage"].values())
        and all(nulls[name] <= nulls["allowed"] for name in ("alone", "grouped", "two_points"))
        and all(abs(one["predicted"] - one["measured"]) <= 0.05 for one in powers.values())
    )
    print(json.dumps(figures | {"kept": kept}))
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
