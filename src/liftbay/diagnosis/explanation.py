"""Why two runs differ, as one value: parts that add up, flipped cases, and what became slower or dearer.

Changes of the pass rate are shares of the paired trials (0.01 is a point); those of a probe are in its unit.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from liftbay.diagnosis.groups import Group
from liftbay.domain.blame import Blame, Culprit
from liftbay.domain.result import Outcome
from liftbay.domain.vocabulary import DatasetType


class Change(msgspec.Struct, frozen=True, rename="camel"):
    """A paired change, head minus base, with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low > 0 or self.high < 0


class Direction(StrEnum):
    """Which way a trial flipped."""

    LOST = "lost"  # passed in the base, failed in the head
    GAINED = "gained"  # failed in the base, passed in the head


class Course(StrEnum):
    """What the pass rate as a whole did."""

    WORSE = "worse"
    BETTER = "better"
    OSCILLATES = "oscillates"  # trials flip both ways about as often, and no drift can be told
    CANNOT_TELL = "cannot_tell"
    SAME = "same"  # not one trial flipped


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """What of the change is laid to one module; `lost` and `gained` are trials, shared out by probability."""

    culprit: Culprit | None  # None: unexplained
    change: Change
    lost: float
    gained: float
    metrics: dict[str, float] = {}  # flips by the metric that says so, the most first


class ScenePart(msgspec.Struct, frozen=True, rename="camel"):
    """What of the change lies in one scene; its parts add up to its own change, all in points of the whole."""

    scene: str
    name: str
    n: int  # paired trials
    base: float  # pass rates of the scene itself
    head: float
    change: Change
    parts: list[Part]


class Flip(msgspec.Struct, frozen=True, rename="camel"):
    """A trial that changed sides, and whose fault the failed one of the two is."""

    dataset_type: DatasetType
    case_id: str
    trial: int
    scene: str
    direction: Direction
    user_input: str
    blame: Blame


class Shift(msgspec.Struct, frozen=True, rename="camel"):
    """Trials that failed in both runs, but through another module; they change no pass rate."""

    base: Culprit | None
    head: Culprit | None
    trials: int


class TrialName(msgspec.Struct, frozen=True, rename="camel"):
    """Which trial."""

    dataset_type: DatasetType
    case_id: str
    trial: int


class Aside(msgspec.Struct, frozen=True, rename="camel"):
    """Trials of one kind that are not in the paired change, with the first of them."""

    trials: int = 0
    examples: list[TrialName] = []


class Apart(msgspec.Struct, frozen=True, rename="camel"):
    """What is not in the paired change, and why."""

    became_undecided: Aside  # decided in the base only
    became_decided: Aside  # decided in the head only
    undecided: Aside  # in both
    only_base: Aside
    only_head: Aside
    changed: Aside  # the case itself differs, so its flip would say nothing about the agent
    lost_to_undecided: dict[Outcome, int]  # what those that became undecided were in the base


class ProbeChange(msgspec.Struct, frozen=True, rename="camel"):
    """A cost or performance probe on the paired trials that report it in both runs: means a trial."""

    probe: str
    n: int
    base: float
    head: float
    change: Change


class LatencyPart(msgspec.Struct, frozen=True, rename="camel"):
    """What of the change in response time a probe accounts for; None: what no probe measures."""

    probe: str | None
    change: Change


class LatencyChange(msgspec.Struct, frozen=True, rename="camel"):
    """The response time of a whole trial in milliseconds, and its parts, which add up."""

    n: int
    base: float
    head: float
    change: Change
    parts: list[LatencyPart]


class Reliability(msgspec.Struct, frozen=True, rename="camel"):
    """pass^k of both runs, k = 1 first, over the same trials; the change is that of the last k."""

    cases: int
    base: list[float]
    head: list[float]
    change: Change


class Explanation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Why the pass rate of `head` is not that of `base`; rates are None where nothing is paired."""

    n: int  # paired trials that both runs decided
    clusters: int
    metric: str | None  # the metric that decides all of them, if one does
    base: float | None
    head: float | None
    change: Change | None
    lost: int
    gained: int
    p: float  # exact McNemar; takes trials as independent
    course: Course
    parts: list[Part]  # the largest first, the unexplained last
    improved: list[Culprit]  # modules whose part is clear of zero, where others are so the other way
    worsened: list[Culprit]
    scenes: list[ScenePart]
    flips: list[Flip]
    groups: list[Group]  # what the lost trials have in common, the largest first
    scene_names: dict[str, str]
    shifts: list[Shift]
    apart: Apart
    probes: list[ProbeChange]
    one_sided_probes: list[str]  # that only one of the runs reports
    latency: LatencyChange | None
    equal_quality: list[str]  # probes clear of zero while the pass rate is not
    reliability: Reliability | None  # None with one trial a case


class RunName(msgspec.Struct, frozen=True, rename="camel"):
    """Which run."""

    id: str
    agent: str
    version: str | None


class Explained(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The explanation with what it is of."""

    base: RunName
    head: RunName
    scope: str
    notes: list[str]  # what else differs between the runs, and so may be the cause
    currency: str | None
    explanation: Explanation
