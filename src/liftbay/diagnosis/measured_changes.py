"""Which module became slower or dearer, on the same trials of two runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from liftbay.catalog.probes import PROBES
from liftbay.diagnosis.explanation import Change, LatencyChange, LatencyPart, ProbeChange
from liftbay.diagnosis.resampling import mean_change
from liftbay.domain.prices import Prices
from liftbay.domain.result import CaseResult
from liftbay.domain.vocabulary import Dimension
from liftbay.scoring.probes import probe_reader

_WHOLE = "response_latency"
# What happens one after another within a turn; what they leave of the whole is the model's answer and the way there.
_WITHIN = ("intent_latency", "planning_latency", "memory_injection_latency", "retrieval_latency", "tool_call_latency")


class _Sums:
    """Of one figure: sums of both runs, and of the differences by cluster."""

    def __init__(self) -> None:
        self.base = self.head = 0.0
        self._difference: dict[str, float] = defaultdict(float)
        self._number: Counter[str] = Counter()

    def add(self, base: float, head: float, cluster: str) -> None:
        self.base += base
        self.head += head
        self._difference[cluster] += head - base
        self._number[cluster] += 1

    def without(self, parts: Iterable[_Sums]) -> _Sums:
        """What the parts, which have the same pairs, leave of this."""
        rest = _Sums()
        rest._number = self._number
        rest._difference.update(self._difference)
        for part in parts:
            for cluster, difference in part._difference.items():
                rest._difference[cluster] -= difference
        return rest

    def change(self) -> tuple[Change, int] | None:
        return mean_change((self._difference[cluster], number) for cluster, number in self._number.items())


class MeasuredChanges:
    """Takes pairs of trials, one at a time; a value that one side does not report is no pair."""

    def __init__(self, probes: Iterable[str], prices: Prices | None) -> None:
        """`prices` are those of both runs: tokens are to make the difference, not the table."""
        self._readers = {probe: probe_reader(probe, prices) for probe in probes if probe in PROBES}
        self._sums: dict[str, _Sums] = defaultdict(_Sums)
        self._reported: tuple[set[str], set[str]] = (set(), set())
        self._whole = _Sums()
        self._parts: dict[str, _Sums] = defaultdict(_Sums)

    def add(self, base: CaseResult, head: CaseResult, cluster: str) -> None:
        """Compare two trials of a case."""
        found = [self._read(result) for result in (base, head)]
        for reported, values in zip(self._reported, found, strict=True):
            reported.update(values)
        for probe in found[0].keys() & found[1].keys():
            before, after = (sum(values[probe]) / len(values[probe]) for values in found)
            self._sums[probe].add(before, after, cluster)
        if all(_WHOLE in values for values in found) and base.episode.finished and head.episode.finished:
            before, after = (sum(values[_WHOLE]) for values in found)
            self._whole.add(before, after, cluster)
            for probe in _WITHIN:
                # A part that did not run took no time; whether it is reported at all, the whole run shows.
                spent = [float(sum(values.get(probe, ()))) for values in found]
                self._parts[probe].add(spent[0], spent[1], cluster)

    def _read(self, result: CaseResult) -> dict[str, tuple[float, ...]]:
        mode = result.case.eval_mode
        values = {probe: tuple(read(result.episode, mode)) for probe, read in self._readers.items()}
        return {probe: found for probe, found in values.items() if found}

    def changes(self) -> list[ProbeChange]:
        """Every probe that both runs report, costs first."""
        rows = []
        for probe, row in PROBES.items():
            if probe in self._sums and (found := self._sums[probe].change()):
                change, n = found
                sums = self._sums[probe]
                rows.append((row.dimension, ProbeChange(probe, n, sums.base / n, sums.head / n, change)))
        return [change for _, change in sorted(rows, key=lambda one: one[0] is not Dimension.COST)]

    def one_sided(self) -> list[str]:
        """Probes that only one of the runs reports."""
        base, head = self._reported
        return [probe for probe in PROBES if (probe in base) != (probe in head)]

    def latency(self) -> LatencyChange | None:
        """The response time and its parts; None where too few trials report it in both runs."""
        if (found := self._whole.change()) is None:
            return None
        change, n = found
        both = self._reported[0] & self._reported[1]
        known = {probe: self._parts[probe] for probe in _WITHIN if probe in both}
        if not known:
            return None
        rest = self._whole.without(known.values())
        parts = [
            LatencyPart(probe, found[0])
            for probe, sums in (*known.items(), (None, rest))
            if (found := sums.change()) is not None
        ]
        parts.sort(key=lambda part: (part.probe is None, -abs(part.change.value)))
        return LatencyChange(n, self._whole.base / n, self._whole.head / n, change, parts)
