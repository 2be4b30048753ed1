"""What an agent is asked to take in the place of a module's output, so that the modules after it are tested alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from liftbay.domain.case import Case, Message
from liftbay.domain.episode import Turn
from liftbay.domain.toolcall import ToolCall
from liftbay.domain.trace import Chunk
from liftbay.domain.vocabulary import Route


class GivenResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the next call of the tool comes to."""

    name: str
    result: Any = None


class Overrides(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Each replaces the output of one module for one turn; what is None is left to the module. The answer never is."""

    intents: list[str] | None = None
    skill: str | None = None
    route: Route | None = None
    history: list[Message] | None = None  # all that was said before this turn
    chunks: list[Chunk] | None = None  # in place of what retrieval returns
    tool_calls: list[ToolCall] | None = None  # in place of the calls that were decided on
    tool_results: list[GivenResult] | None = None  # each for one call, by name, in their order

    @property
    def empty(self) -> bool:
        """Whether nothing is replaced."""
        return self == NOTHING


NOTHING = Overrides()


class Intervention(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What is put in place in one trial: `last` in its last turn, the full history in every turn that has one."""

    last: Overrides = NOTHING
    full_history: bool = False

    def at(self, case: Case, earlier: Sequence[Turn]) -> Overrides:
        """The overrides of the turn that follows `earlier`."""
        found = self.last if len(earlier) + 1 == len(case.rounds) else NOTHING
        said = said_before(case, earlier) if self.full_history else []
        return msgspec.structs.replace(found, history=said) if said else found


def said_before(case: Case, earlier: Sequence[Turn]) -> list[Message]:
    """The messages of the case's history, then those of the earlier turns."""
    messages = list(case.history)
    for turn in earlier:
        messages += [Message("user", turn.user_input), Message("assistant", turn.answer or "")]
    return messages
