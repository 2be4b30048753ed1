"""What beside the agent may make two runs differ is said with the explanation."""

from __future__ import annotations

import msgspec
import pytest
from places import a_result, a_run, synchronous

from liftbay.domain.judging import JudgeSettings
from liftbay.domain.prices import Prices
from liftbay.domain.result import Outcome, RunRecord, RunState
from liftbay.domain.vocabulary import EvalMode
from liftbay.errors import InputError
from liftbay.jobs.explain import explained
from liftbay.language import use_language
from liftbay.ports import RunStore
from liftbay.stores.memory import MemoryStore


async def two_runs(*, cases: int = 3, **of_head: object) -> tuple[RunStore, RunRecord, RunRecord]:
    """Two finished runs of the same cases, of which the second was asked for in another way."""
    store = MemoryStore()
    base = a_run("base", state=RunState.FINISHED)
    head = a_run("head", state=RunState.FINISHED, request=msgspec.structs.replace(base.request, **of_head))
    for run in (base, head):
        await store.add_run(run)
        outcome = Outcome.PASSED if run is base else Outcome.FAILED
        await store.add_results(run.id, [a_result(number, outcome=outcome) for number in range(cases)])
    return store, base, head


@synchronous
async def test_like_runs_have_no_note() -> None:
    found = await explained(*await two_runs())
    assert found.notes == []
    assert (found.explanation.n, found.explanation.lost) == (3, 3)


@synchronous
async def test_unlike_runs_are_noted() -> None:
    use_language("en")
    judge = JudgeSettings(model="another")
    store, base, head = await two_runs(judge=judge, eval_mode=EvalMode.E2E_MOCK, prerequisites=False, trials=2)
    found = await explained(store, base, msgspec.structs.replace(head, state=RunState.CANCELLED))
    assert found.notes == [
        "head is not finished: it is cancelled",
        "the runs were not judged in the same way: a flip may be the judge's",
        "the runs have different evaluation modes",
        "only one of the runs leaves out what an upstream fault spoils (prerequisites)",
        "the runs have 1 and 2 trials a case",
    ]


@synchronous
async def test_both_runs_are_counted_at_the_prices_of_the_head() -> None:
    found = await explained(*await two_runs(prices=Prices(1.0, 2.0, "JPY")))
    assert found.currency == "JPY"


@synchronous
async def test_runs_of_two_scopes_are_refused() -> None:
    with pytest.raises(InputError, match="two scopes, TOOL_CALL and MULTI_TURN"):
        await explained(*await two_runs(scope="MULTI_TURN"))
