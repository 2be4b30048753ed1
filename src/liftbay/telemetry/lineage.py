"""Which span lies in which, over the spans that say something."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from liftbay.domain.spans import Span
from liftbay.domain.vocabulary import Module
from liftbay.telemetry.dialects.liftbay import Remarks
from liftbay.telemetry.reading import Reading


class KnownSpan(msgspec.Struct, frozen=True):
    """A span that says something."""

    span: Span
    reading: Reading | None
    remarks: Remarks | None
    module: Module | None  # that it times

    @property
    def latency_ms(self) -> float:
        """How long it took; clocks that go back make it no less than nothing."""
        return max(0.0, (self.span.end_ns - self.span.start_ns) / 1e6)


_NONE: frozenset[Module] = frozenset()


class Lineage:
    """Finds what lies above a span. Each span is passed once, however deep they lie in one another."""

    def __init__(self, spans: Mapping[str, Span], known: Mapping[str, KnownSpan]) -> None:
        self._spans = spans
        self._known = known
        self._above: dict[str, KnownSpan | None] = {}
        self._modules: dict[str, frozenset[Module]] = {}

    def above(self, one: KnownSpan) -> KnownSpan | None:
        """The nearest span above that says something."""
        passed = [one.span.span_id]
        seen = {one.span.span_id}
        found: KnownSpan | None = None
        parent = one.span.parent_id
        while parent is not None and parent not in seen:  # spans of a faulty agent may go round in a circle
            if (found := self._known.get(parent)) is not None:
                break
            if parent in self._above:
                found = self._above[parent]
                break
            seen.add(parent)
            passed.append(parent)
            above = self._spans.get(parent)
            parent = None if above is None else above.parent_id
        for span_id in passed:
            self._above[span_id] = found
        return found

    def modules_above(self, one: KnownSpan) -> frozenset[Module]:
        """The modules that any span above times."""
        path = [one]
        seen = {one.span.span_id}
        modules = _NONE
        while (above := self.above(path[-1])) is not None and above.span.span_id not in seen:
            if (held := self._modules.get(path[-1].span.span_id)) is not None:
                modules = held
                break
            seen.add(above.span.span_id)
            path.append(above)
        for index in range(len(path) - 1, -1, -1):
            span = path[index]
            if index < len(path) - 1 and (module := path[index + 1].module) is not None:
                modules = modules | {module}
            self._modules[span.span.span_id] = modules
        return modules
