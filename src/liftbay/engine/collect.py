"""Bring together what the answers, the spans and the tool interceptor say of one trial."""

from __future__ import annotations

import msgspec

from liftbay.domain.episode import Episode, Turn
from liftbay.ports import TraceSource, TurnSpans
from liftbay.scoring.merged_trace import merged


async def collect(episode: Episode, traces: TraceSource) -> Episode:
    """The episode with the spans of its turns, as soon as they are all there or waiting is over.

    What a span says outranks what the answer itself says.
    """
    found = await traces.collect(episode.session_id)
    turns = [
        _with_spans(turn, found[number]) if number < len(found) else turn for number, turn in enumerate(episode.turns)
    ]
    spans = [span for one in found for span in one.spans]
    return msgspec.structs.replace(episode, turns=turns, spans=spans)


def _with_spans(turn: Turn, found: TurnSpans) -> Turn:
    if found.trace is None:
        return turn
    trace_id = found.spans[0].trace_id if found.spans else turn.trace_id
    return msgspec.structs.replace(turn, trace=merged(found.trace, turn.trace), trace_id=trace_id)
