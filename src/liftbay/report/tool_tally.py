"""The calls of each tool over a run, and those that no mock answered."""

from __future__ import annotations

from collections import Counter, defaultdict

from liftbay.domain.result import CaseResult
from liftbay.report.report import ToolUse, UnmockedCalls

_EXAMPLES = 5


class ToolTally:
    """Adds up the calls that traces report."""

    def __init__(self) -> None:
        self._tools: dict[str, Counter[str]] = defaultdict(Counter)
        self._unmocked_trials = 0
        self._unmocked_examples: list[str] = []

    def add(self, result: CaseResult) -> None:
        """Count the calls of one trial."""
        unmocked = []
        for turn in result.episode.turns:
            for call in (turn.trace and turn.trace.tool_calls) or ():
                counts = self._tools[call.name]
                counts["unknown" if call.success is None else "succeeded" if call.success else "failed"] += 1
                counts["mocked"] += call.mocked
                counts["unmocked"] += call.unmocked
                if call.unmocked:
                    unmocked.append(call.name)
        if unmocked:
            self._unmocked_trials += 1
            if len(self._unmocked_examples) < _EXAMPLES:
                tools = [*unmocked[:_EXAMPLES], *("…" for _ in unmocked[_EXAMPLES : _EXAMPLES + 1])]
                self._unmocked_examples.append(f"{result.case.id} #{result.trial}: {', '.join(tools)}")

    def uses(self) -> dict[str, ToolUse]:
        """Each tool, by name."""
        return {
            name: ToolUse(
                counts["succeeded"] + counts["failed"] + counts["unknown"],
                counts["succeeded"],
                counts["failed"],
                counts["unknown"],
                counts["mocked"],
                counts["unmocked"],
            )
            for name, counts in sorted(self._tools.items())
        }

    def unmocked(self) -> UnmockedCalls:
        """The trials with calls that no mock answered."""
        return UnmockedCalls(self._unmocked_trials, self._unmocked_examples)
