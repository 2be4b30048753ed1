"""The EvalTrace: what happened inside the agent during one turn.

A part that nobody filled is None, never zero or empty: what needs it is then not applicable, with the reason.
Times are in milliseconds.
"""

from __future__ import annotations

from typing import Any

import msgspec

from liftbay.domain.vocabulary import Route


class Perception(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What the agent took the user to want."""

    skill_hit: bool | None = None
    skill: str | None = None  # the Skill that was hit; None with `skill_hit` False means that none was
    skill_version: str | None = None
    intents: list[str] | None = None
    latency_ms: float | None = None


class Planning(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What the agent decided to do."""

    route: Route | None = None
    decision: str | None = None
    latency_ms: float | None = None


class Memory(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What short-term memory gave."""

    rounds: int | None = None  # rounds of history that were injected
    latency_ms: float | None = None


class ToolCallRecord(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One call that the agent made."""

    name: str
    arguments: dict[str, Any] | None = None  # None where they were not captured
    success: bool | None = None
    result: Any = None
    error: str | None = None
    latency_ms: float | None = None
    mocked: bool = False
    unmocked: bool = False  # E2E_MOCK, and no mock answered: a visible fault


class ToolLoad(msgspec.Struct, frozen=True, omit_defaults=True):
    """An MCP server or a Skill that the agent loaded, or failed to."""

    kind: str  # mcp or skill
    name: str
    success: bool


class Chunk(msgspec.Struct, frozen=True, omit_defaults=True):
    """A passage that retrieval returned."""

    content: str
    id: str | None = None
    score: float | None = None


class Retrieval(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One search of the knowledge base."""

    count: int | None = None  # results
    chunks: list[Chunk] | None = None  # None where the content was not captured
    latency_ms: float | None = None


class ModelTokens(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The calls of one language model and their tokens."""

    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None


class ModelUsage(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Calls of language models and their tokens."""

    calls: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    time_to_first_token_ms: float | None = None
    by_model: dict[str, ModelTokens] | None = None  # by the name of the model that answered


class EvalTrace(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The structured record of one turn."""

    perception: Perception | None = None
    planning: Planning | None = None
    memory: Memory | None = None
    tool_calls: list[ToolCallRecord] | None = None  # [] means: reported, and none was made
    tool_loads: list[ToolLoad] | None = None
    retrievals: list[Retrieval] | None = None  # [] means: reported, and no retrieval ran
    model: ModelUsage | None = None
    hot_update_latency_ms: float | None = None
