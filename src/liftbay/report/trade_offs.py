"""Quality, cost and latency side by side, by dataset type and by scene."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec

from liftbay.domain.result import CaseResult, Outcome
from liftbay.domain.vocabulary import DatasetType
from liftbay.report.tally import RateTally
from liftbay.scoring.rates import Rate

LATENCY = "response_latency"
COSTS = ("cost", "input_tokens", "output_tokens", "model_calls")  # the first that was reported stands for the cost


class Grouping(StrEnum):
    """By what the trials are grouped."""

    DATASET = "dataset"
    SCENE = "scene"


class TradeOff(msgspec.Struct, frozen=True, rename="camel"):
    """One group; a mean is None where nothing was reported."""

    by: Grouping
    name: str
    pass_rate: Rate
    trials: int
    latency_ms: float | None  # mean of the response latency
    cost: float | None  # mean of the probe `cost_probe`, a trial
    cost_probe: str | None


class _Group:
    def __init__(self) -> None:
        self.passes = RateTally()
        self.trials = 0
        self.sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])  # probe: sum, count


class TradeOffTally:
    """Adds up trials by group."""

    def __init__(self) -> None:
        self._groups: dict[tuple[Grouping, str], _Group] = defaultdict(_Group)

    def add(self, result: CaseResult, values: Mapping[str, Sequence[float]], cluster: str, *, shared: bool) -> None:
        """Count one trial with the values of its probes."""
        case = result.case
        for key in ((Grouping.DATASET, case.dataset_type.value), (Grouping.SCENE, case.scene_code)):
            group = self._groups[key]
            group.trials += 1
            if result.outcome is not Outcome.UNDECIDED:
                group.passes.add(cluster, float(result.outcome is Outcome.PASSED), 1, shared=shared)
            for probe, found in values.items():
                sums = group.sums[probe]
                sums[0] += sum(found)
                sums[1] += len(found)

    def trade_offs(self) -> list[TradeOff]:
        """Every group, dataset types first."""
        probe = next((one for one in COSTS if any(g.sums[one][1] for g in self._groups.values())), None)
        return [
            TradeOff(by, name, group.passes.rate(), group.trials, _mean(group, LATENCY), _mean(group, probe), probe)
            for (by, name), group in sorted(self._groups.items(), key=_order)
        ]


_TYPES = {type_.value: position for position, type_ in enumerate(DatasetType)}


def _order(item: tuple[tuple[Grouping, str], _Group]) -> tuple[str, int, str]:
    (by, name), _ = item
    return by.value, _TYPES.get(name, 0) if by is Grouping.DATASET else 0, name


def _mean(group: _Group, probe: str | None) -> float | None:
    if probe is None or not group.sums[probe][1]:
        return None
    total, count = group.sums[probe]
    return total / count
