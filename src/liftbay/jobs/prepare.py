"""From a request to what a run needs: plan, cases, record. Nothing is asked of the agent yet."""

from __future__ import annotations

import datetime
import itertools
import math
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

import liftbay
from liftbay.catalog.resolve import EvaluationPlan, resolve, run_plan
from liftbay.datasets.cases import Datasets, load_cases
from liftbay.datasets.project import DATASETS, Project, find_project
from liftbay.datasets.sources import installed, of_package
from liftbay.domain.case import Case, MockData
from liftbay.domain.plan import RunPlan
from liftbay.domain.result import DatasetVersion, RunRecord, RunRequest, RunState
from liftbay.domain.vocabulary import DatasetType
from liftbay.errors import InputError
from liftbay.jobs.execute import now, refuse_if_worked_on
from liftbay.language import tr
from liftbay.ports import Agent, RecordedAgent


class Prepared(msgspec.Struct, frozen=True):
    """A run that can start; `cases` reads them anew each time."""

    record: RunRecord
    selection: EvaluationPlan
    plan: RunPlan
    counts: Mapping[DatasetType, int]  # cases that will run, by type
    missing: list[DatasetType]  # types of the scope without a case
    warnings: int
    source: Datasets | list[Case]

    @property
    def mock_data(self) -> Mapping[str, MockData]:
        """The mock data of the datasets, by id."""
        return self.source.mock_data if isinstance(self.source, Datasets) else {}

    def cases(self) -> Iterator[Case]:
        """The cases in the order of the scope's dataset types, streamed."""
        for type_ in self.plan.metrics:
            yield from _selected(self.source, type_, self.record.request)


def prepare(
    request: RunRequest,
    agent: Agent,
    *,
    project: Project | None = None,
    skip_invalid: bool = False,
    resumed: RunRecord | None = None,
) -> Prepared:
    """Find, check and count the cases of a request.

    Raises `InputError` for an unknown scope, a budget of money without prices, bad datasets, a scope without a
    single case, and for datasets that are not those of the run that is `resumed`.
    """
    _refuse_nonsense(request)
    if request.confirms is not None:
        raise InputError(
            "this run replays failed trials of the run {run}",
            place=resumed.id if resumed is not None else None,
            remedy="go on with it by liftbay diagnose {run} --confirm",
            run=request.confirms.run,
        )
    project = project or find_project(Path.cwd())
    if resumed is None:
        request = msgspec.structs.replace(request, prices=project.prices)
    if request.max_cost is not None and request.prices is None:
        raise InputError(
            "a budget of money needs prices",
            place="--max-cost",
            remedy="give prices.input_per_million and prices.output_per_million in liftbay.toml",
        )
    selection = resolve(request.scope, request.dataset_types)
    if not request.dataset and not (project.root / DATASETS).exists() and (folder := of_package(request.agent)):
        name = request.agent if installed(request.agent) else str(folder)  # a folder may have the same name
        request = msgspec.structs.replace(request, dataset=[name])
    source: Datasets | list[Case]
    if isinstance(agent, RecordedAgent) and not request.dataset and (own := agent.cases(selection.datasets[0])):
        source, versions, warnings = own, [], 0
        request = msgspec.structs.replace(request, trials=max(request.trials, agent.trials))
    else:
        source = load_cases(request.dataset, skip_invalid=skip_invalid, project=project)
        versions, warnings = [one for one in source.versions if one.type in selection.datasets], len(source.warnings)
    counts = {type_: _count(source, type_, request) for type_ in selection.datasets}
    missing = [type_ for type_, count in counts.items() if not count]
    if len(missing) == len(counts):
        raise InputError(
            "the scope {scope} has no case to run: it needs {types}"
            if request.eval_mode is None
            else "the scope {scope} has no case of the mode {mode} to run: it needs {types}",
            place=", ".join(request.dataset) or "datasets/",
            remedy="name datasets with --dataset, or put them into the project's datasets folder",
            scope=request.scope,
            types=", ".join(counts),
            mode=request.eval_mode,
        )
    if resumed is not None:
        refuse_if_worked_on(resumed)
        _refuse_other_datasets(resumed, versions)
    record = resumed or RunRecord(
        id=_run_id(),
        request=request,
        state=RunState.SUBMITTED,
        submitted=now(),
        agent_name=agent.name,
        agent_version=agent.version,
        datasets=versions,
        planned=sum(counts.values()) * request.trials,
        liftbay=liftbay.__version__,
    )
    return Prepared(record, selection, run_plan(selection), counts, missing, warnings, source)


def with_version(record: RunRecord, agent: Agent, file: str | None = None) -> RunRecord:
    """The record with the version of the agent as it was started, and the SHA-256 of its file.

    On a resume, others than before are worth a warning.
    """
    if record.started is None:
        return msgspec.structs.replace(record, agent_version=agent.version, agent_file=file)
    warnings = dict.fromkeys(record.warnings)
    if record.agent_version != agent.version:
        before, after = record.agent_version or "-", agent.version or "-"
        said = tr("the agent's version changed during the run: {before} → {after}", before=before, after=after)
        warnings.pop(said, None)
        warnings[said] = None
    if record.agent_file != file:
        warnings[tr("the agent file changed during the run")] = None
    return msgspec.structs.replace(record, warnings=list(warnings))


def _selected(source: Datasets | list[Case], type_: DatasetType, request: RunRequest) -> Iterator[Case]:
    cases = source.cases(type_) if isinstance(source, Datasets) else (c for c in source if c.dataset_type is type_)
    wanted = (case for case in cases if request.eval_mode in (None, case.eval_mode))
    return itertools.islice(wanted, request.limit)


def _count(source: Datasets | list[Case], type_: DatasetType, request: RunRequest) -> int:
    """How many cases will run; they are read for it only where their mode matters."""
    if isinstance(source, Datasets) and request.eval_mode is None:
        found = sum(version.cases for version in source.versions if version.type is type_)
        return found if request.limit is None else min(found, request.limit)
    return sum(1 for _ in _selected(source, type_, request))


_LEAST: dict[str, float] = {
    "limit": 1,
    "trials": 1,
    "concurrency": 1,
    "timeout": 0.001,
    "retries": 0,
    "retry_wait": 0,
    "turn_settle": 0,
    "requests_per_minute": 0.001,
    "tokens_per_minute": 0.001,
    "max_cost": 0,
    "max_tokens": 1,
}


def _refuse_nonsense(request: RunRequest) -> None:
    """Options from Python come as they are; those of the command line are checked before."""
    for name, least in _LEAST.items():
        value = getattr(request, name)
        if value is not None and not math.isfinite(value):
            raise InputError("{name} is not a number", place=name, remedy="give a number", name=name)
        if value is not None and value < least:
            raise InputError("{name} is at least {least}, not {value}", place=name, name=name, least=least, value=value)


def _refuse_other_datasets(resumed: RunRecord, versions: list[DatasetVersion]) -> None:
    before, after = ({one.type: one.version for one in found} for found in (resumed.datasets, versions))
    changed = [type_ for type_ in DatasetType if before.get(type_) != after.get(type_)]
    if changed:
        raise InputError(
            "the datasets have changed since the run began: {types}",
            place=resumed.id,
            remedy="bring the old datasets back, or start a new run",
            types=", ".join(changed),
        )


def _run_id() -> str:
    """Sorts by time; the random end keeps runs of one second apart."""
    return f"{datetime.datetime.now(datetime.UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
