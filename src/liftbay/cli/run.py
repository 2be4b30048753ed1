"""`liftbay run` and `liftbay rescope`."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from liftbay.cli.judge_options import (
    JudgeCacheUse,
    JudgeConcurrency,
    JudgeLanguage,
    JudgeModel,
    JudgeSpec,
    JudgeVotes,
    settings_of,
)
from liftbay.cli.options import AsJson, RunId, StoreUrl
from liftbay.language import tr

if TYPE_CHECKING:
    from liftbay.domain.result import RunRecord, RunRequest
    from liftbay.jobs.prepare import Prepared
    from liftbay.ports import RunStore
    from liftbay.report.report import Report
    from liftbay.stores.answers import Store

    Ended = tuple[Report | str, int]  # what to show, and how many answers of the judge were not in the record


def run(
    ctx: typer.Context,
    scope: Annotated[
        str | None, typer.Option(help=tr("What the run covers; liftbay catalog scopes lists them."), metavar="SCOPE")
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            help=tr("The agent: an agent file, python:module:callable or replay:FILE. Default: the project's.")
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(help=tr("File or folder of cases, or jmultiwoz:PATH; may be repeated. Default: the project's.")),
    ] = None,
    dataset_type: Annotated[
        list[str] | None, typer.Option(help=tr("Only this dataset type of the scope; may be repeated."))
    ] = None,
    eval_mode: Annotated[str | None, typer.Option(help=tr("Only cases of this mode: E2E_MOCK or E2E_REAL."))] = None,
    limit: Annotated[int | None, typer.Option(help=tr("Only the first N cases of each dataset type."), min=1)] = None,
    trials: Annotated[int, typer.Option(help=tr("Trials of each case."), min=1)] = 1,
    concurrency: Annotated[int, typer.Option(help=tr("Trials on their way at once."), min=1)] = 3,
    timeout: Annotated[float, typer.Option(help=tr("Seconds for one turn."), min=0.001)] = 120.0,
    retries: Annotated[int, typer.Option(help=tr("Retries after an execution fault."), min=0)] = 2,
    turn_settle: Annotated[
        float, typer.Option(help=tr("Seconds to wait after a turn of a conversation, so that it is persisted."), min=0)
    ] = 2.0,
    requests_per_minute: Annotated[float | None, typer.Option(help=tr("Most requests a minute."), min=0.001)] = None,
    tokens_per_minute: Annotated[
        float | None, typer.Option(help=tr("Most tokens a minute, as the agent's traces report them."), min=0.001)
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(help=tr("Stop when so many tokens are spent."), min=1)] = None,
    max_cost: Annotated[
        float | None, typer.Option(help=tr("Stop when so much money is spent, by the prices of liftbay.toml."), min=0)
    ] = None,
    prerequisites: Annotated[
        bool,
        typer.Option(
            help=tr("Exclude a metric where an upstream fault makes it meaningless; --no-prerequisites shows the rest.")
        ),
    ] = True,
    judge: JudgeSpec = None,
    judge_model: JudgeModel = None,
    judge_votes: JudgeVotes = None,
    judge_language: JudgeLanguage = None,
    judge_concurrency: JudgeConcurrency = None,
    judge_cache: JudgeCacheUse = None,
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help=tr("Run the good cases of files that have bad ones."))
    ] = False,
    store: StoreUrl = None,
    resume: Annotated[
        str | None,
        typer.Option(
            help=tr("Go on with a run that was stopped (`last`: the newest); nothing is run twice."), metavar="RUN"
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=tr("Say what would run, and ask nobody."))] = False,
    json_: AsJson = False,
) -> None:
    """Run a scope against an agent."""
    from liftbay.cli.event_loop import run_to_end  # noqa: PLC0415
    from liftbay.cli.run_request import dataset_types, eval_mode_of, request_of  # noqa: PLC0415
    from liftbay.datasets.sources import lasting  # noqa: PLC0415
    from liftbay.errors import InputError  # noqa: PLC0415

    if resume is None and scope is None:
        raise InputError("there is no scope", place="--scope", remedy="name one; liftbay catalog scopes lists them")
    choices: dict[str, Any] = {
        "dataset": [lasting(path) for path in dataset or []],
        "dataset_types": dataset_types(dataset_type or []),
        "eval_mode": eval_mode_of(eval_mode),
        "limit": limit,
        "trials": trials,
        "concurrency": concurrency,
        "timeout": timeout,
        "retries": retries,
        "turn_settle": turn_settle,
        "prerequisites": prerequisites,
        "requests_per_minute": requests_per_minute,
        "tokens_per_minute": tokens_per_minute,
        "max_tokens": max_tokens,
        "max_cost": max_cost,
    }

    async def work() -> Ended:
        # What an agent prints must not stand between the lines of the report.
        async with contextlib.AsyncExitStack() as opened:
            opened.enter_context(contextlib.redirect_stdout(sys.stderr))
            if resume is None:
                choices["judge"] = settings_of(
                    judge, judge_model, judge_votes, judge_language, judge_concurrency, judge_cache
                )
                request = request_of(scope or "", agent, choices)
                return await _work(opened, request, None, store_url=store, skip_invalid=skip_invalid, dry_run=dry_run)
            kept = await _kept(await _opened_store(opened, store, create=False), resume)
            resumed = _with_changes(kept, _given(ctx), choices)
            return await _work(
                opened, resumed.request, resumed, store_url=store, skip_invalid=skip_invalid, dry_run=dry_run
            )

    _show(*run_to_end(work), json_)


def rescope(
    run_id: RunId,
    scope: Annotated[str, typer.Argument(help=tr("The other scope."), metavar="SCOPE")],
    judge: JudgeSpec = None,
    judge_model: JudgeModel = None,
    judge_votes: JudgeVotes = None,
    judge_language: JudgeLanguage = None,
    judge_concurrency: JudgeConcurrency = None,
    judge_cache: JudgeCacheUse = None,
    store: StoreUrl = None,
    json_: AsJson = False,
) -> None:
    """Decide a finished run anew under another scope; a judge that is named decides what is not judged yet."""
    from liftbay.cli.event_loop import run_to_end  # noqa: PLC0415

    async def work() -> Ended:
        from liftbay.jobs.rejudge import rejudged  # noqa: PLC0415
        from liftbay.jobs.reporting import rescoped  # noqa: PLC0415
        from liftbay.wiring.judges import judging  # noqa: PLC0415

        settings = settings_of(
            judge, judge_model, judge_votes, judge_language, judge_concurrency, judge_cache, of_project=False
        )
        async with contextlib.AsyncExitStack() as opened:
            kept = await _opened_store(opened, store, create=False)
            record = await _kept(kept, run_id)
            asked = await opened.enter_async_context(judging(settings, kept))
            if asked is None:
                return await rescoped(kept, record, scope), 0
            return await rejudged(kept, record, scope, asked), asked.use.unrecorded

    _show(*run_to_end(work), json_)


async def _opened_store(opened: contextlib.AsyncExitStack, url: str | None, *, create: bool) -> Store:
    """The store, closed with `opened`."""
    from liftbay.wiring.stores import store_of  # noqa: PLC0415

    store = await store_of(url, create=create)
    opened.push_async_callback(store.close)
    return store


# What may change when a run goes on: how fast it runs and what it may spend, not what it measures.
_CHANGEABLE = {
    "concurrency",
    "timeout",
    "retries",
    "requests_per_minute",
    "tokens_per_minute",
    "max_tokens",
    "max_cost",
}
_OF_THIS_START = {"resume", "store", "dry_run", "json_", "skip_invalid"}


def _given(ctx: typer.Context) -> set[str]:
    """The names of the options that were given, not left at their defaults."""
    return {name for name in ctx.params if (source := ctx.get_parameter_source(name)) and source.name == "COMMANDLINE"}


def _with_changes(record: RunRecord, given: set[str], choices: dict[str, Any]) -> RunRecord:
    """The run to go on with, under the options that were given now."""
    import msgspec  # noqa: PLC0415

    from liftbay.errors import InputError  # noqa: PLC0415

    if fixed := sorted(given - _CHANGEABLE - _OF_THIS_START):
        raise InputError(
            "a run that goes on keeps what it was started with",
            place=", ".join("--" + name.replace("_", "-") for name in fixed),
            remedy="take the option out, or start a new run",
        )
    changes = {name: choices[name] for name in given & _CHANGEABLE}
    return msgspec.structs.replace(record, request=msgspec.structs.replace(record.request, **changes))


async def _kept(store: RunStore, run_id: str) -> RunRecord:
    """The run of an id; `last` is the newest."""
    from liftbay.errors import InputError  # noqa: PLC0415

    if run_id == "last" and (newest := await store.runs(limit=1)):
        return newest[0]
    record = await store.run(run_id)
    if record is None:
        raise InputError("there is no such run", place=run_id, remedy="liftbay runs list shows the runs")
    return record


async def _work(
    opened: contextlib.AsyncExitStack,
    request: RunRequest,
    resumed: RunRecord | None,
    *,
    store_url: str | None,
    skip_invalid: bool,
    dry_run: bool,
) -> Ended:
    """Run, or go on, or only say what would run; what can be wrong with the request is found before a store is made."""

    from liftbay.cli.run_display import RunDisplay, plan_text  # noqa: PLC0415
    from liftbay.engine.run import Control  # noqa: PLC0415
    from liftbay.jobs.estimate import estimate  # noqa: PLC0415
    from liftbay.jobs.execute import execute  # noqa: PLC0415
    from liftbay.jobs.prepare import prepare  # noqa: PLC0415
    from liftbay.jobs.reporting import Counting, build_report  # noqa: PLC0415
    from liftbay.wiring.agents import agent_of  # noqa: PLC0415
    from liftbay.wiring.judged import judged  # noqa: PLC0415
    from liftbay.wiring.judges import use_kept, used  # noqa: PLC0415

    wired = agent_of(request.agent, connections=request.concurrency)
    prepared: Prepared = prepare(request, wired.agent, skip_invalid=skip_invalid, resumed=resumed)
    if dry_run:
        store = await _store_if_there(opened, store_url)
        return plan_text(prepared, None if store is None else await estimate(store, prepared.record)), 0
    store = await _opened_store(opened, store_url, create=True)
    ready = await opened.enter_async_context(judged(wired, prepared.mock_data, prepared.record.request.judge, store))
    record = ready.known(prepared.record)
    if resumed is None:
        await store.add_run(record)
    counting = Counting(RunDisplay(prepared, store_url), record, prepared.plan)
    async with use_kept(store, record.id, ready.judge):
        record = await execute(
            record, prepared.plan, prepared.cases(), wired.agent, store, counting, Control(), ready.instruments
        )
    record = used(record, ready.judge)
    report = await build_report(store, record, prepared.plan, counted=counting.builder)
    return report, ready.judge.use.unrecorded if ready.judge is not None else 0


async def _store_if_there(opened: contextlib.AsyncExitStack, url: str | None) -> Store | None:
    from liftbay.errors import InputError  # noqa: PLC0415

    try:
        return await _opened_store(opened, url, create=False)
    except InputError:
        return None


def _show(report: Report | str, unrecorded: int, json_: bool) -> None:
    from liftbay.cli.output import print_json  # noqa: PLC0415

    if isinstance(report, str):
        typer.echo(report)
        return
    if json_:
        print_json(report)
    else:
        typer.echo(str(report))
    if unrecorded:
        typer.echo(
            f"liftbay: {tr('the recorded answers lack {count} that the judge was asked for', count=unrecorded)}",
            err=True,
        )
    if unrecorded or report.state != "finished":
        raise typer.Exit(1)
