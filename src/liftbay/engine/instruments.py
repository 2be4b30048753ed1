"""What stands round an agent while it is run, besides the agent itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import msgspec

from liftbay.domain.case import Case
from liftbay.domain.episode import Turn
from liftbay.domain.override import NOTHING, Overrides
from liftbay.ports import Judge, ToolInterceptor, TraceSource, TrialTools

OverridesOf = Callable[[Case, int, Sequence[Turn]], Overrides]  # by case, trial and the turns before


class Instruments(msgspec.Struct, frozen=True):
    """Where spans come from, what stands before the tools, who judges, what replaces modules; None: nothing does."""

    traces: TraceSource | None = None
    tools: ToolInterceptor | None = None
    judge: Judge | None = None
    overrides: OverridesOf | None = None

    def open_tools(self, session_id: str, case: Case) -> AbstractContextManager[TrialTools | None]:
        """The tools of a trial, while it lasts."""
        return nullcontext() if self.tools is None else self.tools.open(session_id, case)

    def overrides_at(self, case: Case, trial: int, earlier: Sequence[Turn]) -> Overrides:
        """What stands in the place of modules' outputs in the turn after `earlier`."""
        return NOTHING if self.overrides is None else self.overrides(case, trial, earlier)

    def inside(self, traceparent: str | None) -> AbstractContextManager[None]:
        """Spans that code in this context starts belong to the turn."""
        return nullcontext() if self.traces is None or traceparent is None else self.traces.inside(traceparent)


NONE = Instruments()
