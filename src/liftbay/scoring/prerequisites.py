"""Keeps an upstream fault from polluting downstream figures.

A metric names its prerequisites as data; here is what each asks of the evidence. What the trace does not report
counts as met: the metric itself then says what it lacks.
"""

from __future__ import annotations

from collections.abc import Callable

from liftbay.domain.episode import Evidence, FaultKind
from liftbay.domain.metric import Metric, Prerequisite
from liftbay.domain.verdict import Verdict, erred, excluded
from liftbay.domain.vocabulary import Route

ROUTING_FAULT = "routing fault"
UNFINISHED = {
    FaultKind.TIMEOUT: "the trial did not finish: timeout",
    FaultKind.UNREACHABLE: "the trial did not finish: the agent could not be reached",
    FaultKind.PROTOCOL: "the trial did not finish: the answer could not be understood",
    FaultKind.CRASH: "the trial did not finish: the agent crashed",
    FaultKind.HARNESS: "the trial did not finish: a fault of the harness",
}


def unmet(metric: Metric, evidence: Evidence, *, enforce: bool = True) -> Verdict | None:
    """The verdict of a metric whose prerequisites do not hold, or None where they do.

    Without `enforce` only the trial must have finished: it shows what the figures would be without prerequisites.
    """
    for prerequisite in metric.prerequisites:
        if not enforce and prerequisite is not Prerequisite.FINISHED:
            continue
        if reason := _CHECKS[prerequisite](evidence):
            fault = evidence.episode.fault
            if prerequisite is Prerequisite.FINISHED and fault is not None and fault.kind is FaultKind.HARNESS:
                return erred(metric.id, reason)
            return excluded(metric.id, reason)
    return None


def _finished(evidence: Evidence) -> str | None:
    fault = evidence.episode.fault
    return None if fault is None else UNFINISHED[fault.kind]


def _knowledge_route(evidence: Evidence) -> str | None:
    planning = evidence.trace.planning if evidence.trace else None
    misrouted = (
        evidence.case.expected_route is Route.SKILL_MISS and planning is not None and planning.route is Route.SKILL_HIT
    )
    return ROUTING_FAULT if misrouted else None


def _retrieval_made(evidence: Evidence) -> str | None:
    none_made = evidence.trace is not None and evidence.trace.retrievals == []
    return "no retrieval was made" if none_made else None


def _call_made(evidence: Evidence) -> str | None:
    if evidence.case.expected_tools == []:
        return None  # rightly none: the metric is not applicable, and no fault lies upstream
    none_made = evidence.trace is not None and evidence.trace.tool_calls == []
    return "no tool was called" if none_made else None


def _expected_tool_called(evidence: Evidence) -> str | None:
    calls = evidence.trace.tool_calls if evidence.trace else None
    if calls is None or not evidence.case.expected_tools:
        return None
    expected = {tool.name for tool in evidence.case.expected_tools}
    return None if expected & {call.name for call in calls} else "the expected tool was not called"


_CHECKS: dict[Prerequisite, Callable[[Evidence], str | None]] = {
    Prerequisite.FINISHED: _finished,
    Prerequisite.KNOWLEDGE_ROUTE: _knowledge_route,
    Prerequisite.RETRIEVAL_MADE: _retrieval_made,
    Prerequisite.EXPECTED_TOOL_CALLED: _expected_tool_called,
    Prerequisite.CALL_MADE: _call_made,
}
