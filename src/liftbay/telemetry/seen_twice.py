"""What two instrumentations saw, or one saw from outside and inside, is one piece of work.

A framework and the client library that it uses both make a span for one call of a model, and a router makes one
round those of the models that it tries. So a span that lies directly in another of the same kind, with nothing of
another kind between, belongs to the same piece of work:

- of models, the innermost are the calls, and those round them repeat their tokens. Two spans that name different
  answers (`gen_ai.response.id`) are two calls all the same
- of tools, the outermost is the call. Here the names must be the same and the instrumentations not, since a tool
  may call another or itself
- of retrievals, the outermost is the search: a retriever that asks several others gives back one list

Some frameworks do not hand their spans on as context, so that those of the client library lie beside them. Then a
span of another instrumentation within the other's time is the same call where both count the same tokens (of tools:
have the same name). Each span has at most one such counterpart.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from liftbay.telemetry.lineage import KnownSpan, Lineage
from liftbay.telemetry.reading import Kind, Reading

_COMPARED = 100  # spans that run at one time: more than any agent has, and a flood of them takes no longer


class Work(msgspec.Struct, frozen=True):
    """The spans of one piece of work."""

    outer: KnownSpan
    spans: list[KnownSpan]  # all, by start
    inner: list[KnownSpan]  # those that hold no other, by start

    @property
    def readings(self) -> list[Reading]:
        """What its spans say, from outside."""
        return [one.reading for one in self.spans if one.reading is not None]


def pieces_of_work(spans: Iterable[tuple[KnownSpan, Reading]], lineage: Lineage) -> list[Work]:
    """The pieces that spans of one kind make up, in the order in which they start."""
    ordered = list(spans)
    held_by = {
        one.span.span_id: holder for one, reading in ordered if (holder := _round(one, reading, lineage)) is not None
    }
    if len({one.span.scope for one, _ in ordered}) > 1:
        held_by |= _beside(ordered, held_by)
    holders = {holder.span.span_id for holder in held_by.values()}
    pieces: dict[str, Work] = {}
    outermost: dict[str, KnownSpan] = {}
    for one, _ in ordered:
        outer = _outermost(one, held_by, outermost)
        work = pieces.setdefault(outer.span.span_id, Work(outer, [], []))
        work.spans.append(one)
        if one.span.span_id not in holders:
            work.inner.append(one)
    for work in pieces.values():
        if not work.inner:  # spans of a faulty agent that hold one another
            work.inner.append(work.outer)
    return list(pieces.values())


def _round(one: KnownSpan, reading: Reading, lineage: Lineage) -> KnownSpan | None:
    """The span round it that saw the same work."""
    above = lineage.above(one)
    if above is None or above.reading is None or above.reading.kind is not reading.kind:
        return None
    if _named_differently(reading, above.reading):
        return None
    if reading.kind is Kind.TOOL and (above.reading.name != reading.name or above.span.scope == one.span.scope):
        return None
    return above


def _named_differently(reading: Reading, other: Reading) -> bool:
    return reading.id is not None and other.id is not None and reading.id != other.id


def _beside(spans: Iterable[tuple[KnownSpan, Reading]], held_by: dict[str, KnownSpan]) -> dict[str, KnownSpan]:
    """The spans beside which one of another instrumentation saw the same work, and that one."""
    found: dict[str, KnownSpan] = {}
    running: dict[object, list[tuple[KnownSpan, Reading]]] = {}  # that may be the outer one, by what must be the same
    taken = {holder.span.span_id for holder in held_by.values()}
    for one, reading in spans:
        same = _mark(reading)
        if same is None or one.span.span_id in held_by:
            continue
        others = [(other, said) for other, said in running.get(same, ()) if other.span.end_ns >= one.span.start_ns]
        for other, said in reversed(others):
            if (
                other.span.scope != one.span.scope
                and other.span.end_ns >= one.span.end_ns
                and other.span.span_id not in taken
                and not _named_differently(reading, said)
            ):
                found[one.span.span_id] = other
                taken.add(other.span.span_id)
                break
        running[same] = [*others[-_COMPARED:], (one, reading)]
    return found


def _mark(reading: Reading) -> object | None:
    """What two spans of one work have in common; None where too little is known to say."""
    if reading.kind is Kind.MODEL:
        tokens = (reading.input_tokens, reading.output_tokens)
        return None if None in tokens else tokens
    return reading.name if reading.kind is Kind.TOOL else None


def _outermost(one: KnownSpan, held_by: dict[str, KnownSpan], known: dict[str, KnownSpan]) -> KnownSpan:
    passed: set[str] = set()
    outer = one
    while (span_id := outer.span.span_id) in held_by and span_id not in passed:
        if span_id in known:
            outer = known[span_id]
            break
        passed.add(span_id)
        outer = held_by[span_id]
    known.update(dict.fromkeys(passed, outer))
    return outer
