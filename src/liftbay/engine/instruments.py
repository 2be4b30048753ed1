"""What stands round an agent while it is run, besides the agent itself."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import msgspec

from liftbay.domain.case import Case
from liftbay.ports import Judge, ToolInterceptor, TraceSource, TrialTools


class Instruments(msgspec.Struct, frozen=True):
    """Where spans come from, what stands before the tools, who judges; None: nothing and nobody does."""

    traces: TraceSource | None = None
    tools: ToolInterceptor | None = None
    judge: Judge | None = None

    def open_tools(self, session_id: str, case: Case) -> AbstractContextManager[TrialTools | None]:
        """The tools of a trial, while it lasts."""
        return nullcontext() if self.tools is None else self.tools.open(session_id, case)

    def inside(self, traceparent: str | None) -> AbstractContextManager[None]:
        """Spans that code in this context starts belong to the turn."""
        return nullcontext() if self.traces is None or traceparent is None else self.traces.inside(traceparent)


NONE = Instruments()
