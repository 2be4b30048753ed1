"""Why two runs differ, as text for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from liftbay.diagnosis.explanation import (
    Aside,
    Direction,
    Explained,
    Explanation,
    Flip,
    LatencyChange,
    Part,
    Reliability,
    RunName,
)
from liftbay.language import tr
from liftbay.report.blame_words import culprit_name
from liftbay.report.explain_wording import (
    apportioned,
    group_sentence,
    points_text,
    relative,
    signed,
    stage_name,
    summary,
)
from liftbay.report.table import printable, table
from liftbay.report.wording import count_text, figure, full_name, joined, metric_name, percent

_FLIPS_SHOWN = 10
_TEXT_SHOWN = 72
_GROUPS_SHOWN = 5
_SIGNS = {Direction.LOST: "● → ✕", Direction.GAINED: "✕ → ●"}


def explain_text(explained: Explained) -> str:
    """The whole explanation."""
    found = explained.explanation
    parts = (
        ("", _whole(found)),
        (tr("Points by module:"), _modules(found) if found.parts else ""),
        (tr("Points by scene:"), _scenes(found) if len(found.scenes) > 1 and found.parts else ""),
        (tr("What the lost trials have in common:"), "\n".join(group_lines(found))),
        (tr("Flipped trials: {count}", count=len(found.flips)), "\n".join(_flips(found.flips))),
        (tr("Failed in both runs, but through another module:"), "\n".join(shift_lines(found))),
        (tr("Not in these figures:"), "\n".join(apart_lines(found))),
        (tr("Cost and performance on the same trials (means a trial):"), _probes(found)),
        (tr("Response time by stage (ms a trial):"), _latency(found.latency) if found.latency else ""),
        ("", _reliability(found.reliability) if found.reliability else ""),
    )
    shown = ["\n".join(filter(None, (title, body))) for title, body in parts if body]
    return "\n\n".join([_headline(explained), *shown])


def run_name(run: RunName) -> str:
    """A run with its agent."""
    return printable(f"{run.id} ({' '.join(filter(None, (run.agent, run.version)))})")


def _headline(explained: Explained) -> str:
    return "\n".join(
        (
            f"{run_name(explained.base)} → {run_name(explained.head)} · {explained.scope}",
            summary(explained.explanation),
            *(tr("Note: {note}", note=printable(note)) for note in explained.notes),
        )
    )


def _whole(found: Explanation) -> str:
    if found.change is None:
        return ""
    return tr(
        "{n} trials are paired: {base} % → {head} %, {points} points; ● → ✕ {lost}, ✕ → ● {gained}, McNemar p = {p}",
        n=found.n,
        base=percent(found.base),
        head=percent(found.head),
        points=points_text(found.change),
        lost=found.lost,
        gained=found.gained,
        p=f"{found.p:.2g}",
    )


def interval_text(part: Part, shown: float) -> str:
    """A part's points, as rounded for the table, with its interval."""
    return f"{signed(shown)} ({signed(part.change.low * 100)} … {signed(part.change.high * 100)})"


def shown_points(parts: Sequence[Part], whole: float) -> list[float]:
    """The points of parts to one decimal, so that what is read adds up."""
    return apportioned([part.change.value * 100 for part in parts], whole * 100, 1)


def _modules(found: Explanation) -> str:
    whole = found.change.value if found.change else 0.0
    rows = [
        (
            culprit_name(part.culprit),
            joined(map(metric_name, list(part.metrics)[:2])),
            interval_text(part, shown),
            count_text(part.lost),
            count_text(part.gained),
        )
        for part, shown in zip(found.parts, shown_points(found.parts, whole), strict=True)
    ]
    rows.append((tr("together"), "", signed(whole * 100), str(found.lost), str(found.gained)))
    return table((tr("module"), tr("seen in"), tr("points (95 %)"), "● → ✕", "✕ → ●"), rows, text_columns=2)


def _scenes(found: Explanation) -> str:
    whole = found.change.value if found.change else 0.0
    figures = apportioned([scene.change.value * 100 for scene in found.scenes], whole * 100, 1)
    rows = []
    for scene, shown in zip(found.scenes, figures, strict=True):
        inner = zip(scene.parts, apportioned([part.change.value * 100 for part in scene.parts], shown, 1), strict=True)
        rows.append(
            (
                scene.name or scene.scene,
                joined(f"{culprit_name(part.culprit)} {signed(points)}" for part, points in inner),
                f"{signed(shown)} ({signed(scene.change.low * 100)} … {signed(scene.change.high * 100)})",
                percent(scene.base),
                percent(scene.head),
                str(scene.n),
            )
        )
    names = (tr("scene"), tr("of which"), tr("points (95 %)"), tr("base (%)"), tr("head (%)"), "n")
    return table(names, rows, text_columns=2)


def _flips(flips: Sequence[Flip]) -> list[str]:
    lines = [
        f"  {_SIGNS[flip.direction]} {flip.dataset_type.value} {_short(flip.case_id)} #{flip.trial}: "
        f"{flip_blame(flip)}: {_short(flip.user_input)}"
        for flip in sorted(flips, key=lambda one: one.direction is Direction.GAINED)[:_FLIPS_SHOWN]
    ]
    left_out = len(flips) - len(lines)
    return [*lines, f"  … {tr('and {count} more', count=left_out)}"] if left_out else lines


def flip_blame(flip: Flip) -> str:
    """To whom a flip is laid, in words."""
    if not flip.blame.candidates:
        return culprit_name(None)
    return joined(f"{culprit_name(one.culprit)} {one.probability:.2f}" for one in flip.blame.candidates[:2])


def group_lines(found: Explanation) -> list[str]:
    """The groups of lost trials, a line each."""
    return [f"  {printable(group_sentence(found, group))}" for group in found.groups[:_GROUPS_SHOWN]]


def shift_lines(found: Explanation) -> list[str]:
    """Trials whose fault moved, a line for each pair of modules."""
    return [f"  {culprit_name(shift.base)} → {culprit_name(shift.head)}: {shift.trials}" for shift in found.shifts]


def apart_lines(found: Explanation) -> list[str]:
    """What is in no figure, a line for each kind."""
    apart = found.apart
    kinds = (
        (tr("decided in the base only: {count}", count=apart.became_undecided.trials), apart.became_undecided),
        (tr("decided in the head only: {count}", count=apart.became_decided.trials), apart.became_decided),
        (tr("undecided in both: {count}", count=apart.undecided.trials), apart.undecided),
        (tr("in the base only: {count}", count=apart.only_base.trials), apart.only_base),
        (tr("in the head only: {count}", count=apart.only_head.trials), apart.only_head),
        (tr("the case was changed between the runs: {count}", count=apart.changed.trials), apart.changed),
    )
    return [f"  {text}{_examples(aside)}" for text, aside in kinds if aside.trials]


def _examples(aside: Aside) -> str:
    shown = joined(f"{_short(one.case_id)} #{one.trial}" for one in aside.examples[:3])
    return f" ({shown}{' …' if aside.trials > 3 else ''})"


def _probes(found: Explanation) -> str:
    rows = [
        (
            full_name(probe.probe),
            tr("clear") if probe.change.clear else tr("not told apart"),
            figure(probe.base),
            figure(probe.head),
            difference_text(probe.change.value, probe.change.low, probe.change.high),
            relative(probe),
            str(probe.n),
        )
        for probe in found.probes
    ]
    lines = (
        [table((tr("probe"), "", tr("base"), tr("head"), tr("difference (95 %)"), "%", "n"), rows, 2)] if rows else []
    )
    if found.one_sided_probes:
        probes = joined(map(full_name, found.one_sided_probes))
        lines.append("  " + tr("reported by one run only: {probes}", probes=probes))
    return "\n".join(lines)


def difference_text(value: float, low: float, high: float) -> str:
    """A difference of measured values with its interval."""
    return f"{_with_sign(value)} ({_with_sign(low)} … {_with_sign(high)})"


def _with_sign(value: float) -> str:
    return f"+{figure(value)}" if value > 0 else figure(value)


def _latency(latency: LatencyChange) -> str:
    rows = [
        (stage_name(part), difference_text(part.change.value, part.change.low, part.change.high))
        for part in latency.parts
    ]
    whole = latency.change
    rows.append((tr("together"), difference_text(whole.value, whole.low, whole.high)))
    return table((tr("stage"), tr("difference (95 %)")), rows)


def _reliability(reliability: Reliability) -> str:
    rows = [
        (str(k), percent(base), percent(head))
        for k, (base, head) in enumerate(zip(reliability.base, reliability.head, strict=True), start=1)
    ]
    said = tr(
        "pass^{k} changed by {points} points over {cases} cases",
        k=len(reliability.base),
        points=points_text(reliability.change),
        cases=reliability.cases,
    )
    return "\n".join((table(("k", tr("pass^k, base (%)"), tr("pass^k, head (%)")), rows), said))


def _short(text: str) -> str:
    line = printable(" ".join(text.split()))
    return line if len(line) <= _TEXT_SHOWN else line[:_TEXT_SHOWN] + "…"
