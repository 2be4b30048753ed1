"""The five lines of JMultiWOZ-TC: pure functions of what each answer comes to."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from liftbay.domain.toolcall import ToolCall
from liftbay.scoring.arguments import same_calls


class Decision(NamedTuple):
    """What one answer comes to."""

    expected: bool  # the right answer holds a call
    used: bool  # a call was made
    exact: bool  # the set of calls is the right one


class Measure(NamedTuple):
    """One of the five lines: which records it is over, and when an answer is correct."""

    name: str
    meaning: str
    over: Callable[[Decision], bool]
    correct: Callable[[Decision], bool]


MEASURES = (
    Measure("全体", "all records", lambda d: True, lambda d: d.exact),
    Measure("ツール使用判断", "used when it should", lambda d: d.expected, lambda d: d.used),
    Measure("ツール不使用判断", "not used when it should not", lambda d: not d.expected, lambda d: not d.used),
    Measure("ツール使用・不使用判断", "both decisions", lambda d: True, lambda d: d.used == d.expected),
    Measure("tool call精度", "right calls where some are due", lambda d: d.expected, lambda d: d.exact),
)
OVERALL, USE, NO_USE, USE_OR_NOT, CALLS = MEASURES


class ScoreLine(msgspec.Struct, frozen=True):
    """A line of the score file."""

    measure: str = msgspec.field(name="評価項目")
    total: int = msgspec.field(name="総データ数")
    evaluated: int = msgspec.field(name="評価対象数")
    correct: int = msgspec.field(name="正解数")
    incorrect: int = msgspec.field(name="不正解数")
    errors: int = msgspec.field(name="出力ミスのデータ数")
    percent: float = msgspec.field(name="全体の正答率(%)")


# All that there are; what a decision comes to is looked up for each of tens of thousands of records.
DECISIONS = {key: Decision(*key) for key in itertools.product((False, True), repeat=3)}


def decision_of(expected: Sequence[ToolCall], made: Sequence[ToolCall]) -> Decision:
    """What the calls of one answer come to."""
    return DECISIONS[bool(expected), bool(made), same_calls(expected, made)]


def score_lines(decisions: Iterable[Decision | None]) -> list[ScoreLine]:
    """The five lines over the decisions of all known results; None stands for an error record."""
    counts = Counter(decisions)
    errors = counts.pop(None, 0)
    decided = {decision: count for decision, count in counts.items() if decision is not None}
    return [_line(measure, decided, errors) for measure in MEASURES]


def _line(measure: Measure, counts: Mapping[Decision, int], errors: int) -> ScoreLine:
    over = {decision: count for decision, count in counts.items() if measure.over(decision)}
    evaluated = sum(over.values())
    correct = sum(count for decision, count in over.items() if measure.correct(decision))
    return ScoreLine(
        measure=measure.name,
        total=sum(counts.values()) + errors,
        evaluated=evaluated,
        correct=correct,
        incorrect=evaluated - correct,
        errors=errors,
        percent=correct / evaluated * 100 if evaluated else 0,
    )
