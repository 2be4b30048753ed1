"""`liftbay diagnose`: which modules a run's failures are laid to, and whether replays confirm it."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated

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
    from liftbay.diagnosis.confirmation import Confirmation
    from liftbay.domain.judging import JudgeSettings
    from liftbay.domain.result import RunRecord
    from liftbay.jobs.confirm import Arm, Chosen
    from liftbay.jobs.prepare import Prepared
    from liftbay.report.report import Report
    from liftbay.stores.answers import Store


def diagnose(
    run: RunId,
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm", help=tr("Replay failed trials with the expected output of one module put in its place.")
        ),
    ] = False,
    limit: Annotated[
        int | None, typer.Option(help=tr("Replay at most so many failed trials, drawn evenly."), min=1)
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(help=tr("Trials on their way at once. Default: as in the run."), min=1)
    ] = None,
    judge: JudgeSpec = None,
    judge_model: JudgeModel = None,
    judge_votes: JudgeVotes = None,
    judge_language: JudgeLanguage = None,
    judge_concurrency: JudgeConcurrency = None,
    judge_cache: JudgeCacheUse = None,
    store: StoreUrl = None,
    json_: AsJson = False,
) -> None:
    """Say where the failed trials of a run first go wrong; with --confirm, replay them to make sure."""
    from liftbay.cli.event_loop import run_to_end  # noqa: PLC0415

    async def work() -> tuple[Report, Confirmation | None]:
        from liftbay.catalog.resolve import resolve, run_plan  # noqa: PLC0415
        from liftbay.cli.runs import record_of  # noqa: PLC0415
        from liftbay.jobs.confirm import refuse_replays  # noqa: PLC0415
        from liftbay.jobs.reporting import build_report  # noqa: PLC0415
        from liftbay.wiring.stores import store_of  # noqa: PLC0415

        chosen_judge = settings_of(
            judge, judge_model, judge_votes, judge_language, judge_concurrency, judge_cache, of_project=False
        )
        async with contextlib.AsyncExitStack() as opened:
            kept = await store_of(store, create=False)
            opened.push_async_callback(kept.close)
            record = await record_of(kept, run)
            refuse_replays(record)
            found = None
            if confirm:
                # What an agent prints must not stand between the lines of the diagnosis.
                with contextlib.redirect_stdout(sys.stderr):
                    asked = record.request.judge if judge is None else chosen_judge
                    replays = _Replays(kept, record, asked, store, concurrency)
                    found = await replays.confirmation(limit)
            plan = run_plan(resolve(record.request.scope, record.request.dataset_types))
            return await build_report(kept, record, plan), found

    _show(*run_to_end(work), json_)


class _Replays:
    """The replays of a run: the agent is started anew for each module, exactly as for a run."""

    def __init__(
        self, store: Store, record: RunRecord, judge: JudgeSettings | None, url: str | None, concurrency: int | None
    ) -> None:
        self._store = store
        self._record = record
        self._judge = judge
        self._concurrency = concurrency
        self._resume = [
            *("liftbay", "diagnose", record.id, "--confirm"),
            *(("--store", url) if url else ()),
        ]

    async def confirmation(self, limit: int | None) -> Confirmation:
        from liftbay.jobs.confirm import choose, confirmation_of, refuse_without_overrides  # noqa: PLC0415
        from liftbay.jobs.prepare import prepare  # noqa: PLC0415
        from liftbay.wiring.agents import agent_of  # noqa: PLC0415

        request = self._record.request
        wired = agent_of(request.agent)
        with wired.opened:
            refuse_without_overrides(wired.agent, request.agent)
            prepared = prepare(request, wired.agent, resumed=self._record)
        if limit is not None:
            self._resume += ["--limit", str(limit)]
        chosen: Chosen = await choose(self._store, self._record, prepared, limit=limit)
        for arm in chosen.arms():
            if not await self._replay(arm, prepared):
                break
        return await confirmation_of(self._store, self._record, chosen)

    async def _replay(self, arm: Arm, prepared: Prepared) -> bool:
        """Run what is missing of an arm; False where it was stopped, such as by a budget."""
        import msgspec  # noqa: PLC0415

        from liftbay.cli.replay_display import ReplayDisplay  # noqa: PLC0415
        from liftbay.domain.result import RunState  # noqa: PLC0415
        from liftbay.engine.run import Control  # noqa: PLC0415
        from liftbay.jobs.confirm import is_done, replay_record  # noqa: PLC0415
        from liftbay.jobs.execute import execute  # noqa: PLC0415
        from liftbay.report.blame_words import culprit_name  # noqa: PLC0415
        from liftbay.wiring.agents import agent_of  # noqa: PLC0415
        from liftbay.wiring.judged import judged  # noqa: PLC0415
        from liftbay.wiring.judges import use_kept  # noqa: PLC0415

        replay = await replay_record(self._store, self._record, arm, concurrency=self._concurrency, judge=self._judge)
        if await is_done(self._store, replay, arm):
            return True
        wired = agent_of(self._record.request.agent, connections=replay.request.concurrency)
        plan = msgspec.structs.replace(prepared.plan, probes=())  # no Skill is published for a probe
        async with judged(wired, prepared.mock_data, self._judge, self._store) as ready:
            replay = ready.known(replay)
            if await self._store.run(replay.id) is None:
                await self._store.add_run(replay)
            name = tr("merely repeated") if arm.culprit is None else culprit_name(arm.culprit)
            async with use_kept(self._store, replay.id, ready.judge):
                ended = await execute(
                    replay,
                    plan,
                    arm.cases(prepared),
                    wired.agent,
                    self._store,
                    ReplayDisplay(name, self._resume),
                    Control(),
                    msgspec.structs.replace(ready.instruments, overrides=arm.overrides),
                    left_out=arm.left_out(replay.request.trials),
                )
        return ended.state is RunState.FINISHED


def _show(report: Report, found: Confirmation | None, json_: bool) -> None:
    from liftbay.cli.output import print_json  # noqa: PLC0415
    from liftbay.report.diagnosis_text import diagnosis_text  # noqa: PLC0415

    if json_:
        print_json({"run": report.run, "blame": report.blame, "confirmation": found})
    else:
        typer.echo(diagnosis_text(report, found))
