"""Reports of results that a test writes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from places import a_run

from liftbay.catalog.resolve import resolve, run_plan
from liftbay.domain.case import Case
from liftbay.domain.episode import Episode, Fault, FaultKind, Turn
from liftbay.domain.result import CaseResult, DatasetVersion, Outcome, RunRequest
from liftbay.domain.trace import EvalTrace
from liftbay.domain.vocabulary import DatasetType
from liftbay.engine.run import conclude
from liftbay.report.build import ReportBuilder
from liftbay.report.report import Report


def a_case(id_: str, dataset_type: DatasetType = DatasetType.TOOL_CALL, **fields: Any) -> Case:
    """A case with its expectations."""
    return Case(id=id_, dataset_type=dataset_type, **{"user_input": "?", **fields})


def result_of(
    case: Case,
    trace: EvalTrace | None = None,
    *,
    scope: str | None = None,
    trial: int = 1,
    answer: str | None = "answer",
    fault: FaultKind | None = None,
    **recorded: Any,
) -> CaseResult:
    """What the engine makes of one trial."""
    turn = Turn(1, case.rounds[-1].user_input, None if fault else answer, trace, None if fault else 100.0)
    episode = Episode("s", [turn], fault=Fault(fault, "why", 1) if fault else None, recorded=recorded)
    return conclude(run_plan(resolve(scope or case.dataset_type.value)), case, trial, episode)


def decided(case_id: str, outcomes: Sequence[bool | None], **fields: Any) -> list[CaseResult]:
    """Trials of a case of BASIC_FUNCTION with recorded rewards; None is a trial that did not finish."""
    case = a_case(case_id, DatasetType.BASIC_FUNCTION, **fields)
    return [
        result_of(
            case, trial=number, fault=FaultKind.TIMEOUT if passed is None else None, reward=float(passed or False)
        )
        for number, passed in enumerate(outcomes, start=1)
    ]


def report_of(scope: str, results: Iterable[CaseResult], *, trials: int = 1, sources: Sequence[str] = ()) -> Report:
    """The report of a finished run, read a second time where that is needed."""
    kept = list(results)
    plan = run_plan(resolve(scope))
    builder = ReportBuilder(plan)
    for result in kept:
        builder.add(result)
    if builder.needs_second_pass:
        builder = ReportBuilder(plan, frozenset(builder.reported))
        for result in kept:
            builder.add(result)
    versions = [DatasetVersion(DatasetType.TOOL_CALL, "0" * 64, len(kept), list(sources))] if sources else []
    run = a_run(request=RunRequest(scope=scope, agent="python:a:b", trials=trials), agent_name="a:b", datasets=versions)
    missing = [type_ for type_ in plan.metrics if type_ not in builder.dataset_types]
    return builder.report(run, missing_types=missing)


def with_outcome(result: CaseResult, outcome: Outcome) -> CaseResult:
    """The result with another outcome."""
    return msgspec.structs.replace(result, outcome=outcome)
