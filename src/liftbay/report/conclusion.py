"""What to fix first: a table of rules from the metrics to what a developer can change.

A metric stands out where even the upper end of its interval stays below the bar; where only the rate does, the run
cannot tell. Findings are grouped by what is to be changed and ordered by how many points of the pass rate go
together with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from liftbay.diagnosis.remedies import FIXED_BY
from liftbay.domain.remedy import Fix
from liftbay.report.association import Association
from liftbay.report.finding import Conclusion, Finding
from liftbay.report.report import MetricReport

BAR = 0.9
LEAST_DECIDED = 10


def conclude_from(
    metrics: Mapping[str, MetricReport], associated: Callable[[str], Association], *, failed: int, explained: int
) -> Conclusion:
    """The conclusion from the metrics of a run."""
    standing_out: list[Finding] = []
    doubtful: list[Finding] = []
    unmeasured: list[str] = []
    healthy: list[str] = []
    for id_, metric in metrics.items():
        if id_ not in FIXED_BY:
            continue
        rate = metric.conditional
        if rate.value is None or rate.high is None or rate.n < LEAST_DECIDED:
            unmeasured.append(id_)
        elif rate.value >= BAR:
            healthy.append(id_)
        else:
            (standing_out if rate.high < BAR else doubtful).append(_finding(id_, metric, associated(id_)))
    return Conclusion(
        findings=_grouped(standing_out),
        doubtful=sorted(doubtful, key=_weight, reverse=True),
        unmeasured=unmeasured,
        healthy=healthy,
        failed=failed,
        unexplained=failed - explained,
    )


def _finding(id_: str, metric: MetricReport, association: Association) -> Finding:
    rate = metric.conditional
    assert rate.value is not None
    return Finding(FIXED_BY[id_], id_, [], rate, round(rate.n * (1 - rate.value), 6), _most_often(metric), association)


def _most_often(metric: MetricReport) -> str | None:
    """The pair of labels that was mixed up most often, or else the most frequent reason."""
    mixed_up = [
        (count, f"{expected} → {actual}")
        for expected, row in (metric.confusion or {}).items()
        for actual, count in row.items()
        if expected != actual
    ]
    if mixed_up:
        return max(mixed_up)[1]
    return next(iter(metric.failures), None)


def _weight(finding: Finding) -> tuple[float, float]:
    return finding.association.points or 0.0, 1 - (finding.rate.value or 0.0)


def _grouped(findings: list[Finding]) -> list[Finding]:
    """One finding for each thing to fix.

    A wrong route behind a wrong intent is not the planner's: it goes with the Skills' texts.
    """
    by_fix: dict[Fix, list[Finding]] = {}
    for finding in sorted(findings, key=_weight, reverse=True):
        by_fix.setdefault(finding.fix, []).append(finding)
    if Fix.SKILL_TEXT in by_fix:
        routes = [one for one in by_fix.get(Fix.PLANNING_PROMPT, []) if one.metric == "routing_accuracy"]
        by_fix[Fix.SKILL_TEXT] += routes
        by_fix[Fix.PLANNING_PROMPT] = [one for one in by_fix.get(Fix.PLANNING_PROMPT, []) if one not in routes]
    groups = [
        msgspec.structs.replace(group[0], also=[one.metric for one in group[1:]]) for group in by_fix.values() if group
    ]
    return sorted(groups, key=_weight, reverse=True)
