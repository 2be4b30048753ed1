"""What the bench counts, and how it is printed."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from liftbay.catalog.metrics import METRICS
from liftbay.domain.blame import Blame, Culprit
from liftbay.domain.metric import Prerequisite
from liftbay.domain.result import CaseResult
from liftbay.domain.vocabulary import Module, VerdictStatus
from liftbay.scoring.rates import clustered_rate, t_quantile

UNEXPLAINED = "unexplained"
LEAST_CASES = 10  # a kind with fewer says nothing of its own; its cases count in the whole
ORDER = [one.value for one in Culprit]
_PROTECTED = {name: metric for name, metric in METRICS.items() if set(metric.prerequisites) - {Prerequisite.FINISHED}}
_UPSTREAM_OF = {
    Module.MEMORY: {"perception", "planning"},
    Module.TOOL: {"perception", "planning"},
    Module.END_TO_END: {"perception", "planning"},
}


class Blamed(msgspec.Struct, frozen=True):
    """A failed case, the fault that was put there, and what the diagnosis says."""

    kind: str
    module: str
    result: CaseResult
    blame: Blame

    @property
    def named(self) -> str:
        """The module that is named."""
        return self.blame.culprit.value if self.blame.culprit is not None else UNEXPLAINED

    @property
    def right(self) -> bool:
        """Whether it is the one with the fault."""
        return self.named == self.module


def share(rows: Sequence[Blamed]) -> float | None:
    """The share of the cases whose blame is right."""
    return sum(row.right for row in rows) / len(rows) if rows else None


def worst(rows: Sequence[Blamed]) -> float | None:
    """The least share of a kind that has cases enough to say."""
    enough = [found for found in per_kind(rows).values() if len(found) >= LEAST_CASES]
    return min((share(found) or 0.0 for found in enough), default=None)


def per_kind(rows: Iterable[Blamed]) -> dict[str, list[Blamed]]:
    """The cases of each kind."""
    kinds: defaultdict[str, list[Blamed]] = defaultdict(list)
    for row in rows:
        kinds[row.kind].append(row)
    return dict(kinds)


def print_kinds(rows: Sequence[Blamed], struck: Mapping[str, int]) -> None:
    """One line a kind."""
    kinds = per_kind(rows)
    for kind, hit in struck.items():
        found = kinds.get(kind, [])
        others = Counter(row.named for row in found if not row.right)
        print(f"  {kind:22} applied {hit:3}, failed {len(found):3}, right {said(found)}  {dict(others) or ''}")


def print_confusion(rows: Sequence[Blamed]) -> None:
    """Injected module by blamed module."""
    named = [*ORDER, UNEXPLAINED]
    counts = Counter((row.module, row.named) for row in rows)
    print(f"  {'injected':12}" + "".join(f"{name:>12}" for name in named))
    for module in ORDER[1:]:
        print(f"  {module:12}" + "".join(f"{counts[module, name]:12}" for name in named))


def brier(rows: Sequence[Blamed]) -> tuple[float, float]:
    """The mean Brier score of the candidates' probabilities, and of equal weights over the same candidates."""
    given = equal = 0.0
    for row in rows:
        weights: defaultdict[str, float] = defaultdict(float)
        for one in row.blame.candidates:
            weights[one.culprit.value] += one.probability
        even = 1 / len(weights) if weights else 0.0
        for name in ORDER:
            truth = float(name == row.module)
            given += (weights.get(name, 0.0) - truth) ** 2
            equal += ((even if name in weights else 0.0) - truth) ** 2
    return given / max(1, len(rows)), equal / max(1, len(rows))


class Move(msgspec.Struct, frozen=True):
    """How far a conditional rate moves between two runs, with the 95 % interval of the difference."""

    value: float
    low: float
    high: float
    before: int  # decided cases of each run
    after: int

    @property
    def beyond(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


Moves = dict[str, Move]  # by metric


def moves(before: Mapping[str, CaseResult], after: Mapping[str, CaseResult]) -> Moves:
    """The move of every metric that both runs decide on some case."""
    one, other = _shares(before), _shares(after)
    return {metric: _move(one[metric], other[metric]) for metric in one.keys() & other.keys()}


def _move(first: Mapping[str, float], second: Mapping[str, float]) -> Move:
    """The difference of the two rates. They share cases, so its variance is taken over what each case adds to it."""
    one, other = _mean(first.values()), _mean(second.values())
    ids = first.keys() | second.keys()
    value = other - one
    if len(ids) == 1:
        return Move(value, -1.0, 1.0, len(first), len(second))
    added = [
        ((second[id_] - other) / len(second) if id_ in second else 0.0)
        - ((first[id_] - one) / len(first) if id_ in first else 0.0)
        for id_ in ids
    ]
    error = math.sqrt(sum(part**2 for part in added) * len(ids) / (len(ids) - 1))
    half = t_quantile(len(ids) - 1) * error
    return Move(value, value - half, value + half, len(first), len(second))


def protected(module: str) -> list[str]:
    """The metrics whose prerequisites keep faults of this module away from them."""
    return [name for name, metric in _PROTECTED.items() if module in _UPSTREAM_OF.get(metric.module, set())]


def _shares(results: Mapping[str, CaseResult]) -> dict[str, dict[str, float]]:
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for id_, result in results.items():
        for verdict in result.verdicts:
            if verdict.status in (VerdictStatus.PASS, VerdictStatus.FAIL):
                found[verdict.metric][id_] = float(verdict.status is VerdictStatus.PASS)
            elif verdict.status is VerdictStatus.SCORE and verdict.denominator:
                found[verdict.metric][id_] = (verdict.numerator or 0.0) / verdict.denominator
    return dict(found)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def said(rows: Sequence[Blamed]) -> str:
    """The share that is right with its interval; the same case under several faults is one cluster."""
    if not rows:
        return "–"
    clusters: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        cluster = clusters[row.result.case.id]
        cluster[0] += row.right
        cluster[1] += 1
    rate = clustered_rate((passes, size) for passes, size in clusters.values())
    return f"{rate.value or 0:.3f} ({rate.low or 0:.3f}–{rate.high or 0:.3f})"
