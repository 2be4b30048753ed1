"""Why two runs differ, in sentences; every form says them alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

from liftbay.catalog.metrics import METRICS
from liftbay.diagnosis.explanation import Change, Course, Explanation, LatencyPart, Part, ProbeChange
from liftbay.diagnosis.groups import Group
from liftbay.domain.blame import Culprit
from liftbay.domain.vocabulary import Module
from liftbay.language import tr
from liftbay.report.blame_words import culprit_name, group_grounds, group_name
from liftbay.report.wording import fix_text, full_name, joined, sentences

_MOSTLY = 0.6  # of a part's flips: then the metric that saw them names it
_WHOLE_POINTS = 0.05  # a change of five points or more is said without decimals

# What is wrong where this metric fails, in a word or two.
_FAULTS = {
    "intent_accuracy": "intent recognition",
    "intent_recall": "requests that no Skill takes up",
    "intent_precision": "requests that the wrong Skill takes up",
    "multi_intent_recognition_rate": "missed intents",
    "ambiguity_clarification_rate": "unclear requests",
    "fallback_trigger_accuracy": "the fallback to the knowledge base",
    "routing_accuracy": "routing",
    "tool_decision_accuracy": "the choice of tools",
    "retrieval_decision_accuracy": "searches that are not made",
    "short_term_retention_rate": "lost memory",
    "memory_decay_curve": "lost memory",
    "retrieval_precision": "irrelevant passages",
    "retrieval_recall": "missing knowledge",
    "tool_load_success_rate": "tools that do not load",
    "tool_call_accuracy": "tool calls",
    "tool_call_success_rate": "failing tools",
    "parameter_mapping_accuracy": "tool arguments",
    "instruction_adherence_rate": "the form of the answer",
    "faithfulness_rate": "made-up answers",
}


def part_name(part: Part) -> str:
    """What a part is, in a word: by the metric of the module that sees most of it, else by the module."""
    metric = next(iter(part.metrics), None)
    if metric not in _FAULTS or _culprit_of(metric) != part.culprit:
        return culprit_name(part.culprit)
    mostly = part.metrics[metric] >= _MOSTLY * (part.lost + part.gained)
    return tr(_FAULTS[metric]) if mostly else culprit_name(part.culprit)


def _culprit_of(metric: str) -> str:
    """What the metric is about; one of the whole agent's that has a name here is about the answer."""
    module = METRICS[metric].module
    return Culprit.GENERATION if module is Module.END_TO_END else module.value


def stage_name(part: LatencyPart) -> str:
    """A stage of a turn."""
    return tr("the rest: the model's answer, and the way there") if part.probe is None else full_name(part.probe)


def apportioned(values: Sequence[float], total: float, decimals: int) -> list[float]:
    """The values rounded so that they add up to the rounded total: what was cut off most goes up."""
    scale = 10**decimals
    units = [math.floor(value * scale) for value in values]
    missing = round(total * scale) - sum(units)
    order = sorted(range(len(values)), key=lambda at: units[at] - values[at] * scale)
    for step in range(abs(missing)) if values else ():
        at = order[step % len(order)] if missing > 0 else order[-1 - step % len(order)]
        units[at] += 1 if missing > 0 else -1
    return [unit / scale for unit in units]


def signed(value: float, decimals: int = 1) -> str:
    """A number with its sign; zero has none."""
    text = f"{value:+.{decimals}f}"
    return text[1:] if float(text) == 0 else text


def points_text(change: Change) -> str:
    """A change of the pass rate in points, with its interval."""
    return f"{signed(change.value * 100)} ({signed(change.low * 100)} … {signed(change.high * 100)})"


def summary(explanation: Explanation) -> str:
    """All that matters, in a few sentences."""
    said = [whole_sentence(explanation)]
    if explanation.improved:
        said.append(
            tr(
                "The modules moved against each other: {better} became better, {worse} worse.",
                better=joined(map(culprit_name, explanation.improved)),
                worse=joined(map(culprit_name, explanation.worsened)),
            )
        )
    if explanation.apart.became_undecided.trials:
        said.append(
            tr(
                "{count} trials became undecided and are in no figure here.",
                count=explanation.apart.became_undecided.trials,
            )
        )
    if explanation.groups and explanation.course is Course.WORSE:
        largest = explanation.groups[0]
        said.append(common_sentence(explanation, largest))
        if largest.fix is not None:
            said.append(tr("Remedy: {what}.", what=fix_text(largest.fix)))
    if (cost := _cost_sentence(explanation)) is not None:
        said.append(cost)
    return sentences(said)


def whole_sentence(explanation: Explanation) -> str:
    """What the pass rate did, and its parts."""
    change, base, head = explanation.change, explanation.base, explanation.head
    if change is None or base is None or head is None:
        return tr("Nothing can be compared: no trial is in both runs and decided in both.")
    what = tr("the pass rate") if explanation.metric is None else full_name(explanation.metric)
    what = what[:1].upper() + what[1:]
    decimals = 0 if abs(change.value) >= _WHOLE_POINTS else 1
    before, after = (round(rate * 100, decimals) for rate in (base, head))
    rates = {"what": what, "base": f"{before:.{decimals}f}", "head": f"{after:.{decimals}f}"}
    parts = joined(_parts(explanation.parts, after - before, decimals))
    if explanation.course is Course.WORSE:
        return tr("{what} fell from {base} % to {head} %: {parts}.", parts=parts, **rates)
    if explanation.course is Course.BETTER:
        return tr("{what} rose from {base} % to {head} %: {parts}.", parts=parts, **rates)
    if explanation.course is Course.SAME:
        return tr("{what} stayed at {base} %: not one of {n} trials flipped.", n=explanation.n, **rates)
    flips = {"lost": explanation.lost, "gained": explanation.gained, "points": points_text(change)}
    if explanation.course is Course.OSCILLATES:
        return tr(
            "{what} merely oscillates between {base} % and {head} %: {lost} trials were lost and {gained} won, and the "
            "change of {points} points cannot be told from chance.",
            **rates,
            **flips,
        )
    return tr(
        "{what} went from {base} % to {head} %: {lost} trials were lost and {gained} won, and the change of {points} "
        "points cannot be told from chance.",
        **rates,
        **flips,
    )


def common_sentence(explanation: Explanation, group: Group) -> str:
    """What lost trials have in common."""
    return tr(
        "{count} of the {lost} lost trials have in common ({module}): {common}.",
        lost=explanation.lost,
        count=group.trials,
        module=culprit_name(group.culprit),
        common=group_name(group),
    )


def group_sentence(explanation: Explanation, group: Group) -> str:
    """The same with where it shows, the remedy and examples."""
    return sentences([common_sentence(explanation, group), group_grounds(group, explanation.scene_names)])


def _parts(parts: Sequence[Part], total: float, decimals: int) -> list[str]:
    """The parts of a change in words, those in its direction first; the figures add up to the total."""
    sign = -1 if total < 0 else 1
    figures = apportioned([part.change.value * 100 for part in parts], total, decimals)
    listed = sorted(zip(parts, figures, strict=True), key=lambda one: (-(one[1] * sign > 0), one[0].culprit is None))
    said = []
    for part, figure in listed:
        if not figure:
            continue
        values = {"points": f"{abs(figure):.{decimals}f}", "total": f"{abs(total):.{decimals}f}"}
        if figure * sign < 0:
            said.append(tr("{fault} goes the other way by {points}", fault=part_name(part), **values))
        elif part.culprit is None and said:
            said.append(tr("{points} unexplained", **values))
        elif part.culprit is None:
            said.append(tr("{points} of the {total} points are unexplained", **values))
        elif figure == total:
            named = {"fault": part_name(part), "range": _range(part, sign)}
            said.append(tr("all {total} points are {fault} ({range})", **named, **values))
        elif said:
            said.append(tr("{points} are {fault} ({range})", range=_range(part, sign), fault=part_name(part), **values))
        else:
            said.append(
                tr(
                    "{points} of the {total} points are {fault} ({range})",
                    range=_range(part, sign),
                    fault=part_name(part),
                    **values,
                )
            )
    return said


def _range(part: Part, sign: int) -> str:
    """The interval of a part in the direction of the whole."""
    low, high = sorted(sign * 100 * end for end in (part.change.low, part.change.high))
    decimals = 0 if high >= _WHOLE_POINTS * 100 else 1
    between = "–" if low >= 0 else " … "
    return f"{low:.{decimals}f}{between}{high:.{decimals}f}"


def _cost_sentence(explanation: Explanation) -> str | None:
    """What became dearer or slower beyond doubt; said as the difference where quality tells nothing."""
    clear = [probe for probe in explanation.probes if probe.change.clear and probe.base > 0]
    if not clear:
        return None
    probes = joined(f"{full_name(one.probe)} {relative(one)}" for one in clear)
    if explanation.equal_quality:
        return tr("Quality is not told apart, but this is: {probes}.", probes=probes)
    return tr("Cost and time: {probes}.", probes=probes)


def relative(probe: ProbeChange) -> str:
    """How much a probe changed, in per cent of the base."""
    return f"{signed(probe.change.value / probe.base * 100, 0)} %" if probe.base > 0 else "–"
