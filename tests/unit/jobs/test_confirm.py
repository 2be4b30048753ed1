"""Which failed trials are replayed how, and which agents cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import msgspec
import pytest
from http_agents import agent_of
from places import a_result, a_run, synchronous

from liftbay.agents.replay import ReplayAgent
from liftbay.domain.blame import Culprit
from liftbay.domain.case import ExpectedTool, MockData
from liftbay.domain.judging import JudgeSettings
from liftbay.domain.result import CaseResult, Outcome, RunState
from liftbay.domain.toolcall import ToolCall
from liftbay.domain.verdict import failed
from liftbay.errors import InputError
from liftbay.jobs.confirm import (
    Chosen,
    choose,
    confirmation_of,
    is_done,
    refuse_replays,
    refuse_without_overrides,
    replay_record,
)
from liftbay.jobs.prepare import Prepared
from liftbay.stores.memory import MemoryStore

TRIALS = 20
EVERY_OTHER = [number for number in range(TRIALS) if number % 2]


class Unmocked:
    """Of what was prepared, all that is asked here: no mock data."""

    mock_data: Mapping[str, MockData] = MappingProxyType({})


def tried(number: int) -> CaseResult:
    """A trial of which every other one lacks a call."""
    if number % 2 == 0:
        return a_result(number)
    result = a_result(number, outcome=Outcome.FAILED)
    more = [*(result.case.expected_tools or []), ExpectedTool("send_mail", {"to": "x"})]
    case = msgspec.structs.replace(result.case, expected_tools=more)
    names = ["reserve_hotel", "send_mail"]
    missing = failed("tool_call_accuracy", "an expected tool was not called", expected=names, actual=names[:1])
    return msgspec.structs.replace(result, case=case, verdicts=[missing])


async def filled() -> MemoryStore:
    """A store with a run of them."""
    store = MemoryStore()
    await store.add_run(a_run("bad", state=RunState.FINISHED))
    await store.add_results("bad", [tried(number) for number in range(TRIALS)])
    return store


async def chosen_of(store: MemoryStore, limit: int | None = None) -> Chosen:
    """What is looked at."""
    return await choose(store, a_run("bad"), cast(Prepared, Unmocked()), limit=limit)


@synchronous
async def test_failed_trials_are_replayed_with_the_expected_call() -> None:
    chosen = await chosen_of(await filled())
    assert (chosen.decided, chosen.failed, len(chosen.trials)) == (TRIALS, TRIALS // 2, TRIALS // 2)
    repeated, planning = chosen.arms()
    assert (repeated.culprit, planning.culprit) == (None, Culprit.PLANNING)
    key = ("TOOL_CALL", "case-000003", 1)
    given = planning.interventions[key].last.tool_calls or []
    assert given[1] == ToolCall("send_mail", {"to": "x"})
    assert repeated.interventions.keys() == planning.interventions.keys()
    assert repeated.interventions[key].last.empty
    case = tried(3).case
    assert planning.overrides(case, 1, []).tool_calls == given
    assert planning.overrides(case, 2, []).empty
    assert planning.left_out(2) == {(type_, id_, 2) for type_, id_, _ in planning.interventions}


@synchronous
async def test_a_larger_limit_takes_in_the_smaller_one() -> None:
    store = await filled()
    few, more = [{one.key for one in (await chosen_of(store, limit)).trials} for limit in (3, 6)]
    assert len(few) == 3
    assert few < more


@synchronous
async def test_replays_are_runs_and_what_is_kept_counts() -> None:
    store = await filled()
    record, chosen = a_run("bad"), await chosen_of(store)
    for arm in chosen.arms():
        replay = await replay_record(store, record, arm, concurrency=2, judge=None)
        assert not await is_done(store, replay, arm)
        await store.add_run(msgspec.structs.replace(replay, state=RunState.FINISHED))
        passed = arm.culprit is not None
        outcome = Outcome.PASSED if passed else Outcome.FAILED
        await store.add_results(replay.id, [a_result(number, outcome=outcome) for number in EVERY_OTHER])
        assert await is_done(store, replay, arm)
        assert (replay.request.concurrency, replay.planned) == (2, len(EVERY_OTHER))
        with pytest.raises(InputError, match="judged in another way"):
            await replay_record(store, record, arm, concurrency=None, judge=JudgeSettings(model="m"))
        with pytest.raises(InputError, match="replays failed trials of the run bad"):
            refuse_replays(replay)
    found = await confirmation_of(store, record, chosen)
    planning = found.modules[0]
    assert (planning.culprit, planning.replayed, planning.passed) == (Culprit.PLANNING, 10, 10)
    assert planning.points.value == pytest.approx(0.5)
    assert found.repeated_run == "bad-repeated"
    assert any("measures what was put in the place of planning" in note for note in found.notes)


def said_of(agent: Any) -> str:
    """What is said of an agent that takes no overrides."""
    with pytest.raises(InputError) as refused:
        refuse_without_overrides(agent, "agent.toml")
    return (refused.value.remedy or "").format(**refused.value.values)


def test_agents_without_overrides(tmp_path: Path) -> None:
    without = agent_of("http://127.0.0.1:9/chat")
    assert 'overrides = "{overrides}"' in said_of(without)
    recorded = tmp_path / "recorded.jsonl"
    recorded.write_text(
        '{"task_id": 1, "trial": 0, "reward": 0, "traj": [{"role": "user", "content": "x"}]}\n', encoding="utf-8"
    )
    assert "of the kind http or python" in said_of(ReplayAgent(recorded))
    refuse_without_overrides(agent_of("http://127.0.0.1:9/{overrides}"), "agent.toml")
