"""The EvalTrace that comes with an answer: whole, or in parts that stand here and there in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from liftbay.agents.templates import JsonPath
from liftbay.domain.trace import EvalTrace
from liftbay.errors import AgentProtocol
from liftbay.scoring.impossible_numbers import impossible_number
from liftbay.scoring.merged_trace import merged

TRACE = "trace"
_CALLS = "tool_calls"
_ROOM = 200  # levels
_CALL_KEYS = ("name", "arguments", "success", "result", "error", "latencyMs")


def parts_in(answer: Any, paths: Mapping[str, JsonPath]) -> dict[str, Any]:
    """What stands in an answer at each of the paths, by their names; what is not there is left out."""
    found = {name: path.find(answer) for name, path in paths.items()}
    if found.get(_CALLS) is msgspec.UNSET and _is_message(paths[_CALLS].parent(answer)):
        found[_CALLS] = []  # a message of the OpenAI API has no such key where no tool was called
    return {name: value for name, value in found.items() if value is not msgspec.UNSET}


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and value.get("role") == "assistant"


def trace_of(parts: Mapping[str, Any]) -> EvalTrace | None:
    """The trace that `parts` add up to, None where they say nothing; the whole trace outranks the single parts.

    Raises `AgentProtocol` where they are none.
    """
    whole = parts.get(TRACE)
    if isinstance(whole, dict):
        _refuse_unknown_keys(whole)
    single = _from_parts(parts)
    try:
        trace = merged(
            None if whole is None else msgspec.convert(whole, EvalTrace),
            msgspec.convert(single, EvalTrace) if single else None,
        )
    except msgspec.ValidationError as error:
        raise AgentProtocol("the trace in the answer is not one: {why}", why=error) from None
    _refuse_depth(trace)
    refuse_impossible_numbers(trace)
    return trace


def refuse_impossible_numbers(trace: EvalTrace | None) -> None:
    """Raise `AgentProtocol` for a trace with a number that nothing can have measured."""
    if place := impossible_number(trace):
        raise AgentProtocol("the trace in the answer has an impossible number: {field}", field=place)


def _refuse_depth(trace: Any) -> None:
    """What is too deep to be kept, in a result and from a deeper stack, is the agent's fault and not the run's."""
    for _ in range(_ROOM):
        trace = [trace]
    try:
        msgspec.json.encode(trace)
    except RecursionError:
        raise AgentProtocol("the trace in the answer is nested too deeply") from None


def _refuse_unknown_keys(trace: Mapping[str, Any]) -> None:
    """A key that is misspelt would look as if nothing had been reported."""
    known = {field.encode_name for field in msgspec.structs.fields(EvalTrace)}
    if unknown := sorted(key for key in trace if key not in known):
        raise AgentProtocol(
            "the trace in the answer has unknown keys: {unknown}; known are {known}",
            unknown=", ".join(unknown),
            known=", ".join(sorted(known)),
        )


def _from_parts(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The single parts in the form of a trace."""
    perception: dict[str, Any] = {}
    if "skill" in parts:
        perception |= {"skill": parts["skill"], "skillHit": parts["skill"] is not None}
    if parts.get("skill_version") is not None:
        perception["skillVersion"] = parts["skill_version"]
    if parts.get("intent") is not None:
        perception["intents"] = [parts["intent"]]
    if parts.get("intents") is not None:
        perception["intents"] = parts["intents"]
    tokens = (("inputTokens", parts.get("input_tokens")), ("outputTokens", parts.get("output_tokens")))
    model = {name: value for name, value in tokens if value is not None}
    trace: dict[str, Any] = {}
    if perception:
        trace["perception"] = perception
    if parts.get("route") is not None:
        trace["planning"] = {"route": parts["route"]}
    if model:
        trace["model"] = model
    if _CALLS in parts:
        trace["toolCalls"] = _calls(parts[_CALLS])
    return trace


def _calls(value: Any) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(call, dict) for call in value):
        raise AgentProtocol("the tool calls in the answer are no list of objects")
    return [_call(call) for call in value]


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call in the form of a trace, from this form or that of the OpenAI API."""
    function = call.get("function")
    record = {name: call[name] for name in _CALL_KEYS if name in call}
    if isinstance(function, dict):
        record |= {name: function[name] for name in ("name", "arguments") if name in function}
    if isinstance(text := record.get("arguments"), str):
        record |= _arguments(text)
    return record


def _arguments(text: str) -> dict[str, Any]:
    """The arguments of a call from their JSON text; a model may write what is none, and then the call is broken."""
    try:
        return {"arguments": msgspec.json.decode(text or "{}", type=dict[str, Any])}
    except (msgspec.MsgspecError, RecursionError):
        return {"arguments": {}, "success": False, "error": f"the arguments are no JSON object: {text[:300]}"}
