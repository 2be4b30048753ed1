"""What the figures say should be fixed."""

from __future__ import annotations

import msgspec

from liftbay.domain.remedy import Fix
from liftbay.report.association import Association
from liftbay.scoring.rates import Rate


class Finding(msgspec.Struct, frozen=True, rename="camel"):
    """One thing to fix, with the metric that says so most clearly."""

    fix: Fix
    metric: str
    also: list[str]  # metrics that point at the same
    rate: Rate
    failed: float  # of `rate.n`
    most_often: str | None  # what was wrong most often
    association: Association


class Conclusion(msgspec.Struct, frozen=True, rename="camel"):
    """What the figures say should be fixed, and what they cannot say."""

    findings: list[Finding]
    doubtful: list[Finding]  # below the bar, but the interval reaches it
    unmeasured: list[str]  # metrics with too few decided cases to say anything
    healthy: list[str]
    failed: int  # trials
    unexplained: int  # failed trials in which no metric that points at a fix failed
