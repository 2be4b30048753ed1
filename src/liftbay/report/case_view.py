"""One trial as plain data for a page: what was expected beside what happened, with the differences found out here.

Long texts are cut with a mark; what was left out is counted.
"""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from liftbay.domain.blame import Blame
from liftbay.domain.case import Case, ExpectedTool
from liftbay.domain.episode import Turn
from liftbay.domain.result import CaseResult
from liftbay.domain.trace import EvalTrace, ToolCallRecord
from liftbay.domain.verdict import JudgedItem, Verdict
from liftbay.language import in_language
from liftbay.report.blame_words import candidate_text
from liftbay.report.marks import mark_of
from liftbay.scoring.alignment import take_pairs
from liftbay.scoring.matchers import argument_results

View = dict[str, Any]
_LISTED = 40  # of anything: chunks, calls, turns


class Cutter:
    """Cuts texts to a length and lists to 40, and counts what is left out."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.characters = 0
        self.items = 0

    def text(self, text: str) -> str:
        """The text, or its beginning and a mark."""
        if len(text) <= self.length:
            return text
        left_out = len(text) - self.length
        self.characters += left_out
        return f"{text[: self.length]}… (+{left_out:,})"

    def value(self, value: Any) -> str | None:
        """A JSON value as text; None stays None."""
        if value is None:
            return None
        return self.text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))

    def some(self, items: list[Any]) -> list[Any]:
        """The first of the items."""
        self.items += max(0, len(items) - _LISTED)
        return items[:_LISTED]


def case_view(result: CaseResult, blame: Blame, cut: Cutter) -> View:
    """The trial; keys without a value are left out."""
    case, episode = result.case, result.episode
    seen: View = {
        "id": case.id,
        "type": case.dataset_type.value,
        "trial": result.trial,
        "scene": case.scene_name or case.scene_code,
        "mode": case.eval_mode.value,
        "mark": mark_of(result).value,
        "main": result.main_metric,
        "history": [{"role": one.role, "text": cut.text(one.content or "")} for one in cut.some(case.history)],
        "turns": [_turn(case, turn, cut) for turn in cut.some(episode.turns)],
        "reference": cut.value(case.reference_output),
        "fault": episode.fault and {"kind": episode.fault.kind.value, "message": cut.text(episode.fault.message)},
        "tries": episode.tries if episode.tries > 1 else None,
        "compared": _compared(result),
        "tools": _tools(result, cut),
        "chunks": _chunks(result, cut),
        "points": _points(result, cut),
        "blame": [[one.culprit.value, candidate_text(one)] for one in blame.candidates],
        "verdicts": [_verdict(one, cut) for one in result.verdicts],
    }
    if cut.characters or cut.items:
        seen["cut"] = [cut.characters, cut.items]
    return _filled(seen)


def _turn(case: Case, turn: Turn, cut: Cutter) -> View:
    asked = next((one for one in case.rounds if one.round == turn.round), None)
    trace = turn.trace
    return _filled(
        {
            "round": turn.round,
            "user": cut.text(turn.user_input),
            "answer": cut.value(turn.answer),
            "ms": turn.response_latency_ms,
            "firstMs": turn.time_to_first_token_ms,
            "refers": (asked and asked.refers_to) or None,
            "keywords": [[word, _contains(turn.answer, word)] for word in (asked.expected_contains if asked else ())],
            "reference": cut.value(asked.reference_output) if asked and case.conversation_chain else None,
            "steps": _steps(trace) if trace else None,
        }
    )


def _contains(answer: str | None, word: str) -> bool:
    return _normal(word) in _normal(answer or "")


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _steps(trace: EvalTrace) -> list[list[Any]]:
    """What the agent did in one turn: module, what came out, milliseconds."""
    steps: list[list[Any]] = []
    if (perceived := trace.perception) is not None:
        said = [*(perceived.intents or ()), *filter(None, (perceived.skill, perceived.skill_version))]
        steps.append(["perception", " · ".join(said) or "–", perceived.latency_ms])
    if (planned := trace.planning) is not None:
        said = [*filter(None, (planned.route and planned.route.value, planned.decision))]
        steps.append(["planning", " · ".join(said) or "–", planned.latency_ms])
    if (memory := trace.memory) is not None:
        steps.append(["memory", "–" if memory.rounds is None else f"× {memory.rounds}", memory.latency_ms])
    steps += [
        ["memory", f"RAG × {'–' if one.count is None else one.count}", one.latency_ms]
        for one in (trace.retrievals or ())[:_LISTED]
    ]
    steps += [["tool", call.name, call.latency_ms] for call in (trace.tool_calls or ())[:_LISTED]]
    if (model := trace.model) is not None:
        tokens = [f"{count:,}" if count is not None else "–" for count in (model.input_tokens, model.output_tokens)]
        steps.append(["generation", f"{' → '.join(tokens)} tokens", None])
    return steps


def _compared(result: CaseResult) -> list[list[Any]]:
    """What was expected beside what came: name, expected, actual, whether they agree (None: nobody can say)."""
    case, trace = result.case, _last_trace(result)
    perceived = trace.perception if trace else None
    skill = perceived.skill if perceived and perceived.skill_hit is not False else None
    planned = trace.planning if trace else None
    intents = (perceived.intents if perceived else None) or []
    rows: list[list[Any]] = []
    if case.expected_skill is not None or skill is not None:
        rows.append(["skill", case.expected_skill, skill, _agree(case.expected_skill, skill, perceived)])
    if case.expected_route is not None or (planned and planned.route):
        route = planned.route.value if planned and planned.route else None
        expected = case.expected_route.value if case.expected_route else None
        rows.append(["route", expected, route, _agree(expected, route, route)])
    if case.expected_intent is not None or intents:
        first = intents[0] if intents else None
        rows.append(["intent", case.expected_intent, first, _agree(case.expected_intent, first, perceived)])
    if case.expected_intents is not None:
        all_there = set(case.expected_intents) <= set(intents) if perceived else None
        rows.append(["intents", ", ".join(case.expected_intents), ", ".join(intents) or None, all_there])
    return rows


def _agree(expected: str | None, actual: str | None, reported: object) -> bool | None:
    return None if expected is None or reported is None else expected == actual


def _tools(result: CaseResult, cut: Cutter) -> list[View] | None:
    """Expected calls set against those that were made, the most similar first; then the rest of both."""
    traces = [turn.trace for turn in result.episode.turns if turn.trace is not None]
    reported = any(trace.tool_calls is not None for trace in traces)
    made = [call for trace in traces for call in trace.tool_calls or ()]
    expected = list(result.case.expected_tools or ())
    if not made and not expected:
        return None
    judged = result.case.expected_tools is not None and reported
    pairs = take_pairs(expected, made, _distance)
    views = [_call(one, call, True, cut) for one, call in pairs]
    views += [_call(one, None, False if judged else None, cut) for one in expected]
    views += [_call(None, call, False if judged else None, cut) for call in made]
    return cut.some(views)


def _distance(expected: ExpectedTool, call: ToolCallRecord) -> int | None:
    if expected.name != call.name:
        return None
    return sum(fault is not None for fault in argument_results(expected, call.arguments or {}).values())


def _call(expected: ExpectedTool | None, call: ToolCallRecord | None, agrees: bool | None, cut: Cutter) -> View:
    wanted, given = (expected.arguments if expected else {}), (call.arguments if call else None)
    faults = argument_results(expected, given) if expected and given is not None else {}
    return _filled(
        {
            "expected": expected.name if expected else None,
            "called": call.name if call else None,
            "agrees": agrees,
            "arguments": [
                [
                    name,
                    cut.value(wanted[name]) if name in wanted else None,
                    cut.value(given[name]) if given and name in given else None,
                    fault.value if (fault := faults.get(name)) else None,
                ]
                for name in dict.fromkeys([*wanted, *(given or ())])
            ],
            "success": call.success if call else None,
            "result": cut.value(call.result) if call else None,
            "error": cut.value(call.error) if call else None,
            "mocked": (call and call.mocked) or None,
            "unmocked": (call and call.unmocked) or None,
        }
    )


def _chunks(result: CaseResult, cut: Cutter) -> list[View] | None:
    """The passages that were retrieved, each with what the judge said of it."""
    traces = [turn.trace for turn in result.episode.turns if turn.trace is not None]
    chunks = [chunk for trace in traces for one in trace.retrievals or () for chunk in one.chunks or ()]
    items = _items(result, "retrieval_precision")
    by_label = {item.label: item for item in items}
    views = []
    for position, chunk in enumerate(chunks):
        in_order = items[position] if len(items) == len(chunks) else None
        item = in_order or (by_label.get(chunk.id) if chunk.id else None)
        views.append(
            _filled(
                {
                    "id": chunk.id,
                    "score": chunk.score,
                    "text": cut.text(chunk.content),
                    "relevant": item and item.passed,
                    "why": cut.text(item.reasoning) if item else None,
                }
            )
        )
    return cut.some(views) or None


def _points(result: CaseResult, cut: Cutter) -> list[View] | None:
    """The points of knowledge that were expected, and whether the answer covers each."""
    items = {item.label: item for item in _items(result, "retrieval_recall")}
    points = []
    for point in result.case.expected_knowledge or ():
        item = items.get(point)
        why = cut.text(item.reasoning) if item else None
        points.append(_filled({"text": cut.text(point), "covered": item and item.passed, "why": why}))
    return cut.some(points) or None


def _items(result: CaseResult, metric: str) -> list[JudgedItem]:
    return next((verdict.items for verdict in result.verdicts if verdict.metric == metric), [])


def _verdict(verdict: Verdict, cut: Cutter) -> View:
    judgement = verdict.judgement
    return _filled(
        {
            "metric": verdict.metric,
            "status": verdict.status.value,
            "reason": cut.text(in_language(verdict.reason)) if verdict.reason else None,
            "ratio": None if verdict.denominator is None else [verdict.numerator, verdict.denominator],
            "expected": cut.value(verdict.expected),
            "actual": cut.value(verdict.actual),
            "items": [
                [one.label, one.passed, cut.text(one.reasoning), one.by_keyword, one.distance]
                for one in cut.some(verdict.items)
            ],
            "reasoning": cut.text(judgement.reasoning) if judgement and judgement.reasoning else None,
            "judge": judgement
            and {
                "model": judgement.model,
                "prompt": judgement.prompt,
                "cached": judgement.cached,
                "agreement": judgement.agreement,
                "votes": [
                    [one.verdict, one.error, one.cached, cut.text(one.reasoning) if len(judgement.votes) > 1 else ""]
                    for one in cut.some(judgement.votes)
                ],
            },
        }
    )


def _last_trace(result: CaseResult) -> EvalTrace | None:
    return result.episode.turns[-1].trace if result.episode.turns else None


def _filled(view: View) -> View:
    return {key: value for key, value in view.items() if value not in (None, [], "", {})}
