"""A call of a tool, as an annotator expects it or as an agent made it."""

from __future__ import annotations

from typing import Any

import msgspec


class ToolCall(msgspec.Struct, frozen=True):
    """One call: the tool's name and its arguments, a JSON object."""

    name: str
    arguments: dict[str, Any]
