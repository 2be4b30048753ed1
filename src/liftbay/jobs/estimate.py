"""What a run will probably take, judged by the last finished run of the same agent."""

from __future__ import annotations

import msgspec

from liftbay.domain.prices import Prices
from liftbay.domain.result import CaseResult, RunRecord, RunState
from liftbay.ports import RunStore
from liftbay.scoring.costs import cost_of

_SAMPLE = 200
_RUNS_LOOKED_AT = 50


class Estimate(msgspec.Struct, frozen=True, rename="camel"):
    """What is to be expected; None where the earlier run did not report it."""

    earlier_run: str
    seconds: float
    tokens: float | None
    cost: float | None


async def estimate(store: RunStore, record: RunRecord) -> Estimate | None:
    """The estimate for a run that has not started, or None where the agent has no finished run in the store."""
    earlier = await _last_run(store, record)
    if earlier is None:
        return None
    sample: list[CaseResult] = []
    async for result in store.results(earlier.id):
        sample.append(result)
        if len(sample) == _SAMPLE:
            break
    if not sample:
        return None
    turns = [turn for result in sample for turn in result.episode.turns]
    seconds = sum(turn.response_latency_ms or 0 for turn in turns) / 1000 / len(sample)
    usages = [turn.trace.model for turn in turns if turn.trace and turn.trace.model]
    tokens = sum((usage.input_tokens or 0) + (usage.output_tokens or 0) for usage in usages)
    return Estimate(
        earlier_run=earlier.id,
        seconds=seconds * record.planned / min(record.request.concurrency, max(record.planned, 1)),
        tokens=tokens / len(sample) * record.planned if usages else None,
        cost=_cost(sample, record.request.prices, record.planned),
    )


async def _last_run(store: RunStore, record: RunRecord) -> RunRecord | None:
    runs = await store.runs(limit=_RUNS_LOOKED_AT)
    finished = [
        run
        for run in runs
        if run.state is RunState.FINISHED
        and run.agent_name == record.agent_name
        and run.request.confirms is None  # replays of failed trials say nothing of a whole run
    ]
    same_scope = [run for run in finished if run.request.scope == record.request.scope]
    return next(iter(same_scope or finished), None)


def _cost(sample: list[CaseResult], prices: Prices | None, planned: int) -> float | None:
    costs = [cost for result in sample for turn in result.episode.turns if (cost := cost_of(turn.trace, prices))]
    return sum(costs) / len(sample) * planned if costs else None
