"""Runs from Python: `liftbay.run(...)` in a script or a test, `await liftbay.run_async(...)` in a notebook."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from liftbay.datasets.project import find_project
from liftbay.domain.result import RunRequest
from liftbay.domain.vocabulary import DatasetType, EvalMode
from liftbay.engine.run import Control
from liftbay.errors import InputError, RunError
from liftbay.jobs.execute import Silent, execute
from liftbay.jobs.prepare import prepare
from liftbay.jobs.reporting import Counting, build_report
from liftbay.report.report import Report
from liftbay.stores.memory import MemoryStore
from liftbay.stores.open import open_store
from liftbay.wiring.agents import AgentLike, agent_of
from liftbay.wiring.judged import judged
from liftbay.wiring.judges import JudgeChoice, judge_settings, use_kept, used

Word = TypeVar("Word", bound=StrEnum)


def run(
    scope: str,
    agent: AgentLike,
    *,
    dataset: str | Path | Sequence[str | Path] = (),
    store: str | None = None,
    **options: Any,
) -> Report:
    """Run a scope against an agent and return its report.

    `agent` is a function (plain or async) that takes the user's input, or a specification as on the command line.
    `dataset` names files, folders or `jmultiwoz:PATH`; without it the project's datasets run. Results are kept in
    memory, or in `store`, an address such as `sqlite:///runs.db`. `options` are the fields of `RunRequest`:
    `limit`, `trials`, `concurrency`, `timeout`, `retries`, `turn_settle`, … and, as on the command line, `judge`,
    `judge_model`, `judge_votes`, `judge_language`, `judge_concurrency`, `judge_cache`.

    Raises `LiftbayError` as the command does. In a running event loop use `run_async`.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run_async(scope, agent, dataset=dataset, store=store, **options))
    raise RunError("an event loop is running here", remedy="await liftbay.run_async(...)")


async def run_async(
    scope: str,
    agent: AgentLike,
    *,
    dataset: str | Path | Sequence[str | Path] = (),
    store: str | None = None,
    **options: Any,
) -> Report:
    """`run`, to be awaited."""
    async with contextlib.AsyncExitStack() as opened:
        wired = agent_of(agent, connections=options.get("concurrency", 3))
        opened.push(wired.opened)
        opened.push_async_callback(wired.agent.close)  # even where it is never started
        named = [dataset] if isinstance(dataset, str | Path) else dataset
        choice = JudgeChoice(judge=options.pop("judge", None), **_judge_options(options))
        request = RunRequest(
            scope=scope,
            agent=agent if isinstance(agent, str) else wired.agent.name,
            dataset=[str(path) for path in named],
            dataset_types=[_one_of(DatasetType, name) for name in options.pop("dataset_types", ())],
            eval_mode=None if (mode := options.pop("eval_mode", None)) is None else _one_of(EvalMode, mode),
            judge=judge_settings(choice, find_project(Path.cwd())),
            **options,
        )
        prepared = prepare(request, wired.agent)
        kept = MemoryStore() if store is None else await open_store(store)
        opened.push_async_callback(kept.close)
        ready = await opened.enter_async_context(judged(wired, prepared.mock_data, request.judge, kept))
        record = ready.known(prepared.record)
        await kept.add_run(record)
        counting = Counting(Silent(), record, prepared.plan)
        async with use_kept(kept, record.id, ready.judge):
            record = await execute(
                record, prepared.plan, prepared.cases(), wired.agent, kept, counting, Control(), ready.instruments
            )
        return await build_report(kept, used(record, ready.judge), prepared.plan, counted=counting.builder)


def _judge_options(options: dict[str, Any]) -> dict[str, Any]:
    """Take what begins with `judge_` out of the options."""
    prefix = "judge_"
    return {name.removeprefix(prefix): options.pop(name) for name in list(options) if name.startswith(prefix)}


def _one_of(kind: type[Word], name: str) -> Word:
    try:
        return kind(name)
    except ValueError:
        raise InputError(
            "there is no {name}", remedy="give one of: {names}", name=name, names=", ".join(kind)
        ) from None
