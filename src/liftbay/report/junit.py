"""The report as JUnit XML, as continuous integration shows it: a test case for each trial."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from liftbay.domain.result import CaseResult, RunRecord
from liftbay.domain.vocabulary import DatasetType
from liftbay.language import in_language
from liftbay.report.marks import Mark, main_verdict, mark_of, why_undecided
from liftbay.report.report import Report
from liftbay.report.wording import reason_of

# What XML 1.0 has no way to say.
_UNSAYABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MESSAGE = 300
_OUTPUT = 4000


class JUnit:
    """`head`, then `trial` for each result in the order of the store, then `tail`."""

    def __init__(self, report: Report, record: RunRecord) -> None:
        self._report, self._record = report, record
        self._suite: DatasetType | None = None

    def head(self) -> Iterator[str]:
        """The root, with its counts."""
        report = self._report
        totals = {mark: sum(by.get(mark, 0) for by in report.cases.marks.values()) for mark in Mark}
        name = f"liftbay {report.scope} {report.agent} {report.run}"
        yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name={_quoted(name)}{_counts(totals)}>\n'

    def trial(self, result: CaseResult) -> Iterator[str]:
        """One test case; another dataset type begins another suite."""
        type_ = result.case.dataset_type
        if type_ is not self._suite:
            yield from self._end_of_suite()
            self._suite = type_
            started = (self._record.started or self._record.submitted)[:19]
            counts = _counts(self._report.cases.marks.get(type_, {}))
            yield f"<testsuite name={_quoted(type_.value)}{counts} timestamp={_quoted(started)}>\n"
        yield _test_case(result)

    def tail(self) -> Iterator[str]:
        """The end."""
        yield from self._end_of_suite()
        yield "</testsuites>\n"

    def _end_of_suite(self) -> Iterator[str]:
        if self._suite is not None:
            yield "</testsuite>\n"


def _counts(marks: dict[Mark, int]) -> str:
    return (
        f' tests="{sum(marks.values())}" failures="{marks.get(Mark.FAILED, 0)}" errors="{marks.get(Mark.ERROR, 0)}"'
        f' skipped="{marks.get(Mark.EXCLUDED, 0)}"'
    )


def _test_case(result: CaseResult) -> str:
    case, turns = result.case, result.episode.turns
    seconds = sum(turn.response_latency_ms or 0.0 for turn in turns) / 1000
    answers = "\n\n".join(turn.answer or "" for turn in turns)
    head = (
        f"<testcase classname={_quoted(f'{case.dataset_type.value}.{case.scene_code}')} "
        f'name={_quoted(f"{case.id} #{result.trial}")} time="{seconds:.3f}">'
    )
    output = f"<system-out>{_text(answers[:_OUTPUT])}</system-out>" if answers.strip() else ""
    return f"{head}{_outcome(result)}{output}</testcase>\n"


def _outcome(result: CaseResult) -> str:
    mark = mark_of(result)
    if mark is Mark.PASSED:
        return ""
    if mark is Mark.FAILED:
        verdict = main_verdict(result)
        why = (reason_of(verdict) if verdict else "") or result.main_metric
        failed = [f"{one.metric}: {reason_of(one)}" for one in result.verdicts if one.status.value == "FAIL"]
        return (
            f"<failure type={_quoted(result.main_metric)} message={_quoted(why[:_MESSAGE])}>"
            f"{_text(chr(10).join(failed) or why)}</failure>"
        )
    why = in_language(why_undecided(result))
    if mark is Mark.EXCLUDED:
        return f"<skipped message={_quoted(why[:_MESSAGE])}/>"
    fault = result.episode.fault
    kind = fault.kind.value if fault else "judge"
    said = _text(fault.message if fault else why)
    return f"<error type={_quoted(kind)} message={_quoted(why[:_MESSAGE])}>{said}</error>"


def _text(text: str) -> str:
    return escape(_UNSAYABLE.sub("\ufffd", text))


def _quoted(text: str) -> str:
    return quoteattr(_UNSAYABLE.sub("\ufffd", text))
