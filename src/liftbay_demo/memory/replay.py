"""A dialogue from its messages alone, as it would have been remembered."""

from __future__ import annotations

from collections.abc import Sequence

from liftbay_demo.domain import Dialogue, Message
from liftbay_demo.memory.turns import turn_of
from liftbay_demo.perception.offline import OfflinePerception
from liftbay_demo.planning.offline import OfflinePlanning
from liftbay_demo.planning.profile import with_answer


def replayed(messages: Sequence[Message], perception: OfflinePerception, planning: OfflinePlanning) -> Dialogue:
    """What is known after these messages. None of them falls out of a window."""
    dialogue = Dialogue()
    for number, message in enumerate(messages):
        if message.role != "user":
            continue
        following = messages[number + 1] if number + 1 < len(messages) else None
        answer = following if following is not None and following.role != "user" else Message("assistant", "")
        plan = planning.planned(message.content, perception.understood(message.content, dialogue), dialogue)
        profile = with_answer(plan.store, answer)
        turn = turn_of(message.content, answer.content, plan)
        dialogue = Dialogue((*dialogue.turns, turn), profile, dialogue.rounds + 1)
    return dialogue
