"""The stages of a turn, each behind an interface of its own, so that any of them can be put in another's place."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from liftbay_demo.domain import Chunk, Dialogue, Material, Outcome, Perceived, Plan, ToolCall


class Perception(Protocol):
    """Understands a message."""

    async def perceive(self, message: str, dialogue: Dialogue) -> Perceived:
        """What the message asks for, with what was said before."""
        ...


class Planning(Protocol):
    """Decides what is done."""

    async def plan(self, message: str, perceived: Perceived, dialogue: Dialogue) -> Plan:
        """What is done about the message."""
        ...


class ShortTerm(Protocol):
    """Remembers sessions."""

    async def recall(self, session: str) -> Dialogue:
        """What was said in the session."""
        ...

    async def remember(self, session: str, dialogue: Dialogue) -> None:
        """Keep the session as it is now."""
        ...


class LongTerm(Protocol):
    """Knows the knowledge base."""

    async def retrieve(self, query: str) -> list[Chunk]:
        """The passages that fit the query, best first."""
        ...


class Tools(Protocol):
    """Calls tools."""

    async def call(self, call: ToolCall, gateway: str | None) -> Outcome:
        """Make the call; through the gateway, where there is one. Does not raise."""
        ...


class Generation(Protocol):
    """Writes the answer."""

    def answer(self, material: Material) -> AsyncGenerator[str, None]:
        """The answer, piece by piece."""
        ...


@dataclass(frozen=True, slots=True)
class Stages:
    """One of each."""

    perception: Perception
    planning: Planning
    short_term: ShortTerm
    long_term: LongTerm
    tools: Tools
    generation: Generation
