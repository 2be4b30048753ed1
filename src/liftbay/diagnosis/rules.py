"""The table of rules: from a verdict that falls short to the module at fault.

Of a metric's rules the first that holds counts. A judge errs more often than the trace, so a judged verdict has a
reliability of its own. Conversations and retrieved knowledge need a look at the trace: `conversation_rules` and
`knowledge_rules`; what no verdict says is in `trace_rules`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from liftbay.diagnosis.answers import AnswerState, answer_state, went_wrong
from liftbay.diagnosis.signs import Sign, why
from liftbay.diagnosis.view import KNOWN, View, calls_of, figures_held, gathered_in, stands_in, taken_for_a_skill
from liftbay.domain.blame import Culprit
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import Route
from liftbay.metrics.parameter_mapping_accuracy import CORRECT

When = Callable[[View, Verdict], bool]


class Rule(NamedTuple):
    """Lays a verdict to a module, as surely as `reliability`, or `judged` where a judge decided it."""

    culprit: Culprit
    reliability: float
    when: When | None = None  # None: always
    judged: float | None = None  # None: no judge decides it


def _intent_right(view: View, _: Verdict) -> bool:
    return view.intent_right is True


def _missing_by_the_way(view: View, _: Verdict) -> bool:
    """The message was understood, and the knowledge base asked: the Skill that is missing is the route's doing."""
    return view.intent_right is True and view.route_right is False and view.route is Route.SKILL_MISS


def _skill_forced(view: View, _: Verdict) -> bool:
    """A Skill was hit, which is for the perception to say, where none covers the case."""
    traces = (turn.trace for turn in view.turns)
    return any(trace.perception.skill_hit for trace in traces if trace and trace.perception)


def _taken_for_a_skill(view: View, _: Verdict) -> bool:
    """The case is for no Skill, and the message was taken for one."""
    return not view.wanted & view.skills and bool(set(view.intents or ()) & view.skills)


def _taken_for_another(view: View, _: Verdict) -> bool:
    wanted = view.wanted & view.skills
    return bool(wanted) and view.intents is not None and not wanted & set(view.intents)


def _route_does_not_follow(view: View, _: Verdict) -> bool:
    """What was done does not follow from what was understood: that is not the understanding's."""
    return any(
        (taken_for_a_skill(view, turn) is False and bool(calls_of(turn)))
        or taken_for_a_skill(view, turn) is not (turn.trace.planning.route is Route.SKILL_HIT)
        for turn in view.turns
        if turn.trace
        and turn.trace.planning
        and turn.trace.planning.route
        and taken_for_a_skill(view, turn) is not None
    )


def _looked_up_rightly(view: View, _: Verdict) -> bool:
    """What the reference names was looked up."""
    turn = view.turns[-1]
    return (figures_held(view.case.reference_output, turn, gathered_in(turn)) or 0.0) >= KNOWN


def _call_went_wrong(view: View, _: Verdict) -> bool:
    return any(map(went_wrong, view.calls))


def _decided_nothing(view: View, _: Verdict) -> bool:
    """A Skill's request was understood, and the plan neither calls a tool, nor asks, nor looks anything up."""
    looked = any(turn.trace.retrievals for turn in view.turns if turn.trace)
    understood = any(taken_for_a_skill(view, turn) for turn in view.turns)
    return understood and not view.calls and not looked and bool(view.decision) and "ask" not in view.decision.split()


def _badly_told(view: View, _: Verdict) -> bool:
    """What was looked up is told wrongly, or not at all."""
    return answer_state(view, view.turns[-1]) in (AnswerState.STRAYS, AnswerState.THIN)


def _acted(view: View, _: Verdict) -> bool:
    traces = (turn.trace for turn in view.turns)
    return bool(view.calls) or any(trace.perception.skill_hit for trace in traces if trace and trace.perception)


def _decided_but_not_called(view: View, verdict: Verdict) -> bool:
    missing = _missing(verdict)
    return bool(missing) and all(name in view.decision for name in missing)


def _only_said_before(view: View, verdict: Verdict) -> bool:
    """Whether what the missing call needs was said in an earlier message only."""
    missing, before = _missing(verdict), [message.content or "" for message in view.case.history]
    values = [
        value for tool in view.case.expected_tools or () if tool.name in missing for value in tool.arguments.values()
    ]
    now = [view.case.user_input or ""]
    return any(stands_in(value, before) and not stands_in(value, now) for value in values)


def _call_failed(view: View, _: Verdict) -> bool:
    return any(call.error is not None for call in view.calls)


def _missing(verdict: Verdict) -> set[str]:
    return set(verdict.expected or ()) - set(verdict.actual or ())


_PERCEPTION, _PLANNING, _MEMORY = Culprit.PERCEPTION, Culprit.PLANNING, Culprit.MEMORY
_TOOL, _GENERATION = Culprit.TOOL, Culprit.GENERATION
_UNDERSTOOD = (
    Rule(_PERCEPTION, 0.05, _missing_by_the_way),
    Rule(_PERCEPTION, 0.9, _intent_right),
    Rule(_PERCEPTION, 0.97),
)

RULES: dict[str, tuple[Rule, ...]] = {
    "intent_accuracy": _UNDERSTOOD,
    "intent_recall": _UNDERSTOOD,
    "intent_precision": _UNDERSTOOD,
    "multi_intent_recognition_rate": (Rule(_PERCEPTION, 0.97, judged=0.8),),
    "ambiguity_clarification_rate": (
        Rule(_PERCEPTION, 0.1, _route_does_not_follow, judged=0.1),
        Rule(_PERCEPTION, 0.1, _call_went_wrong, judged=0.1),
        Rule(_PERCEPTION, 0.1, _decided_nothing, judged=0.1),
        Rule(_PERCEPTION, 0.1, _badly_told, judged=0.1),
        Rule(_PERCEPTION, 0.15, _looked_up_rightly, judged=0.15),
        Rule(_PERCEPTION, 0.7, _acted, judged=0.7),
        Rule(_PERCEPTION, 0.3, lambda view, _: view.traced, judged=0.3),
        Rule(_PERCEPTION, 0.7, judged=0.7),
    ),
    "routing_accuracy": (Rule(_PLANNING, 0.93),),
    "fallback_trigger_accuracy": (Rule(_PERCEPTION, 0.93, _skill_forced), Rule(_PLANNING, 0.9)),
    "retrieval_decision_accuracy": (Rule(_PLANNING, 0.93),),
    "tool_decision_accuracy": (
        Rule(_PERCEPTION, 0.9, _taken_for_another),
        Rule(_PERCEPTION, 0.85, _taken_for_a_skill),
        Rule(_PLANNING, 0.93),
    ),
    "tool_call_accuracy": (
        Rule(_PERCEPTION, 0.9, _taken_for_another),
        Rule(_PERCEPTION, 0.85, _taken_for_a_skill),
        Rule(_TOOL, 0.85, _decided_but_not_called),
        Rule(_MEMORY, 0.85, _only_said_before),
        Rule(_TOOL, 0.6, lambda view, verdict: not _missing(verdict) and _call_failed(view, verdict)),
        Rule(_PLANNING, 0.93),
    ),
    "tool_call_success_rate": (Rule(_TOOL, 0.93),),
    "abnormal_input_handling_rate": (
        Rule(_PERCEPTION, 0.05, _route_does_not_follow, judged=0.05),
        Rule(_PERCEPTION, 0.05, _decided_nothing, judged=0.05),
        Rule(_PERCEPTION, 0.1, _badly_told, judged=0.1),
        Rule(_PERCEPTION, 0.1, _call_went_wrong, judged=0.1),
        Rule(_PERCEPTION, 0.1, _looked_up_rightly, judged=0.1),
        Rule(_PERCEPTION, 0.65, _taken_for_a_skill, judged=0.65),
        Rule(_GENERATION, 0.5, lambda view, _: view.traced, judged=0.5),
    ),
    "faithfulness_rate": (Rule(_GENERATION, 0.85, judged=0.85),),
    "instruction_adherence_rate": (Rule(_GENERATION, 0.8, judged=0.8),),
}


def verdict_signs(view: View) -> list[Sign]:
    """What the verdicts of a trial say by the table."""
    signs = []
    for metric, verdict in view.failed.items():
        for rule in RULES.get(metric, ()):
            if rule.when is None or rule.when(view, verdict):
                signs.append(_sign(view, rule, verdict))
                break
    if (arguments := view.failed.get("parameter_mapping_accuracy")) is not None:
        signs += _wrong_arguments(view, arguments)
    return signs


def _sign(view: View, rule: Rule, verdict: Verdict) -> Sign:
    by_judge = verdict.judgement is not None and rule.judged is not None
    return Sign(
        culprit=rule.culprit,
        reliability=rule.judged if by_judge and rule.judged is not None else rule.reliability,
        why=why(verdict.reason or "a judge failed it", expected=verdict.expected, came=_came(verdict)),
        metric=verdict.metric,
        turn=len(view.turns) or 1,
        about=_about(view, verdict),
    )


def _came(verdict: Verdict) -> object:
    actual = verdict.actual
    return actual["tools"] if isinstance(actual, dict) and "tools" in actual else actual


def _about(view: View, verdict: Verdict) -> tuple[tuple[str, str], ...]:
    if verdict.metric in ("tool_call_accuracy", "tool_decision_accuracy"):
        expected, came = set(verdict.expected or ()), set(_came(verdict) or ())  # type: ignore[call-overload]
        return tuple(("tool", name) for name in sorted(expected ^ came) or sorted(expected))
    if verdict.metric == "tool_call_success_rate":
        return tuple(("tool", name) for name in sorted({call.name for call in view.calls if call.success is False}))
    if verdict.metric.startswith("intent_") or verdict.metric == "routing_accuracy":
        return (("mix-up", f"{_label(verdict.expected)} → {_label(verdict.actual)}"),)
    if verdict.metric == "multi_intent_recognition_rate" and isinstance(verdict.expected, list):
        lost = [name for name in verdict.expected if name not in (verdict.actual or ())]
        return tuple(("intent", str(name)) for name in lost)
    return ()


def _label(value: object) -> str:
    if isinstance(value, dict):
        return _label(value.get("skill") or value.get("intent"))
    return "–" if value is None else str(value)


def _wrong_arguments(view: View, verdict: Verdict) -> list[Sign]:
    """One sign for each argument that is not what it should be."""
    before = [message.content or "" for message in view.case.history]
    now = [view.case.user_input or ""]
    values = {
        (tool.name, name): value for tool in view.case.expected_tools or () for name, value in tool.arguments.items()
    }
    made = {(call.name, name): value for call in view.calls for name, value in (call.arguments or {}).items()}
    signs = []
    for call in verdict.actual["calls"]:
        for name, fault in call["arguments"].items():
            if fault == CORRECT:
                continue
            key = call["tool"], name
            said_before = key in values and stands_in(values[key], before) and not stands_in(values[key], now)
            signs.append(
                Sign(
                    culprit=_MEMORY if said_before else _TOOL,
                    reliability=0.85 if said_before else 0.95,
                    why=why(_FAULTS[fault], expected=values.get(key), came=made.get(key)),
                    metric=verdict.metric,
                    turn=len(view.turns) or 1,
                    about=(("argument", f"{call['tool']}.{name}"), ("tool", call["tool"])),
                )
            )
    return signs


_FAULTS = {
    "missing": "an argument is missing",
    "superfluous": "an argument is superfluous",
    "wrong_type": "an argument is of another type",
    "unicode_form": "an argument is in another Unicode form",
    "kana_or_width": "an argument is in another kana or width",
    "wrong_value": "an argument has another value",
}
