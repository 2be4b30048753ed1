"""Whether a run is so much worse than a baseline that a release should stop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterable
from enum import StrEnum

import msgspec

from liftbay.domain.result import Outcome
from liftbay.jobs.pairing import Pair, PairCounts
from liftbay.report.observed import measures_a_mock
from liftbay.scoring.corrections import holm
from liftbay.scoring.outcomes import outcome_of
from liftbay.scoring.paired import (
    Difference,
    bootstrap_difference,
    clustered_bounds,
    clustered_difference,
    clustered_p_value,
    mcnemar_exact,
    sign_flip_p_value,
)
from liftbay.scoring.power import ASSUMED_CORRELATION, WANTED_POWER, Design, cases_needed, trials_needed

_SEED = 20261201  # of the bootstrap: the same runs give the same figures
_ROUNDING = 1e-9
_FEW = 10  # discordant pairs, fewer than which Student's t is not trusted to rule anything out


class Decision(StrEnum):
    """What the gate says."""

    PASSED = "passed"
    FAILED = "failed"
    LOW_COVERAGE = "low_coverage"
    TOO_SMALL = "too_small"


EXIT_CODES = {Decision.PASSED: 0, Decision.FAILED: 3, Decision.LOW_COVERAGE: 4, Decision.TOO_SMALL: 4}


class Limits(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is asked of a run; shares of 1."""

    max_drop: float = 0.02
    alpha: float = 0.05
    min_coverage: float = 0.95


class MetricChange(msgspec.Struct, frozen=True, rename="camel"):
    """A metric on the trials that both runs decided; `change` is head less base, with its 95 % interval."""

    metric: str
    pairs: int
    base: float
    head: float
    change: float
    low: float
    high: float
    p_value: float
    adjusted_p_value: float  # by Holm, over all metrics in the list


class Power(msgspec.Struct, frozen=True, rename="camel"):
    """What this suite can tell, and what it would take to tell a drop of the limit with a chance of 80 %."""

    of_max_drop: float
    detectable_drop: float | None
    cases: int | None
    trials: int | None  # of each case, at the same number of cases; None: no number of them would do


class GateResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The decision with all that it rests on; rates and drops are shares of 1, a drop is base less head."""

    decision: Decision
    base: str
    head: str
    limits: Limits
    counts: PairCounts
    coverage: float | None
    cases: int
    clusters: int
    base_rate: float | None
    head_rate: float | None
    drop: float | None
    least_drop: float | None  # the one-sided lower bound at alpha; not above 0 where the exact test says nothing
    most_drop: float | None  # the one-sided upper bound at alpha
    low: float | None  # the 95 % interval of the drop
    high: float | None
    bootstrap_low: float | None
    bootstrap_high: float | None
    only_base: int  # pairs that only the base passes
    only_head: int
    mcnemar_p_value: float
    power: Power
    metrics: list[MetricChange]
    lost: list[str]  # the trials behind `only_base`: type/case#trial
    gained: list[str]


class _Tally:
    """Sums of one metric over pairs, by cluster."""

    def __init__(self) -> None:
        self.clusters: dict[str, tuple[int, int]] = {}
        self.base = self.head = 0

    def add(self, cluster: str, base: Outcome, head: Outcome) -> None:
        passes = head is Outcome.PASSED, base is Outcome.PASSED
        total, size = self.clusters.get(cluster, (0, 0))
        self.clusters[cluster] = total + passes[0] - passes[1], size + 1
        self.head += passes[0]
        self.base += passes[1]

    @property
    def pairs(self) -> int:
        return sum(size for _, size in self.clusters.values())


async def gate(pairs: AsyncIterable[Pair], *, base: str, head: str, limits: Limits) -> GateResult:
    """Hold the head against the base on the pairs that both decided."""
    counts, main = PairCounts(), _Tally()
    by_metric: dict[str, _Tally] = defaultdict(_Tally)
    lost: list[str] = []
    gained: list[str] = []
    cases: set[tuple[str, str]] = set()
    async for pair in pairs:
        counts.add(pair)
        if pair.base is None or pair.head is None or pair.changed:
            continue
        _add_metrics(by_metric, pair)
        if (difference := pair.difference) is None:
            continue
        main.add(pair.cluster, pair.base.outcome, pair.head.outcome)
        kind, case, trial = pair.known.key
        cases.add((kind, case))
        if difference:
            (gained if difference > 0 else lost).append(f"{kind}/{case}#{trial}")
    clusters, n = main.clusters.values(), main.pairs
    bounds, interval = _bounds(list(clusters), limits.alpha), clustered_difference(clusters)
    resampled = bootstrap_difference(clusters, seed=_SEED)
    power = _power(list(clusters), len(lost) + len(gained), len(cases), limits)
    return GateResult(
        decision=_decision(bounds, counts.coverage, len(lost) + len(gained), power, limits),
        base=base,
        head=head,
        limits=limits,
        counts=counts,
        coverage=counts.coverage,
        cases=len(cases),
        clusters=len(clusters),
        base_rate=main.base / n if n else None,
        head_rate=main.head / n if n else None,
        drop=_less(bounds.value),
        least_drop=_less(bounds.high),
        most_drop=_less(bounds.low),
        low=_less(interval.high),
        high=_less(interval.low),
        bootstrap_low=_less(resampled.high),
        bootstrap_high=_less(resampled.low),
        only_base=len(lost),
        only_head=len(gained),
        mcnemar_p_value=mcnemar_exact(len(lost), len(gained)),
        power=power,
        metrics=_changes(by_metric),
        lost=lost,
        gained=gained,
    )


def _bounds(clusters: list[tuple[int, int]], alpha: float) -> Difference:
    """The one-sided bounds of the change: they exclude none only where the exact test does so too."""
    bounds = clustered_bounds(clusters, alpha)
    if bounds.high is None or bounds.high >= 0 or sign_flip_p_value(clusters) <= alpha:
        return bounds
    return msgspec.structs.replace(bounds, high=0.0)


def _decision(change: Difference, coverage: float | None, discordant: int, power: Power, limits: Limits) -> Decision:
    """A drop that is proven stops a release, however many trials could not be compared."""
    drops = change.value is not None and -change.value > limits.max_drop + _ROUNDING
    if drops and change.high is not None and change.high < 0:
        return Decision.FAILED
    if coverage is None or coverage < limits.min_coverage - _ROUNDING:
        return Decision.LOW_COVERAGE
    if limits.max_drop == 0 or _ruled_out(change, discordant, limits):
        return Decision.PASSED  # however small the suite
    return Decision.PASSED if power.of_max_drop >= WANTED_POWER else Decision.TOO_SMALL


def _ruled_out(change: Difference, discordant: int, limits: Limits) -> bool:
    """Whether the bound excludes so large a drop, and rests on enough pairs, or on none at all, to be believed."""
    return change.low is not None and -change.low <= limits.max_drop and not 0 < discordant < _FEW


def _power(clusters: list[tuple[int, int]], discordant: int, cases: int, limits: Limits) -> Power:
    """From what the pairs show of their agreement.

    A pair of each kind is added to the discordant share, since a small suite that shows none may still have some.
    """
    n = sum(size for _, size in clusters)
    if len(clusters) < 2:
        return Power(0.0, None, None, None)
    whole = sum(size * size for _, size in clusters) / n  # the design effect where the pairs of a cluster always agree
    value = sum(total for total, _ in clusters) / n
    alone = discordant - n * value**2
    between = sum((total - value * size) ** 2 for total, size in clusters)
    effect = max(1.0, between / alone) if alone > _ROUNDING else whole
    measured = Design(
        clusters=len(clusters), pairs=n, discordant=(discordant + 1) / (n + 2), effect=effect, alpha=limits.alpha
    )
    correlation = min(1.0, (effect - 1) / (whole - 1)) if whole > 1 else ASSUMED_CORRELATION

    def with_trials(trials: int) -> Design:
        size = trials * cases / len(clusters)
        return msgspec.structs.replace(measured, pairs=trials * cases, effect=1 + (size - 1) * correlation)

    drop = limits.max_drop
    return Power(
        measured.power(drop),
        measured.detectable(),
        cases_needed(drop, lambda wanted: measured.times(wanted / cases)) if drop > 0 else None,
        trials_needed(drop, with_trials) if drop > 0 else None,
    )


def _add_metrics(by_metric: dict[str, _Tally], pair: Pair) -> None:
    """The verdicts that both runs decided; those on a mock are no figure of the agent."""
    assert pair.base is not None
    assert pair.head is not None
    before = {one.metric: outcome_of(one) for one in pair.base.verdicts if not measures_a_mock(one)}
    for verdict in pair.head.verdicts:
        outcomes = before.get(verdict.metric, Outcome.UNDECIDED), outcome_of(verdict)
        if Outcome.UNDECIDED not in outcomes and not measures_a_mock(verdict):
            by_metric[verdict.metric].add(pair.cluster, *outcomes)


def _changes(by_metric: dict[str, _Tally]) -> list[MetricChange]:
    """The least likely to be chance first."""
    p_values = [clustered_p_value(tally.clusters.values()) for tally in by_metric.values()]
    found = []
    for (metric, tally), p_value, adjusted in zip(by_metric.items(), p_values, holm(p_values), strict=True):
        change, n = clustered_difference(tally.clusters.values()), tally.pairs
        assert change.value is not None
        assert change.low is not None
        assert change.high is not None
        rates = tally.base / n, tally.head / n
        found.append(MetricChange(metric, n, *rates, change.value, change.low, change.high, p_value, adjusted))
    return sorted(found, key=lambda one: (one.p_value, one.change, one.metric))


def _less(change: float | None) -> float | None:
    """A change as a drop."""
    return None if change is None else 0.0 - change
