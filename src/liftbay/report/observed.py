"""What the report reads off a result or a verdict."""

from __future__ import annotations

from typing import Any

from liftbay.catalog.metrics import METRICS
from liftbay.domain.result import CaseResult, Outcome
from liftbay.domain.toolcall import ToolCall
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import Module
from liftbay.scoring.jmultiwoz_tc import Decision, decision_of
from liftbay.scoring.outcomes import outcome_of


def cluster_of(result: CaseResult) -> tuple[str, bool]:
    """What a case shares with others, a conversation or a source document, and whether it does."""
    for key in ("dialogueId", "sourceDocument"):
        if (shared := result.case.extra.get(key)) is not None:
            return f"{key}:{shared}", True
    return f"{result.case.dataset_type}/{result.case.id}", False


def measures_a_mock(verdict: Verdict) -> bool:
    """Whether a mock is what the verdict measures: then it is in no headline."""
    return isinstance(verdict.actual, dict) and bool(verdict.actual.get("mocked"))


def label_of(value: Any) -> str:
    """An expected or actual value as the label of a row or column."""
    if isinstance(value, dict):
        return " / ".join(label_of(item) for item in value.values())
    return "–" if value is None else str(value)


def failed_in_modules(result: CaseResult) -> list[Verdict]:
    """The verdicts on single modules that fall short, beside the one that decides the trial."""
    return [
        verdict
        for verdict in result.verdicts
        if outcome_of(verdict) is Outcome.FAILED
        and verdict.metric != result.main_metric
        and not measures_a_mock(verdict)
        and METRICS[verdict.metric].module is not Module.END_TO_END
    ]


def benchmark_decision(result: CaseResult) -> Decision | None:
    """What the calls come to by the rules of JMultiWOZ-TC; None where there is no answer."""
    if not result.episode.finished:
        return None
    expected = [ToolCall(tool.name, tool.arguments) for tool in result.case.expected_tools or ()]
    made = [
        ToolCall(call.name, call.arguments or {})
        for turn in result.episode.turns
        for call in (turn.trace and turn.trace.tool_calls) or ()
    ]
    return decision_of(expected, made)
