"""Every figure of a report, worked out anew from the records of the cases and the agent's script.

Plain code over plain data, which shares nothing with liftbay: it is what the reports are held against.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from scope_tables import FEEDS, MAIN, MAIN_OF_SCOPE, METRICS_OF_SCOPE, PROBES_OF_SCOPE

Record = dict[str, Any]
FAULTS = {
    "timeout": "the trial did not finish: timeout",
    "crash": "the trial did not finish: the agent crashed",
    "protocol": "the trial did not finish: the answer could not be understood",
    "unreachable": "the trial did not finish: the agent could not be reached",
}
NO_JUDGE = ("ERROR", "no judge configured")
MODULE_METRICS = {  # those of no module are end to end
    "intent_accuracy",
    "intent_recall",
    "intent_precision",
    "multi_intent_recognition_rate",
    "fallback_trigger_accuracy",
    "routing_accuracy",
    "tool_decision_accuracy",
    "retrieval_decision_accuracy",
    "tool_call_accuracy",
    "parameter_mapping_accuracy",
    "tool_call_success_rate",
    "tool_load_success_rate",
}


@dataclass
class Figures:
    """What one metric comes to."""

    passes: float = 0
    size: float = 0
    shares: float = 0
    measured: int = 0
    applicable: int = 0
    reasons: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, status: str, detail: Any) -> None:
        """Count one verdict: PASS, FAIL, SCORE with (n, m), or another with its reason."""
        if status == "NOT_APPLICABLE":
            self.reasons[status][detail] += 1
            return
        self.applicable += 1
        if status in ("EXCLUDED", "ERROR"):
            self.reasons[status][detail] += 1
            return
        n, m = detail if status == "SCORE" else (status == "PASS", 1)
        self.passes += n
        self.size += m
        self.shares += n / m
        self.measured += 1


@dataclass
class ByHand:
    """All that a report should say of a scope."""

    metrics: dict[str, Figures] = field(default_factory=lambda: defaultdict(Figures))
    by_dataset: dict[tuple[str, str], Figures] = field(default_factory=lambda: defaultdict(Figures))
    main: Figures = field(default_factory=Figures)
    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    undecided: Counter[str] = field(default_factory=Counter)
    probes: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    lucky: set[str] = field(default_factory=set)
    whether_to_call: list[bool] = field(default_factory=list)
    mocked: list[bool] = field(default_factory=list)
    answered_turns: int = 0


def traces_of(did: Record) -> list[Record | None]:
    """The traces of the rounds that were answered."""
    rounds: list[Record | None] = did["rounds"]
    return rounds if did["fault"] is None else rounds[: did["faultyRound"] - 1]


def reported_parts(cases: list[Record], script: dict[str, Record]) -> set[str]:
    """What at least one trace reports."""
    found = set()
    for case in cases:
        for trace in traces_of(script[case["id"]]):
            for part, value in (trace or {}).items():
                found.add(part)
                if isinstance(value, dict):
                    found |= {f"{part}.{name}" for name, inner in value.items() if inner is not None}
    return found


def by_hand(scope: str, cases: list[Record], script: dict[str, Record]) -> ByHand:
    """The figures of a scope over the cases of its dataset types."""
    covered = [case for case in cases if (scope, case["datasetType"]) in MAIN]
    reported = reported_parts(covered, script)
    found = ByHand()
    for case in covered:
        _add_case(found, scope, case, script[case["id"]], reported)
    return found


def _add_case(found: ByHand, scope: str, case: Record, did: Record, reported: set[str]) -> None:
    dataset_type = case["datasetType"]
    verdicts = {name: _verdict(name, case, did, reported) for name in _fed(dataset_type, METRICS_OF_SCOPE[scope])}
    mocked = case.get("evalMode") == "E2E_MOCK"
    for name, (status, detail) in verdicts.items():
        if name == "tool_call_success_rate" and mocked and status == "SCORE":
            found.mocked += [True] * detail[0] + [False] * (detail[1] - detail[0])
            continue
        found.metrics[name].add(status, detail)
        found.by_dataset[name, dataset_type].add(status, detail)
    main, _ = MAIN[scope, dataset_type]
    status, detail = verdicts[main]
    if main == MAIN_OF_SCOPE[scope]:
        found.main.add(status, detail)
    outcome = {"PASS": "passed", "FAIL": "failed"}.get(status, "undecided")
    calls = ((did["rounds"][-1] or {}).get("toolCalls")) if did["fault"] is None else None
    if dataset_type == "TOOL_CALL" and calls is not None:
        right = bool(calls) == bool(case["expectedTools"])
        found.whether_to_call.append(right)
        if main == "tool_decision_accuracy" and not calls:
            outcome = "passed" if right else "failed"
    found.outcomes[dataset_type][outcome] += 1
    if outcome == "undecided":
        found.undecided[FAULTS[did["fault"]] if did["fault"] else detail] += 1
    failed = {name for name, verdict in verdicts.items() if name != main and _falls_short(verdict)}
    if mocked:
        failed.discard("tool_call_success_rate")
    if outcome == "passed" and failed & MODULE_METRICS:
        found.lucky.add(case["id"])
    _add_probes(found, scope, did, mocked)


def _falls_short(verdict: tuple[str, Any]) -> bool:
    status, detail = verdict
    return status == "FAIL" or (status == "SCORE" and detail[0] < detail[1])


def _fed(dataset_type: str, metrics: set[str]) -> list[str]:
    return [name for name in metrics if name in FEEDS[dataset_type] or name == "tool_load_success_rate"]


def _add_probes(found: ByHand, scope: str, did: Record, mocked: bool) -> None:
    traces = [trace for trace in traces_of(did) if trace is not None]
    found.answered_turns += len(traces_of(did))
    models = [trace["model"] for trace in traces if "model" in trace]
    values: dict[str, list[float]] = {
        "model_calls": [sum(model["calls"] for model in models)] if models else [],
        "input_tokens": [sum(model["inputTokens"] for model in models)] if models else [],
        "output_tokens": [sum(model["outputTokens"] for model in models)] if models else [],
        "time_to_first_token": [model["timeToFirstTokenMs"] for model in models],
        "intent_latency": [trace["perception"]["latencyMs"] for trace in traces if "perception" in trace],
        "planning_latency": [trace["planning"]["latencyMs"] for trace in traces if "planning" in trace],
        "memory_injection_latency": [trace["memory"]["latencyMs"] for trace in traces if "memory" in trace],
        "retrieval_latency": [one["latencyMs"] for trace in traces for one in trace.get("retrievals", ())],
        "tool_call_latency": [one["latencyMs"] for trace in traces for one in trace.get("toolCalls", ()) if not mocked],
    }
    counts = [len(trace["toolCalls"]) for trace in traces if "toolCalls" in trace]
    values["tool_calls"] = [sum(counts)] if counts else []
    for probe in PROBES_OF_SCOPE[scope]:
        found.probes[probe] += values.get(probe, [])


def _verdict(  # noqa: PLR0911, PLR0912 - one metric after another
    name: str, case: Record, did: Record, reported: set[str]
) -> tuple[str, Any]:
    if name == "abnormal_input_handling_rate":
        return ("FAIL", None) if did["fault"] or not did["text"].strip() else NO_JUDGE
    if did["fault"]:
        return "EXCLUDED", FAULTS[did["fault"]]
    trace = did["rounds"][-1] or {}

    def gap(part: str, reason: str) -> tuple[str, Any]:
        return ("ERROR", "trace incomplete") if part in reported else ("NOT_APPLICABLE", reason)

    perceived = trace.get("perception") or {}
    skill_known = perceived.get("skill") is not None or perceived.get("skillHit") is False
    route = (trace.get("planning") or {}).get("route")
    calls = trace.get("toolCalls")
    match name:
        case "plan_path_score":
            return "NOT_APPLICABLE", "a person scores this"
        case "intent_accuracy":
            if "intents" not in perceived:
                return gap("perception.intents", "the trace reports no intents")
            right = perceived["intents"][0] == case["expectedIntent"]
            return _pass(right and case["expectedSkill"] in (None, perceived["skill"]))
        case "intent_recall":
            if case["expectedSkill"] is None:
                return "NOT_APPLICABLE", "no Skill should take the case"
            if not skill_known:
                return gap("perception.skill", "the trace does not report the Skill")
            return _pass(perceived["skill"] == case["expectedSkill"])
        case "intent_precision":
            if not skill_known:
                return gap("perception.skill", "the trace does not report the Skill")
            if perceived["skill"] is None:
                return "NOT_APPLICABLE", "the request was not recognised as a Skill"
            return _pass(perceived["skill"] == case["expectedSkill"])
        case "multi_intent_recognition_rate":
            if "intents" not in perceived:
                return gap("perception.intents", "the trace reports no intents")
            return _pass(set(case["expectedIntents"]) <= set(perceived["intents"]))
        case "routing_accuracy" | "fallback_trigger_accuracy":
            if route is None:
                return gap("planning.route", "the trace reports no route")
            return _pass(route == case["expectedRoute"])
        case "retrieval_decision_accuracy":
            if "retrievals" not in trace:
                return gap("retrievals", "the trace reports no retrievals")
            return _pass(len(trace["retrievals"]) > 0)
        case "faithfulness_rate" | "retrieval_precision" | "retrieval_recall":
            if route == "SKILL_HIT":
                return "EXCLUDED", "routing fault"
            if name != "faithfulness_rate" and trace.get("retrievals") == []:
                return "EXCLUDED", "no retrieval was made"
            return NO_JUDGE
        case "tool_load_success_rate":
            rounds = [(one or {}).get("toolLoads") for one in did["rounds"]]
            loads = [load for part in rounds for load in part or ()]
            if not loads:
                return gap("toolLoads", "the trace reports no loading")
            return "SCORE", (sum(load["success"] for load in loads), len(loads))
        case "tool_call_accuracy" | "tool_decision_accuracy" | "tool_call_success_rate" | "parameter_mapping_accuracy":
            return _tool_verdict(name, case["expectedTools"], calls, gap)
    return NO_JUDGE


def _tool_verdict(  # noqa: PLR0911
    name: str, expected: list[Record], calls: list[Record] | None, gap: Any
) -> tuple[str, Any]:
    wanted = [tool["name"] for tool in expected]
    if name == "parameter_mapping_accuracy" and not wanted:
        return "NOT_APPLICABLE", "the case expects no tool call"
    if calls is None:
        answer: tuple[str, Any] = gap("toolCalls", "the trace reports no tool calls")
        return answer
    called = [call["name"] for call in calls]
    match name:
        case "tool_call_accuracy":
            return _pass(sorted(called) == sorted(wanted))
        case "tool_decision_accuracy":
            return _pass(set(called) <= set(wanted)) if called else ("NOT_APPLICABLE", "no tool was called")
        case "tool_call_success_rate":
            if not called:
                return ("EXCLUDED" if wanted else "NOT_APPLICABLE"), "no tool was called"
            return "SCORE", (sum(call["success"] for call in calls), len(calls))
    if not set(called) & set(wanted):
        return "EXCLUDED", "the expected tool was not called"
    right = any(call["name"] == "search" and call["arguments"] == expected[0]["arguments"] for call in calls)
    return "SCORE", (int(right), 1)  # the script's cases expect one call at most


def _pass(right: bool) -> tuple[str, None]:
    return ("PASS" if right else "FAIL"), None
