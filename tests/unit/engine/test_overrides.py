"""What replaces modules' outputs reaches the agent turn by turn."""

from __future__ import annotations

from places import synchronous
from scripted import ScriptedAgent, conversation

from liftbay.domain.case import Message
from liftbay.domain.override import NOTHING, Intervention, Overrides
from liftbay.domain.vocabulary import Route
from liftbay.engine.drive import drive
from liftbay.engine.instruments import Instruments
from liftbay.engine.pace import Pace


@synchronous
async def test_the_turns_of_a_conversation() -> None:
    agent, case = ScriptedAgent("one", "two"), conversation(2)
    plan = Intervention(Overrides(route=Route.SKILL_HIT), full_history=True)
    instruments = Instruments(overrides=lambda case, trial, earlier: plan.at(case, earlier))
    await drive(agent, case, 1, turn_timeout=9, turn_settle=0, pace=Pace(), instruments=instruments)
    first, second = agent.asked
    assert first.overrides == NOTHING
    said = [Message("user", case.rounds[0].user_input), Message("assistant", "one")]
    assert second.overrides == Overrides(route=Route.SKILL_HIT, history=said)


@synchronous
async def test_an_ordinary_run_replaces_nothing() -> None:
    agent = ScriptedAgent("one")
    await drive(agent, conversation(1), 1, turn_timeout=9, turn_settle=0, pace=Pace())
    assert agent.asked[0].overrides.empty
