"""How figures and findings are said, in the language in use; every form of the report says them alike."""

from __future__ import annotations

from collections.abc import Iterable

from liftbay.catalog.metrics import METRICS
from liftbay.catalog.probes import PROBES
from liftbay.catalog.words import text_of
from liftbay.domain.remedy import Fix
from liftbay.domain.verdict import Verdict
from liftbay.language import in_language, language, tr
from liftbay.report.finding import Conclusion, Finding
from liftbay.report.marks import Mark
from liftbay.report.report import Report
from liftbay.scoring.rates import Rate

_FIX = {
    "skill_text": "the texts of the Skills",
    "planning_prompt": "the prompt that plans",
    "tool_schema": "the tools' schemas and descriptions",
    "mcp_tool": "the MCP tools themselves",
    "retrieval": "retrieval",
    "memory_window": "the memory window",
    "answer_prompt": "the prompt that words the answer",
}

_ADVICE = {
    "intent_accuracy": "Another intent is recognised than the user has: set the Skills' descriptions apart.",
    "intent_recall": "Requests that a Skill should take are not recognised as its own: add the ways in which "
    "users ask.",
    "intent_precision": "Requests go to a Skill that should not take them: narrow its description, and name what it "
    "does not cover.",
    "fallback_trigger_accuracy": "A Skill is forced on questions that none covers: say in its text where it ends and "
    "the knowledge base begins.",
    "multi_intent_recognition_rate": "Parts of compound requests are lost: have a request taken apart before a Skill "
    "is chosen.",
    "ambiguity_clarification_rate": "Unclear requests are answered without asking back: say when a question comes "
    "first.",
    "routing_accuracy": "The way that is taken is not the expected one: make the choice between Skill and knowledge "
    "base explicit.",
    "tool_decision_accuracy": "Tools of another kind are called: set the tools' descriptions apart.",
    "retrieval_decision_accuracy": "No search is made where only the knowledge base can answer: ask for one before "
    "an answer.",
    "short_term_retention_rate": "What earlier turns said is missing from later answers: widen the window, or carry "
    "over what was confirmed.",
    "memory_decay_curve": "Retention falls as the dialogue grows: see at which round, and widen the window or "
    "summarise what leaves it.",
    "retrieval_precision": "Passages come back that do not concern the question: raise the bar of the score, split "
    "documents finer, or rank again.",
    "retrieval_recall": "Expected points are missing from the answers: see whether the passages hold them; if so, the "
    "prompt of the answer drops them.",
    "tool_load_success_rate": "MCP servers or Skills do not load: see their start and their settings.",
    "tool_call_accuracy": "Expected tools are not called, or others are: say in each description when the tool is for "
    "use.",
    "tool_call_success_rate": "Calls fail: see the errors that the tools return.",
    "parameter_mapping_accuracy": "Arguments are wrong: describe each parameter with its form, unit and an example.",
    "instruction_adherence_rate": "Required forms are not kept: put them last in the prompt, with an example.",
    "faithfulness_rate": "Answers say what no source says: bind the answer to its sources, and allow it not to know.",
    "abnormal_input_handling_rate": "Odd input is not handled: say what to answer to empty, broken or hostile input.",
}


_MARKS = {
    "passed": "● passed",
    "failed": "✕ failed",
    "excluded": "◌ excluded",
    "error": "△ broken",
}

_FAULTS = {
    "missing": "missing",
    "superfluous": "superfluous",
    "wrong_type": "another type",
    "unicode_form": "another Unicode form",
    "kana_or_width": "kana or width",
    "wrong_value": "another value",
}


def mark_text(mark: Mark) -> str:
    """A mark with its word."""
    return tr(_MARKS[mark.value])


def failure_text(reason: str) -> str:
    """Why a metric failed: a reason, or what is wrong with an argument."""
    place, _, fault = reason.rpartition(": ")
    return f"{place}: {tr(_FAULTS[fault])}" if place and fault in _FAULTS else in_language(reason)


def percent(share: float | None) -> str:
    """A share as a percentage."""
    return "–" if share is None else f"{share * 100:.1f}"


def rate_text(rate: Rate) -> str:
    """A rate with its interval."""
    if rate.value is None:
        return "–"
    return f"{percent(rate.value)} ({percent(rate.low)}–{percent(rate.high)})"


def metric_name(id_: str) -> str:
    """A metric's name as tables of the terminal show it: the id, which options take, or the Japanese name."""
    return METRICS[id_].name.ja if language() == "ja" and id_ in METRICS else id_


def full_name(id_: str) -> str:
    """The name of a metric or probe for reading."""
    if id_ in METRICS:
        return text_of(METRICS[id_].name)
    return text_of(PROBES[id_].name) if id_ in PROBES else id_


def pass_sentence(report: Report) -> str:
    """The answer first: how many pass."""
    rate = report.pass_rate
    if rate.value is None:
        return tr("No case could be decided.")
    return tr(
        "{percent} % of the decided cases pass ({low}–{high}).",
        percent=percent(rate.value),
        low=percent(rate.low),
        high=percent(rate.high),
    )


def cause_sentence(conclusion: Conclusion) -> str:
    """Then what stands out, or that nothing does, or that nobody can tell."""
    if not conclusion.findings:
        return _nothing_found(conclusion)
    first = conclusion.findings[0]
    said = tr("Look first at {what}: {metric} is at {rate} %.", what=fix_name(first), **_figures(first))
    points = first.association.points
    if points is None or points < 0.005:
        return said
    more = tr("{points} points of the pass rate go together with it.", points=percent(points))
    return sentences([said, more])


def _nothing_found(conclusion: Conclusion) -> str:
    if conclusion.doubtful:
        first = conclusion.doubtful[0]
        return tr("No fault is certain; {metric} may be one, at {rate} %.", **_figures(first))
    if not conclusion.healthy:
        return tr("Too little was decided to say what to fix.")
    if conclusion.failed:
        return tr("No module stands out: what fails is not explained by the metrics that were decided.")
    return tr("Nothing stands out.")


def _figures(finding: Finding) -> dict[str, str]:
    return {"metric": full_name(finding.metric), "rate": rate_text(finding.rate)}


def fix_name(finding: Finding) -> str:
    """What a finding says should be changed."""
    return fix_text(finding.fix)


def fix_text(fix: Fix) -> str:
    """What is to be changed."""
    return tr(_FIX[fix])


def advice(finding: Finding) -> str:
    """What is wrong, and what to do."""
    return tr(_ADVICE[finding.metric])


def grounds(finding: Finding) -> list[str]:
    """The figures that a finding rests on, a sentence each."""
    found = [
        tr(
            "{metric}: {rate} %, {failed} of {n} failed.",
            failed=count_text(finding.failed),
            n=finding.rate.n,
            **_figures(finding),
        )
    ]
    if finding.most_often:
        found.append(tr("Most often: {what}.", what=failure_text(finding.most_often)))
    association = finding.association
    failing, right = association.where_failed.value, association.where_right.value
    if association.tells and failing is not None and right is not None and failing >= right:
        found.append(tr("Cases pass as often where it fails: it is not what decides them."))
    elif association.tells:
        found.append(
            tr(
                "Where it fails, {failed} % of the cases pass; where it does not, {right} % (no proof of a cause).",
                failed=percent(failing),
                right=percent(right),
            )
        )
    if finding.also:
        found.append(tr("The same shows in: {metrics}.", metrics=joined(map(full_name, finding.also))))
    return found


def unexplained(conclusion: Conclusion) -> str | None:
    """How many failures no metric explains."""
    if not conclusion.unexplained:
        return None
    return tr(
        "In {count} of {failed} failed trials none of these metrics failed: read their cases.",
        count=conclusion.unexplained,
        failed=conclusion.failed,
    )


def joined(names: Iterable[str]) -> str:
    """A list in a sentence."""
    return ("、" if language() == "ja" else ", ").join(names)


def sentences(said: Iterable[str]) -> str:
    """Sentences one after another."""
    return ("" if language() == "ja" else " ").join(said)


def count_text(count: float) -> str:
    """A count that a ratio may make not quite whole."""
    return f"{round(count, 1):g}"


def figure(value: float | None) -> str:
    """A measured value with as many digits as one reads."""
    if value is None:
        return "–"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 1 else f"{value:.3g}"


def reason_of(verdict: Verdict) -> str:
    """Why a verdict is what it is, in one line: the reason, and the judge's reasoning where it says more."""
    said = [in_language(verdict.reason)] if verdict.reason else []
    reasoning = verdict.judgement.reasoning if verdict.judgement else ""
    if reasoning and reasoning != verdict.reason:
        said.append(reasoning)
    lost = [item for item in verdict.items if not item.passed]
    said += [f"{item.label}: {item.reasoning}" if item.reasoning else item.label for item in lost]
    return " · ".join(" ".join(one.split()) for one in said)
