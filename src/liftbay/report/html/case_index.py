"""The index of the trials in a page: small enough to filter by every figure of the report without opening a trial."""

from __future__ import annotations

from typing import Any

from liftbay.domain.blame import Blame
from liftbay.domain.result import CaseResult, Outcome
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import VerdictStatus
from liftbay.language import in_language
from liftbay.report.decay import CURVES
from liftbay.report.marks import main_verdict, mark_of, why_undecided
from liftbay.report.observed import label_of, measures_a_mock
from liftbay.report.wording import reason_of
from liftbay.scoring.outcomes import outcome_of

_EXCERPT = 90
_LETTERS = {
    VerdictStatus.PASS: "p",
    VerdictStatus.FAIL: "f",
    VerdictStatus.EXCLUDED: "x",
    VerdictStatus.ERROR: "e",
    VerdictStatus.NOT_APPLICABLE: "n",
}
_WITH_REASON = "fxen"


class Words:
    """Each text once; rows hold its place."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        """The place of a text, new or not."""
        return self._places.setdefault(text, len(self._places))

    def texts(self) -> list[str]:
        """All texts in order."""
        return list(self._places)


class CaseIndex:
    """Rows by trial, in the order in which they are added."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._metrics, self._types, self._scenes = Words(), Words(), Words()
        self._texts, self._tools = Words(), Words()

    def add(self, result: CaseResult, blame: Blame, *, lucky: bool) -> None:
        """Add the row of a trial; keys that say nothing are left out."""
        case = result.case
        main = main_verdict(result)
        row: dict[str, Any] = {
            "i": case.id,
            "t": self._types.place(case.dataset_type.value),
            "s": self._scenes.place(case.scene_code),
            "n": result.trial,
            "m": mark_of(result).value[0:2],
            "x": _excerpt(case.rounds[-1].user_input),
            "v": [[self._metrics.place(one.metric), *self._verdict(one)] for one in result.verdicts],
        }
        if result.outcome is Outcome.UNDECIDED:
            row["w"] = self._texts.place(in_language(why_undecided(result)))
        elif main is not None and result.outcome is Outcome.FAILED:
            row["y"] = _excerpt(reason_of(main))
        if lucky:
            row["l"] = 1
        if (culprit := _culprit(result, blame)) is not None:
            row["b"] = culprit
        if rounds := self._rounds(result):
            row["d"] = rounds
        calls = [call for turn in result.episode.turns for call in (turn.trace and turn.trace.tool_calls) or ()]
        if calls:
            row["k"] = sorted({self._tools.place(call.name) for call in calls})
        if any(call.unmocked for call in calls):
            row["u"] = 1
        self._rows.append(row)

    def _verdict(self, verdict: Verdict) -> list[Any]:
        """A letter, then the reason's place and the places of both labels, as far as filters need them."""
        letter = _LETTERS.get(verdict.status)
        if letter is None:
            whole = outcome_of(verdict) is Outcome.PASSED
            letter = "m" if measures_a_mock(verdict) else "S" if whole else "s"
        elif measures_a_mock(verdict):
            letter = "m"
        reason = -1
        own_words = letter == "f" and (
            verdict.judgement is not None or verdict.items
        )  # the judge's, never twice the same
        if letter in _WITH_REASON and verdict.reason and not own_words:
            reason = self._texts.place(in_language(verdict.reason))
        if letter in "pf" and (verdict.expected is not None or verdict.actual is not None):
            labels = (label_of(verdict.expected), label_of(verdict.actual))
            if max(map(len, labels)) <= _EXCERPT:
                return [letter, reason, *map(self._texts.place, labels)]
        return [letter] if reason < 0 else [letter, reason]

    def _rounds(self, result: CaseResult) -> list[list[int]]:
        return [
            [
                self._metrics.place(verdict.metric),
                int(item.label) if item.label.isdecimal() else -1,
                -1 if item.distance is None else item.distance,
                int(item.passed),
            ]
            for verdict in result.verdicts
            if verdict.metric in CURVES
            for item in verdict.items
        ]

    def payload(self) -> dict[str, Any]:
        """The index as plain data."""
        return {
            "metrics": self._metrics.texts(),
            "types": self._types.texts(),
            "scenes": self._scenes.texts(),
            "texts": self._texts.texts(),
            "tools": self._tools.texts(),
            "rows": self._rows,
        }


def _culprit(result: CaseResult, blame: Blame) -> str | None:
    """The first fault; None where there is nothing to explain."""
    if blame.culprit is not None:
        return blame.culprit.value
    return "unexplained" if result.outcome is Outcome.FAILED else None


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT else line[:_EXCERPT] + "…"
