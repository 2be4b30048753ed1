"""The part of an agent file that names an MCP server for liftbay to stand in for."""

from __future__ import annotations

from typing import Annotated

import msgspec


class StandInFor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The agent's MCP server: exactly one of `command`, `url` and `tools` is given."""

    command: Annotated[list[str], msgspec.Meta(min_length=1)] | None = None  # runs in the agent file's folder
    url: str | None = None
    tools: str | None = None  # a file of tool definitions, where E2E_REAL has nothing behind it
