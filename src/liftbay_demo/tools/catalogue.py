"""The tools that the agent may call, and what they take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple


class Tool(NamedTuple):
    """One tool: where it is served, and its parameters as a JSON Schema."""

    name: str
    server: str
    parameters: dict[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        """Its parameters, in their order."""
        return tuple(self.parameters["properties"])

    @property
    def required(self) -> tuple[str, ...]:
        """The parameters that it cannot do without."""
        return tuple(self.parameters["required"])


def tools_in(file: Path) -> dict[str, Tool]:
    """The tools of a file of definitions."""
    definitions = json.loads(file.read_text(encoding="utf-8"))
    return {
        one["function"]["name"]: Tool(one["function"]["name"], one["server"], one["function"]["parameters"])
        for one in definitions
    }
