"""What the benchmark found, as text for the console."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from liftbay.language import tr
from liftbay.report.jmultiwoz_table import measure_name
from liftbay.report.table import table
from liftbay.scoring.arguments import ArgumentFault
from liftbay.scoring.jmultiwoz_tc import CALLS, OVERALL

if TYPE_CHECKING:
    from liftbay.benchmarks.jmultiwoz_tc.breakdown import Breakdown, ToolCounts
    from liftbay.benchmarks.jmultiwoz_tc.compare import Comparison, MeasureComparison
    from liftbay.scoring.paired import Difference
    from liftbay.scoring.rates import Rate

_FLIPPED_SHOWN = 10
_BAR_CELLS = 20


def breakdown_text(found: Breakdown) -> str:
    """The breakdown: rates, calls per tool, arguments, depth."""
    parts = [
        tr(
            "Rates in %, with 95 % intervals clustered by dialogue ({dialogues} dialogues; {errors} error records "
            "of {records} are in none of them)",
            dialogues=found.dialogues,
            errors=found.errors,
            records=found.records,
        ),
        _rates_table(found),
        "",
        tr(
            "Calls: {missed} missed, {superfluous} superfluous, {wrong} to a wrong tool",
            missed=found.missed_calls,
            superfluous=found.superfluous_calls,
            wrong=found.wrong_tools,
        ),
        _tools_table(found),
    ]
    if confusions := _confusions(found):
        parts += ["", tr("Wrong tools (expected → called):"), *confusions]
    parts += ["", tr("Arguments that differ, in calls to the right tool:"), _arguments_table(found), ""]
    if found.errors:
        reasons = ", ".join(f"{name}: {count}" for name, count in found.errors_by_reason.items())
        parts += [tr("Error records by reason: {reasons}", reasons=reasons), ""]
    if found.by_depth is None:
        parts.append(tr("By depth of the dialogue: not known without the input file"))
    else:
        parts += [tr("By depth of the dialogue (user turns before the utterance):"), _depth_table(found)]
    return "\n".join(("", *parts, ""))


def _rates_table(found: Breakdown) -> str:
    rows = [
        (
            measure_name(name),
            _rate(rates.exact),
            "" if rates.lenient is None else _rate(rates.lenient),
            str(rates.exact.n),
        )
        for name, rates in found.measures.items()
    ]
    return table(("評価項目", tr("exact"), tr("lenient (NFKC, 1 = \"1\")"), "n"), rows)  # fmt: skip


def _tools_table(found: Breakdown) -> str:
    names = (
        tr("tool"),
        tr("expected"),
        tr("made"),
        tr("correct"),
        tr("wrong arguments"),
        tr("wrong tool"),
        tr("missed"),
        tr("superfluous"),
    )
    return table(names, [(name, *map(str, _tool_counts(tool))) for name, tool in found.tools.items()])


def _tool_counts(tool: ToolCounts) -> tuple[int, ...]:
    wrong_tool = sum(tool.wrong_tool.values())
    return (
        tool.expected,
        tool.made,
        tool.correct,
        tool.wrong_arguments,
        wrong_tool,
        tool.missed,
        tool.superfluous,
    )


def _confusions(found: Breakdown) -> list[str]:
    return [
        f"  {expected} → {called}: {count}"
        for expected, tool in found.tools.items()
        for called, count in tool.wrong_tool.items()
    ]


def _arguments_table(found: Breakdown) -> str:
    names = (tr("tool"), tr("argument"), tr("expected"), tr("correct"), *map(_fault_name, ArgumentFault))
    rows = [
        (tool, argument, str(counts.expected), str(counts.correct), *(str(getattr(counts, f)) for f in ArgumentFault))
        for tool, of in found.tools.items()
        for argument, counts in of.arguments.items()
        if counts.correct < counts.expected or counts.superfluous
    ]
    if not rows:
        return "  " + tr("none")
    total = (tr("all"), "", "", "", *(str(getattr(found.argument_faults, fault)) for fault in ArgumentFault))
    return table(names, [*rows, total], text_columns=2)


def _fault_name(fault: ArgumentFault) -> str:
    return {
        ArgumentFault.MISSING: tr("missing"),
        ArgumentFault.SUPERFLUOUS: tr("superfluous"),
        ArgumentFault.WRONG_TYPE: tr("wrong type"),
        ArgumentFault.UNICODE_FORM: tr("Unicode form"),
        ArgumentFault.KANA_OR_WIDTH: tr("kana or width"),
        ArgumentFault.WRONG_VALUE: tr("wrong value"),
    }[fault]


def _depth_table(found: Breakdown) -> str:
    names = (tr("turns"), OVERALL.name, "n", "", CALLS.name, "n")
    rows = [
        (
            str(depth.turns),
            _rate(depth.overall),
            str(depth.overall.n),
            _bar(depth.overall),
            _rate(depth.tool_calls),
            str(depth.tool_calls.n),
        )
        for depth in found.by_depth or ()
    ]
    return table(names, rows)


def _bar(rate: Rate) -> str:
    filled = round((rate.value or 0) * _BAR_CELLS)
    return "▇" * filled + "·" * (_BAR_CELLS - filled)


def _rate(rate: Rate) -> str:
    if rate.value is None or rate.low is None or rate.high is None:
        return "–"
    return f"{rate.value * 100:.2f} ({rate.low * 100:.1f}–{rate.high * 100:.1f})"


def comparison_text(found: Comparison) -> str:
    """The comparison: per line, the flipped ids, and what it says."""
    parts = [
        f"A: {found.a}",
        f"B: {found.b}",
        tr(
            "{compared} records compared; of the {shared} shared ones A has {errors_a} and B {errors_b} error records; "
            "{only_a} ids are only in A, {only_b} only in B",
            compared=found.compared,
            shared=found.shared,
            errors_a=found.errors_a,
            errors_b=found.errors_b,
            only_a=found.only_in_a,
            only_b=found.only_in_b,
        ),
        "",
        _comparison_table(found),
        "",
        _flipped(tr("right in A, wrong in B"), found.only_a_correct),
        _flipped(tr("wrong in A, right in B"), found.only_b_correct),
        "",
        _verdict(found.measures[OVERALL.name]),
    ]
    return "\n".join(parts)


def _comparison_table(found: Comparison) -> str:
    rows = [
        (
            measure_name(name),
            _percent(measure.a),
            _percent(measure.b),
            _difference(measure.difference),
            str(measure.only_a),
            str(measure.only_b),
            f"{measure.p_value:.2g}",
            tr("yes") if measure.distinguishable else tr("no"),
        )
        for name, measure in found.measures.items()
    ]
    names = (
        "評価項目",
        "A (%)",
        "B (%)",
        tr("B − A in points (95 %)"),
        tr("only A"),
        tr("only B"),
        tr("McNemar p"),
        tr("distinguishable"),
    )
    return table(names, rows)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value * 100:.2f}"


def _difference(difference: Difference) -> str:
    if difference.value is None or difference.low is None or difference.high is None:
        return "–"
    return f"{difference.value * 100:+.2f} ({difference.low * 100:+.2f} … {difference.high * 100:+.2f})"


def _flipped(title: str, ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:_FLIPPED_SHOWN])
    more = tr("… (--json lists all)") if len(ids) > _FLIPPED_SHOWN else ""
    return f"{title}: {len(ids)}" + (f": {shown} {more}".rstrip() if ids else "")


def _verdict(overall: MeasureComparison) -> str:
    value = overall.difference.value
    if value is None:
        return tr("There is no record that both answered: nothing can be said.")
    points = f"{abs(value) * 100:.2f}"
    if not overall.only_a and not overall.only_b:
        return tr("No record flips on 全体: on these records A and B do the same.")
    if overall.distinguishable:
        if value > 0:
            return tr("B is better than A by {points} points on 全体: distinguishable from noise.", points=points)
        return tr("A is better than B by {points} points on 全体: distinguishable from noise.", points=points)
    return tr(
        "The difference of {points} points on 全体 cannot be told from noise: "
        "the interval clustered by dialogue and the exact McNemar test do not both exclude that there is none.",
        points=points,
    )
