"""What the stages of a turn hand to one another."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

KNOWLEDGE_QA = "knowledge_qa"  # the intent of all that no Skill is for

Value = str | int | float
Values = dict[str, tuple[Value, ...]]  # of the tools' parameters, by their names


class Route(StrEnum):
    """Whether a Skill takes the request."""

    SKILL_HIT = "SKILL_HIT"
    SKILL_MISS = "SKILL_MISS"


class Kind(StrEnum):
    """What somebody wants with a request."""

    SKILL = "skill"
    KNOWLEDGE = "knowledge"
    CHANGE = "change"  # wants data to be changed, which nobody may here
    RECOLLECTION = "recollection"  # asks about the conversation itself
    STATEMENT = "statement"  # tells something, asks nothing
    SMALL_TALK = "small talk"
    UNCLEAR = "unclear"  # what for?
    INSTRUCTION = "instruction"  # wants the assistant to be another one
    UNREADABLE = "unreadable"


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    role: str
    content: str


class Malformed(msgspec.Struct, frozen=True):
    """A value that is meant as an argument and has not its form."""

    parameter: str
    value: str
    suggestion: Value | None = None


class Mentions(msgspec.Struct, frozen=True):
    """The things that a text names."""

    values: Values = {}
    malformed: tuple[Malformed, ...] = ()
    all_countries: bool = False
    fields: tuple[str, ...] = ()  # of a product or a change log, that are asked for


class Request(msgspec.Struct, frozen=True):
    """One thing that a message asks for."""

    text: str
    kind: Kind
    intent: str = KNOWLEDGE_QA
    skill: str | None = None  # the Skill that matches, among those that are loaded
    nearest: str | None = None  # the Skill that would be the closest
    mentions: Mentions = Mentions()
    follows: bool = False  # carries on an earlier request and leaves out what was said there


class Perceived(msgspec.Struct, frozen=True):
    """A message, understood."""

    requests: tuple[Request, ...]
    instruction_ignored: bool = False

    @property
    def intents(self) -> list[str]:
        """The labels, each once, in the order of the message."""
        return list(dict.fromkeys(request.intent for request in self.requests))


class ToolCall(msgspec.Struct, frozen=True):
    """A call that is to be made."""

    name: str
    arguments: dict[str, Any] = {}


class Outcome(msgspec.Struct, frozen=True):
    """What came of a call."""

    call: ToolCall
    result: Any = None
    error: str | None = None


class Chunk(msgspec.Struct, frozen=True):
    """A passage that was found."""

    id: str
    content: str
    score: float = 0.0
    title: str = ""


class Step(msgspec.Struct, frozen=True):
    """What is done about one request."""

    request: Request
    skill: str | None = None
    values: Values = {}  # the arguments that are known, from the message and from memory
    calls: tuple[ToolCall, ...] = ()
    missing: tuple[str, ...] = ()  # parameters to ask for
    malformed: tuple[Malformed, ...] = ()
    query: str | None = None  # what to look up in the knowledge base


class Asked(msgspec.Struct, frozen=True):
    """A request of an earlier turn, as far as later ones may refer to it."""

    text: str
    kind: Kind
    intent: str
    values: Values = {}


class Turn(msgspec.Struct, frozen=True):
    """An earlier turn."""

    user: str
    assistant: str
    asked: tuple[Asked, ...] = ()
    offered: Values = {}  # arguments that the assistant proposed, and that a "yes" accepts


class Profile(msgspec.Struct, frozen=True):
    """What is known about the user, and what was talked about last."""

    name: str | None = None
    role: str | None = None
    no_tables: bool = False
    brief: bool = False
    notes: tuple[str, ...] = ()
    last: dict[str, Value] = {}  # the last value of each parameter
    products: tuple[str, ...] = ()  # in the order in which they came up


class Plan(msgspec.Struct, frozen=True):
    """What is done about a message."""

    route: Route
    steps: tuple[Step, ...]
    profile: Profile  # as it holds for this answer
    store: Profile  # as it is to be remembered
    store_results: bool = False  # whether what the tools find is remembered too


class Dialogue(msgspec.Struct, frozen=True):
    """What memory gives back of a session: the turns of the window, and the profile."""

    turns: tuple[Turn, ...] = ()
    profile: Profile = Profile()
    rounds: int = 0  # since the session began


class Work(msgspec.Struct, frozen=True):
    """A step, and what was gathered for it."""

    step: Step
    headings: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    chunks: tuple[Chunk, ...] = ()


class Material(msgspec.Struct, frozen=True):
    """All that an answer is made of."""

    message: str
    works: tuple[Work, ...]
    dialogue: Dialogue
    profile: Profile = Profile()  # as it holds for this answer
    stored: Profile = Profile()  # as it is remembered
    instruction_ignored: bool = False
