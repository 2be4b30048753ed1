"""What a span says, in liftbay's words, whatever dialect it was written in."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import Any

import msgspec

from liftbay.domain.trace import Chunk


class Kind(StrEnum):
    """What a span is."""

    AGENT = "agent"  # an agent, a workflow or a step of one: what happens inside it belongs to the turn
    MODEL = "model"  # one call of a language model
    TOOL = "tool"
    SKILL = "skill"
    RETRIEVAL = "retrieval"
    MEMORY = "memory"
    PLAN = "plan"


class RequestedCall(msgspec.Struct, frozen=True):
    """A tool call that a model asked for; `arguments` is None where they are not known."""

    name: str
    arguments: dict[str, Any] | None = None


class Reading(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One span. None stands for what it does not say."""

    kind: Kind
    name: str | None = None  # of the model that answered, or of the tool
    id: str | None = None  # of the model's answer, or of the tool call
    input_tokens: int | None = None  # with the cached ones
    output_tokens: int | None = None  # with those of reasoning
    first_token_ms: float | None = None  # from the span's start
    requested: tuple[RequestedCall, ...] | None = None  # by the model's answer; () means that it asked for none
    hides_calls: bool = False  # the model asked for tool calls, and the span does not show them
    arguments: dict[str, Any] | None = None
    result: Any = None
    error: str | None = None
    count: int | None = None  # of passages or of records
    chunks: list[Chunk] | None = None
    text: str | None = None  # of a plan


_ASKING = frozenset({"tool_call", "tool_calls", "tool_use", "function_call"})  # why a model's answer ended


def asked_for(
    captured: tuple[RequestedCall, ...] | None, finish_reasons: Collection[str]
) -> tuple[tuple[RequestedCall, ...] | None, bool]:
    """`requested` and `hides_calls` of a model call, from its output, None where that was not captured.

    The finish reasons say without the output whether there were calls, and betray an output that leaves them out.
    """
    asked = not _ASKING.isdisjoint(finish_reasons)
    if captured:
        return captured, False
    if asked:
        return None, True
    return () if captured is not None or finish_reasons else None, False
