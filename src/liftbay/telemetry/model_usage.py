"""The calls of language models and their tokens, from the spans of the calls alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from liftbay.domain.trace import ModelTokens, ModelUsage
from liftbay.telemetry.reading import Reading
from liftbay.telemetry.seen_twice import Work


class _Calls(msgspec.Struct, frozen=True):
    """Calls of one model; tokens are None where they are not known, of a failed call 0."""

    model: str | None
    calls: int
    input_tokens: int | None
    output_tokens: int | None


def usage_of(pieces: Sequence[Work]) -> ModelUsage | None:
    """Sums over the calls; None where there is none.

    A sum is None where a call that did not fail lacks its tokens: what is left would look cheaper than it was. The
    time to the first token is that of the last call that gives one: the call that wrote the answer.
    """
    if not pieces:
        return None
    calls = [one for work in pieces for one in _calls_of(work)]
    by_model: dict[str, list[_Calls]] = {}
    for one in calls:
        if one.model is not None:
            by_model.setdefault(one.model, []).append(one)
    total = _added(calls)
    first_tokens = [found for work in pieces if (found := _first_token(work)) is not None]
    return ModelUsage(
        calls=total.calls,
        input_tokens=total.input_tokens,
        output_tokens=total.output_tokens,
        time_to_first_token_ms=first_tokens[-1] if first_tokens else None,
        by_model={model: _added(of_model) for model, of_model in by_model.items()} or None,
    )


def _added(calls: Iterable[_Calls]) -> ModelTokens:
    calls = list(calls)
    return ModelTokens(
        sum(one.calls for one in calls),
        _sum(one.input_tokens for one in calls),
        _sum(one.output_tokens for one in calls),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


def _calls_of(work: Work) -> list[_Calls]:
    """The innermost spans are the calls; tokens that they leave open those round them may give, for all together."""
    inner = [one.reading for one in work.inner if one.reading is not None]
    calls = [
        _Calls(reading.name, 1, _known(reading, reading.input_tokens), _known(reading, reading.output_tokens))
        for reading in inner
    ]
    if len(inner) == len(work.spans) or all(
        one.model and one.input_tokens is not None and one.output_tokens is not None for one in calls
    ):
        return calls
    within = {one.span.span_id for one in work.inner}
    outer = [one.reading for one in reversed(work.spans) if one.reading is not None and one.span.span_id not in within]
    total = _added(calls)
    return [
        _Calls(
            _first(reading.name for reading in (*reversed(inner), *outer)),
            len(inner),
            _first((total.input_tokens, *(reading.input_tokens for reading in outer))),
            _first((total.output_tokens, *(reading.output_tokens for reading in outer))),
        )
    ]


def _known(reading: Reading, tokens: int | None) -> int | None:
    return 0 if tokens is None and reading.error is not None else tokens


Value = TypeVar("Value")


def _first(values: Iterable[Value | None]) -> Value | None:
    return next((value for value in values if value is not None), None)


def _first_token(work: Work) -> float | None:
    """As the innermost span gives it, which is nearest to the model."""
    return _first(reading.first_token_ms for reading in reversed(work.readings))
