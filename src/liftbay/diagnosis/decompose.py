"""Decompose the change between two runs: over modules and scenes, so that the parts add up to the whole.

A trial that flips from pass to fail is laid to the modules that its head result is blamed on, one that flips back to
those that its base result was; both by the probabilities of the candidates. A trial that stays on its side changes
nothing. What nobody can be blamed for is "unexplained", a part like the others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from liftbay.diagnosis.asides import Asides
from liftbay.diagnosis.explanation import (
    Change,
    Course,
    Direction,
    Explanation,
    Flip,
    Part,
    ProbeChange,
    ScenePart,
    Shift,
)
from liftbay.diagnosis.first_fault import blame_of
from liftbay.diagnosis.flips import direction_of, flip_of, shares_of
from liftbay.diagnosis.groups import MOST_KEPT, Member, PassingInputs, grouped, member_of
from liftbay.diagnosis.measured_changes import MeasuredChanges
from liftbay.diagnosis.reliability import TrialsOfCases
from liftbay.diagnosis.resampling import ClusterSums, no_change
from liftbay.domain.blame import Blame, Culprit
from liftbay.domain.prices import Prices
from liftbay.domain.result import CaseResult, Outcome
from liftbay.scoring.paired import mcnemar_exact

_ALPHA = 0.05
_FEWEST_FLIPS = 6  # with fewer the exact test cannot reject anything, so nothing can be said of a balance either

# What the sums are of: a scene, a culprit, both; None is all. The culprit is wrapped, since None of it has a meaning.
_Key = tuple[str | None, tuple[Culprit | None] | None]
_WHOLE: _Key = (None, None)


class Decomposition:
    """Takes pairs of trials one at a time, those of one case one after another."""

    def __init__(
        self, probes: Iterable[str], prices: Prices | None = None, *, blame: Callable[[CaseResult], Blame] = blame_of
    ) -> None:
        """`blame` says who is at fault for a failed trial."""
        self._blame = blame
        self._sums: ClusterSums[_Key] = ClusterSums()
        self._counts: dict[_Key, dict[Direction, float]] = defaultdict(lambda: dict.fromkeys(Direction, 0.0))
        self._metrics: dict[_Key, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self._scenes: dict[str, list[int]] = {}  # pairs, passed in the base, passed in the head
        self._scene_names: dict[str, str] = {}
        self._deciding: set[str] = set()
        self._flips: list[Flip] = []
        self._lost: list[Member] = []
        self._passing = PassingInputs()
        self._shifts: Counter[tuple[Culprit | None, Culprit | None]] = Counter()
        self._trials = TrialsOfCases()
        self._measured = MeasuredChanges(probes, prices)
        self.asides = Asides()

    def add(self, base: CaseResult, head: CaseResult, cluster: str) -> None:
        """Compare a trial with itself in the other run; `cluster` is the conversation or document that it is of."""
        self._measured.add(base, head, cluster)
        if Outcome.UNDECIDED in (base.outcome, head.outcome):
            self.asides.pair(base, head)
            return
        case = head.case
        scene = self._scenes.setdefault(case.scene_code, [0, 0, 0])
        self._scene_names.setdefault(case.scene_code, case.scene_name)
        passed = [result.outcome is Outcome.PASSED for result in (base, head)]
        for position, count in enumerate((1, *passed)):
            scene[position] += count
        self._deciding |= {base.main_metric, head.main_metric}
        self._trials.add(case, passed[0], passed[1], cluster)
        if passed[1]:
            self._passing.add(head)
        direction = direction_of(base, head)
        if direction is None:
            self._sums.add(cluster, {})
            if not passed[0]:
                self._shifted(base, head)
            return
        failed = head if direction is Direction.LOST else base
        flip = flip_of(direction, failed, self._blame(failed))
        self._flips.append(flip)
        if direction is Direction.LOST and len(self._lost) < MOST_KEPT:
            self._lost.append(member_of(failed, flip.blame))
        self._sums.add(cluster, self._parts_of(flip))

    def _shifted(self, base: CaseResult, head: CaseResult) -> None:
        before, after = self._blame(base).culprit, self._blame(head).culprit
        if before is not after:
            self._shifts[before, after] += 1

    def _parts_of(self, flip: Flip) -> dict[_Key, float]:
        """What the flip adds to each sum."""
        sign = -1 if flip.direction is Direction.LOST else 1
        added: dict[_Key, float] = defaultdict(float)
        for scene in (None, flip.scene):
            added[scene, None] = float(sign)
            self._counts[scene, None][flip.direction] += 1
            for (culprit, metric), share in shares_of(flip.blame).items():
                key: _Key = (scene, (culprit,))
                added[key] += sign * share
                self._counts[key][flip.direction] += share
                if metric is not None:
                    self._metrics[key][metric] += share
        return dict(added)

    def explanation(self) -> Explanation:
        """All that was found."""
        changes = self._sums.changes()
        n, passed_before, passed_after = (sum(scene[at] for scene in self._scenes.values()) for at in range(3))
        whole = changes.get(_WHOLE) or (no_change(self._sums.clusters) if n else None)
        counts = self._counts[_WHOLE]
        lost, gained = int(counts[Direction.LOST]), int(counts[Direction.GAINED])
        p = mcnemar_exact(lost, gained)
        course = _course(whole, lost, gained, p)
        parts = self._parts(None, changes)
        improved, worsened = _against_each_other(parts)
        probes = self._measured.changes()
        return Explanation(
            n=n,
            clusters=self._sums.clusters,
            metric=next(iter(self._deciding)) if len(self._deciding) == 1 else None,
            base=passed_before / n if n else None,
            head=passed_after / n if n else None,
            change=whole,
            lost=lost,
            gained=gained,
            p=p,
            course=course,
            parts=parts,
            improved=improved,
            worsened=worsened,
            scenes=self._scene_parts(changes),
            flips=self._flips,
            groups=grouped(self._lost, self._passing),
            scene_names=self._scene_names,
            shifts=[Shift(base, head, count) for (base, head), count in self._shifts.most_common()],
            apart=self.asides.apart(),
            probes=probes,
            one_sided_probes=self._measured.one_sided(),
            latency=self._measured.latency(),
            equal_quality=_other_cost(whole, probes),
            reliability=self._trials.reliability(),
        )

    def _parts(self, scene: str | None, changes: dict[_Key, Change]) -> list[Part]:
        found = [
            Part(
                culprit=key[1][0],
                change=change,
                lost=self._counts[key][Direction.LOST],
                gained=self._counts[key][Direction.GAINED],
                metrics=dict(sorted(self._metrics[key].items(), key=lambda item: -item[1])),
            )
            for key, change in changes.items()
            if key[0] == scene and key[1] is not None
        ]
        return sorted(found, key=lambda part: (part.culprit is None, -abs(part.change.value), part.culprit or ""))

    def _scene_parts(self, changes: dict[_Key, Change]) -> list[ScenePart]:
        found = [
            ScenePart(
                scene=scene,
                name=self._scene_names[scene],
                n=n,
                base=before / n,
                head=after / n,
                change=changes.get((scene, None)) or no_change(self._sums.clusters),
                parts=self._parts(scene, changes),
            )
            for scene, (n, before, after) in self._scenes.items()
        ]
        return sorted(found, key=lambda part: (-abs(part.change.value), part.scene))


def _course(whole: Change | None, lost: int, gained: int, p: float) -> Course:
    """Two tests must agree before a change is called one: each can be fooled where the other is not."""
    if whole is None:
        return Course.CANNOT_TELL
    if not lost and not gained:
        return Course.SAME
    if whole.clear and p < _ALPHA:
        return Course.WORSE if whole.value < 0 else Course.BETTER
    balanced = not whole.clear and p >= _ALPHA and lost > 0 and gained > 0
    return Course.OSCILLATES if balanced and lost + gained >= _FEWEST_FLIPS else Course.CANNOT_TELL


def _other_cost(whole: Change | None, probes: list[ProbeChange]) -> list[str]:
    """The probes that tell the runs apart where quality does not."""
    if whole is None or whole.clear:
        return []
    return [one.probe for one in probes if one.change.clear]


def _against_each_other(parts: list[Part]) -> tuple[list[Culprit], list[Culprit]]:
    """The modules that became better and those that became worse, where there are both."""
    clear = [(part.culprit, part.change.value) for part in parts if part.culprit is not None and part.change.clear]
    improved = [culprit for culprit, value in clear if value > 0]
    worsened = [culprit for culprit, value in clear if value < 0]
    return (improved, worsened) if improved and worsened else ([], [])
