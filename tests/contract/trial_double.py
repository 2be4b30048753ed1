"""A double of the tools of a trial, for agents that own their tool loop."""

from __future__ import annotations

from typing import Any

from liftbay.domain.trace import ToolCallRecord
from liftbay.ports import Intercepted


class TrialDouble:
    """Gives every call the same answer, or each tool its own; None: ask the real tool."""

    def __init__(self, answer: Intercepted | None = None, **by_name: Intercepted | None) -> None:
        self.endpoint: str | None = None
        self.mcp_endpoint: str | None = None
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self._answer = answer
        self._by_name = by_name

    def intercept(self, name: str, arguments: dict[str, Any]) -> Intercepted | None:
        """The answer."""
        self.asked.append((name, arguments))
        return self._by_name.get(name, self._answer)

    def record(self, call: ToolCallRecord) -> None:
        """The agent reports its calls in its own trace."""
        raise AssertionError("the call is recorded twice")

    def taken(self) -> list[ToolCallRecord]:
        """Nothing was recorded."""
        return []
