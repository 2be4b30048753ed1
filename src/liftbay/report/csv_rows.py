"""Trials as rows of CSV, for a spreadsheet: one row a trial, one column a metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from liftbay.domain.prices import Prices
from liftbay.domain.result import CaseResult, Outcome
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import VerdictStatus
from liftbay.language import in_language, tr
from liftbay.report.marks import main_verdict, mark_of, why_undecided
from liftbay.report.report import Report
from liftbay.report.wording import count_text, metric_name, reason_of
from liftbay.scoring.probes import probe_reader

BYTE_ORDER_MARK = "\ufeff"  # without it Excel takes UTF-8 for the code page of the system
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_LONGEST = 32_000  # Excel cuts a cell at 32,767 characters and moves the rest into the next row
_PROBES = ("response_latency", "input_tokens", "output_tokens", "model_calls", "tool_calls")
Cell = str | float | int | None


class CsvRows:
    """`head`, then `trial` for each result, then `tail`."""

    def __init__(self, report: Report, prices: Prices | None = None) -> None:
        self._metrics = list(report.metrics)
        probes = (*_PROBES, "cost") if prices else _PROBES
        self._readers = {probe: probe_reader(probe, prices) for probe in probes}

    def head(self) -> Iterator[str]:
        """The byte order mark and the names of the columns."""
        names = [
            tr("dataset type"),
            tr("case"),
            tr("trial"),
            tr("scene"),
            tr("outcome"),
            tr("main metric"),
            tr("reason"),
            tr("user"),
            tr("agent"),
            tr("reference"),
            f"{tr('route')} ({tr('expected')})",
            tr("route"),
            f"Skill ({tr('expected')})",
            "Skill",
            f"{tr('intent')} ({tr('expected')})",
            tr("intent"),
            f"{tr('tools')} ({tr('expected')})",
            tr("tools"),
            *self._readers,
            *map(metric_name, self._metrics),
        ]
        yield BYTE_ORDER_MARK + line(names)

    def trial(self, result: CaseResult) -> Iterator[str]:
        """The row of one trial."""
        case, episode = result.case, result.episode
        trace = episode.turns[-1].trace if episode.turns else None
        perceived = trace.perception if trace else None
        calls = [call.name for turn in episode.turns for call in (turn.trace and turn.trace.tool_calls) or ()]
        expected_tools = [tool.name for tool in case.expected_tools or ()]
        values = {probe: read(episode, case.eval_mode) for probe, read in self._readers.items()}
        by_metric = {verdict.metric: verdict for verdict in result.verdicts}
        yield line(
            [
                case.dataset_type.value,
                case.id,
                result.trial,
                case.scene_name or case.scene_code,
                mark_of(result).value,
                metric_name(result.main_metric),
                _why(result),
                "\n".join(round_.user_input for round_ in case.rounds),
                "\n".join(turn.answer or "" for turn in episode.turns),
                case.reference_output,
                case.expected_route,
                trace.planning.route if trace and trace.planning else None,
                case.expected_skill,
                perceived.skill if perceived else None,
                case.expected_intent,
                ", ".join(perceived.intents) if perceived and perceived.intents else None,
                ", ".join(expected_tools),
                ", ".join(calls),
                *(sum(found) if found else None for found in values.values()),
                *(_said(by_metric.get(metric)) for metric in self._metrics),
            ]
        )

    def tail(self) -> Iterator[str]:
        """Nothing comes after the rows."""
        return iter(())


def line(cells: Sequence[Cell]) -> str:
    """One line of CSV; a text that a spreadsheet would take for a formula gets an apostrophe before it."""
    return ",".join(map(_cell, cells)) + "\r\n"


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return str(int(cell)) if float(cell).is_integer() else str(round(cell, 6))
    text = cell if len(cell) <= _LONGEST else cell[:_LONGEST] + "…"
    if text.lstrip(" ").startswith(_FORMULA):
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in '",\r\n') else text


def _why(result: CaseResult) -> str:
    if result.outcome is Outcome.UNDECIDED:
        return in_language(why_undecided(result))
    verdict = main_verdict(result)
    return reason_of(verdict) if verdict else ""


def _said(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    if verdict.status is VerdictStatus.SCORE and verdict.denominator:
        # Not 1/2, which a spreadsheet takes for a date.
        return f"{count_text(verdict.numerator or 0.0)} of {count_text(verdict.denominator)}"
    return verdict.status.value
