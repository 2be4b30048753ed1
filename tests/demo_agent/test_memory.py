"""The session store."""

from __future__ import annotations

import asyncio
from pathlib import Path

from liftbay_demo.domain import Dialogue, Profile, Turn
from liftbay_demo.memory.sessions import SessionStore


def test_the_window_slides_and_the_profile_stays(tmp_path: Path) -> None:
    async def said() -> tuple[Dialogue, bool | None, bool | None]:
        store = SessionStore(tmp_path / "sessions.db", window=2)
        await store.open()
        dialogue = Dialogue(profile=Profile(name="佐藤"))
        for number in range(5):
            new = Turn(f"question {number}", "answer")
            dialogue = Dialogue((*dialogue.turns, new), dialogue.profile, dialogue.rounds + 1)
            await store.remember("s", dialogue)
        at_once = await store.settled("s")
        await store.close()
        again = SessionStore(tmp_path / "sessions.db", window=2)
        await again.open()
        recalled, settled = await again.recall("s"), await again.settled("s")
        await again.close()
        return recalled, at_once, settled

    recalled, at_once, settled = asyncio.run(said())
    assert [turn.user for turn in recalled.turns] == ["question 3", "question 4"]
    assert recalled.rounds == 5
    assert recalled.profile.name == "佐藤"
    assert (at_once, settled) == (False, True)


def test_one_turn_of_a_session_at_a_time(tmp_path: Path) -> None:
    async def order() -> list[str]:
        store = SessionStore(tmp_path / "sessions.db")
        await store.open()
        seen: list[str] = []

        async def turn(name: str) -> None:
            async with store.turn_of("s"):
                seen.append(f"{name} begins")
                await asyncio.sleep(0.01)
                seen.append(f"{name} ends")

        await asyncio.gather(turn("a"), turn("b"))
        await store.close()
        return seen

    assert asyncio.run(order()) == ["a begins", "a ends", "b begins", "b ends"]
