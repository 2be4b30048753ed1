"""How fast a run asks, on a clock that the test holds."""

from __future__ import annotations

import asyncio

import pytest
from places import synchronous
from scripted import Clock, costing

from liftbay.domain.prices import Prices
from liftbay.domain.trace import EvalTrace
from liftbay.engine.pace import Pace


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of `Pace`."""
    held = Clock()
    monkeypatch.setattr("liftbay.engine.pace.time", held.time)
    monkeypatch.setattr("liftbay.engine.pace.asyncio", held.asyncio)
    return held


@synchronous
async def test_without_limits_nobody_waits(clock: Clock) -> None:
    pace = Pace()
    for _ in range(1000):
        await pace.wait()
        pace.used(costing(1000, 1000))
    assert clock.slept == []
    assert pace.tokens == 2_000_000
    assert not pace.exhausted


@synchronous
async def test_requests_are_spread_evenly_over_the_minute(clock: Clock) -> None:
    pace = Pace(requests_per_minute=30)
    starts = []
    for _ in range(31):
        await pace.wait()
        starts.append(clock.now - 1000)
    assert starts == [2.0 * number for number in range(31)]


@synchronous
async def test_a_slow_agent_saves_no_requests_for_a_burst(clock: Clock) -> None:
    pace = Pace(requests_per_minute=60)
    await pace.wait()
    clock.now += 30
    for _ in range(3):
        await pace.wait()
    assert clock.slept == [1.0, 1.0]


@synchronous
async def test_those_who_wait_at_once_go_one_after_another(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    async def noted(seconds: float) -> None:
        clock.slept.append(seconds)

    monkeypatch.setattr(clock, "sleep", noted)
    monkeypatch.setattr("liftbay.engine.pace.asyncio", clock.asyncio)
    pace = Pace(requests_per_minute=120)
    await asyncio.gather(*(pace.wait() for _ in range(4)))
    assert clock.slept == [0.5, 1.0, 1.5]


@synchronous
async def test_tokens_of_an_answer_delay_the_next_request(clock: Clock) -> None:
    pace = Pace(tokens_per_minute=600)
    await pace.wait()
    pace.used(costing(40, 10))
    await pace.wait()
    assert clock.slept == [5.0]
    pace.used(costing(5, None))
    pace.used(costing(None, 5))
    await pace.wait()
    assert clock.slept == [5.0, 1.0]
    clock.now += 60
    pace.used(costing(10, 0))
    await pace.wait()
    assert clock.slept == [5.0, 1.0, 1.0], "an idle minute is not saved up"


@synchronous
async def test_the_stricter_limit_holds(clock: Clock) -> None:
    pace = Pace(requests_per_minute=60, tokens_per_minute=600)
    await pace.wait()
    pace.used(costing(2, 3))  # half a second's worth
    await pace.wait()
    pace.used(costing(20, 30))  # five seconds' worth
    await pace.wait()
    assert clock.slept == [1.0, 5.0]


@pytest.mark.parametrize("trace", [None, EvalTrace(), costing(None, None)])
@synchronous
async def test_an_agent_that_reports_no_tokens_is_not_held_back(clock: Clock, trace: EvalTrace | None) -> None:
    pace = Pace(tokens_per_minute=1, max_tokens=1)
    for _ in range(3):
        await pace.wait()
        pace.used(trace)
    assert (clock.slept, pace.tokens) == ([], 0)
    assert pace.exhausted is None


def test_a_budget_of_tokens_is_spent_when_it_is_reached() -> None:
    pace = Pace(max_tokens=100)
    pace.used(costing(60, 39))
    assert pace.exhausted is None
    pace.used(costing(1, None))
    assert pace.exhausted == "the budget of 100 tokens is spent"


def test_a_budget_of_money_is_spent_when_it_is_reached() -> None:
    pace = Pace(max_cost=3.0, prices=Prices(input_per_million=1.0, output_per_million=2.0))
    pace.used(costing(1_000_000, 500_000))
    pace.used(None)
    assert (pace.cost, pace.exhausted) == (2.0, None)
    pace.used(costing(None, 500_000))
    assert pace.exhausted == "the budget of 3 is spent"


def test_without_prices_nothing_is_spent() -> None:
    pace = Pace(max_cost=0.01)
    pace.used(costing(1_000_000_000, 1))
    assert pace.exhausted is None
