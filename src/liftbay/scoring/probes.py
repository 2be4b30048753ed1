"""Cost and performance values of one episode, read from its turns; a value that is not reported is absent."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from liftbay.domain.episode import Episode, Turn
from liftbay.domain.prices import Prices
from liftbay.domain.trace import EvalTrace
from liftbay.domain.vocabulary import EvalMode
from liftbay.scoring.costs import cost_of

_ReadTrace = Callable[[EvalTrace], float | None]


def _model(field: str) -> _ReadTrace:
    return lambda trace: getattr(trace.model, field) if trace.model else None


# Cost adds up over the turns of a conversation.
_COST: dict[str, _ReadTrace] = {
    "model_calls": _model("calls"),
    "tool_calls": lambda trace: None if trace.tool_calls is None else len(trace.tool_calls),
    "input_tokens": _model("input_tokens"),
    "output_tokens": _model("output_tokens"),
}


def _span(part: str) -> Callable[[Turn], list[float | None]]:
    return lambda turn: [getattr(getattr(turn.trace, part), "latency_ms", None)] if turn.trace else []


def _first_token(turn: Turn) -> list[float | None]:
    """The client's clock; a span's value stands in only where the answer does not stream."""
    if turn.time_to_first_token_ms is not None:
        return [turn.time_to_first_token_ms]
    return [turn.trace.model.time_to_first_token_ms] if turn.trace and turn.trace.model else []


# Performance is per turn, of calls per call.
_PERFORMANCE: dict[str, Callable[[Turn], list[float | None]]] = {
    "time_to_first_token": _first_token,
    "response_latency": lambda turn: [turn.response_latency_ms],
    "intent_latency": _span("perception"),
    "planning_latency": _span("planning"),
    "memory_injection_latency": _span("memory"),
    "retrieval_latency": lambda turn: [found.latency_ms for found in (turn.trace and turn.trace.retrievals) or ()],
    "tool_call_latency": lambda turn: [call.latency_ms for call in (turn.trace and turn.trace.tool_calls) or ()],
    "hot_update_latency": lambda turn: [turn.trace.hot_update_latency_ms] if turn.trace else [],
}


def _both_counted(trace: EvalTrace) -> bool:
    """Whether both kinds of tokens are reported: half of them would make the agent look cheap."""
    return trace.model is not None and None not in (trace.model.input_tokens, trace.model.output_tokens)


def probe_reader(probe: str, prices: Prices | None = None) -> Callable[[Episode, EvalMode], Sequence[float]]:
    """What reads the values of a probe from an episode: one for a cost, one a turn or call for a performance probe.

    `tool_call_latency` is measured in E2E_REAL only: a mock's latency is nobody's.
    """
    if probe in _COST or probe == "cost":
        read = _COST.get(probe) or (lambda trace: cost_of(trace, prices) if _both_counted(trace) else None)

        def cost(episode: Episode, mode: EvalMode) -> Sequence[float]:
            values = [value for turn in episode.turns if turn.trace and (value := read(turn.trace)) is not None]
            return (float(sum(values)),) if values else ()

        return cost
    read_turn = _PERFORMANCE[probe]

    def performance(episode: Episode, mode: EvalMode) -> Sequence[float]:
        if mode is EvalMode.E2E_MOCK and probe == "tool_call_latency":
            return ()
        return [value for turn in episode.turns for value in read_turn(turn) if value is not None]

    return performance
