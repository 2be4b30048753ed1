"""Why two stored runs differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum

import msgspec

from liftbay.catalog.resolve import resolve, run_plan
from liftbay.diagnosis.decompose import Decomposition
from liftbay.diagnosis.explanation import Explained, RunName
from liftbay.domain.plan import RunPlan
from liftbay.domain.result import CaseResult, RunRecord, RunState
from liftbay.errors import InputError
from liftbay.jobs.pairing import paired
from liftbay.language import tr
from liftbay.ports import RunStore
from liftbay.report.build import ReportBuilder
from liftbay.scoring.reported_parts import reported_parts


class Form(StrEnum):
    """The forms of an explanation."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


async def explained(store: RunStore, base: RunRecord, head: RunRecord) -> Explained:
    """Decompose the change from `base` to `head`; the results stream by, only flips are held.

    Raises `InputError` where the runs have different scopes: then other metrics decide the same cases.
    """
    if base.request.scope != head.request.scope:
        raise InputError(
            "the runs are of two scopes, {base} and {head}: their pass rates mean different things",
            place=head.id,
            remedy="compare runs of one scope",
            base=base.request.scope,
            head=head.request.scope,
        )
    plan = run_plan(resolve(head.request.scope))
    prices = head.request.prices or base.request.prices
    found = Decomposition(plan.probes, prices)
    of_base, of_head = await _as_reported(store, base, plan), await _as_reported(store, head, plan)
    async for pair in paired(store, base.id, head.id):
        if pair.known.case.dataset_type not in plan.metrics:
            continue
        if pair.base is None:
            found.asides.only_head(pair.known)
        elif pair.head is None:
            found.asides.only_base(pair.known)
        elif pair.changed:
            found.asides.changed(pair.known)
        else:
            found.add(of_base(pair.base), of_head(pair.head), pair.cluster)
    return Explained(
        base=_name(base),
        head=_name(head),
        scope=head.request.scope,
        notes=list(_notes(base, head)),
        currency=prices.currency if prices else None,
        explanation=found.explanation(),
    )


def rendered(what: Explained, form: Form) -> str:
    """The explanation in a form."""
    if form is Form.JSON:
        return msgspec.json.format(msgspec.json.encode(what), indent=2).decode() + "\n"
    if form is Form.MARKDOWN:
        from liftbay.report.explain_markdown import explain_markdown  # noqa: PLC0415

        return explain_markdown(what)
    from liftbay.report.explain_text import explain_text  # noqa: PLC0415

    return explain_text(what) + "\n"


async def _as_reported(store: RunStore, run: RunRecord, plan: RunPlan) -> Callable[[CaseResult], CaseResult]:
    """What gives a result the outcome that the run's report counts: a lost part of a trace is an error there."""
    reported: set[str] = set()
    async for result in store.results(run.id):
        for turn in result.episode.turns:
            if turn.trace is not None:
                reported |= reported_parts(turn.trace)
    return ReportBuilder(plan, frozenset(reported), prices=run.request.prices).as_counted


def _name(run: RunRecord) -> RunName:
    return RunName(run.id, run.agent_name or run.request.agent, run.agent_version)


def _notes(base: RunRecord, head: RunRecord) -> Iterator[str]:
    """What differs beside the agent."""
    for run in (base, head):
        if run.state is not RunState.FINISHED:
            yield tr("{run} is not finished: it is {state}", run=run.id, state=run.state.value)
    if _judged_by(base) != _judged_by(head):
        yield tr("the runs were not judged in the same way: a flip may be the judge's")
    if base.request.eval_mode != head.request.eval_mode:
        yield tr("the runs have different evaluation modes")
    if base.request.prerequisites != head.request.prerequisites:
        yield tr("only one of the runs leaves out what an upstream fault spoils (prerequisites)")
    if base.request.trials != head.request.trials:
        yield tr("the runs have {base} and {head} trials a case", base=base.request.trials, head=head.request.trials)


def _judged_by(run: RunRecord) -> object:
    judge = run.request.judge
    return judge and (judge.model, judge.language, judge.votes, judge.parameters)
