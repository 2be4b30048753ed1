"""Why two runs differ, as Markdown for a pull request; what a case or an agent says stands in code spans."""

from __future__ import annotations

from collections.abc import Sequence

from liftbay.diagnosis.explanation import Direction, Explained, Explanation, Flip, RunName
from liftbay.language import tr
from liftbay.report.blame_words import culprit_name
from liftbay.report.explain_text import (
    apart_lines,
    difference_text,
    flip_blame,
    group_lines,
    interval_text,
    shift_lines,
    shown_points,
)
from liftbay.report.explain_wording import points_text, relative, signed, stage_name, summary, whole_sentence
from liftbay.report.markdown import code
from liftbay.report.wording import count_text, figure, full_name, joined, percent

_FLIPS = 50
_SUMMARY = 800


def explain_markdown(explained: Explained) -> str:
    """The whole comment."""
    found = explained.explanation
    parts = [
        f"## {whole_sentence(found)}",
        code(summary(found), _SUMMARY),
        f"{_run(explained.base)} → {_run(explained.head)} · {explained.scope}",
        *(f"> {tr('Note: {note}', note=code(note))}" for note in explained.notes),
        _modules(found),
        _scenes(found),
        _probes(found),
        _latency(found),
        _list(tr("What the lost trials have in common:"), group_lines(found)),
        _flips(found.flips),
        _list(tr("Failed in both runs, but through another module:"), shift_lines(found)),
        _list(tr("Not in these figures:"), apart_lines(found)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _run(run: RunName) -> str:
    return code(f"{run.id} ({' '.join(filter(None, (run.agent, run.version)))})")


def _table(names: Sequence[str], form: str, rows: Sequence[Sequence[str]]) -> str:
    return "\n".join((f"| {' | '.join(names)} |", form, *(f"| {' | '.join(row)} |" for row in rows)))


def _modules(found: Explanation) -> str:
    if found.change is None or not found.parts:
        return ""
    rows = [
        (
            culprit_name(part.culprit),
            joined(map(full_name, list(part.metrics)[:2])),
            interval_text(part, shown),
            count_text(part.lost),
            count_text(part.gained),
        )
        for part, shown in zip(found.parts, shown_points(found.parts, found.change.value), strict=True)
    ]
    whole = (f"**{tr('together')}**", "", signed(found.change.value * 100), str(found.lost), str(found.gained))
    names = (tr("module"), tr("seen in"), tr("points (95 %)"), "● → ✕", "✕ → ●")
    return _table(names, "|---|---|--:|--:|--:|", [*rows, whole])


def _scenes(found: Explanation) -> str:
    if len(found.scenes) < 2 or not found.parts:
        return ""
    rows = [
        (
            code(scene.name or scene.scene),
            points_text(scene.change),
            percent(scene.base),
            percent(scene.head),
            str(scene.n),
        )
        for scene in found.scenes
    ]
    return _table(
        (tr("scene"), tr("points (95 %)"), tr("base (%)"), tr("head (%)"), "n"), "|---|--:|--:|--:|--:|", rows
    )


def _probes(found: Explanation) -> str:
    rows = [
        (
            full_name(probe.probe),
            figure(probe.base),
            figure(probe.head),
            difference_text(probe.change.value, probe.change.low, probe.change.high),
            relative(probe),
        )
        for probe in found.probes
    ]
    names = (tr("probe"), tr("base"), tr("head"), tr("difference (95 %)"), "%")
    return _table(names, "|---|--:|--:|--:|--:|", rows) if rows else ""


def _latency(found: Explanation) -> str:
    if found.latency is None:
        return ""
    rows = [
        (stage_name(part), difference_text(part.change.value, part.change.low, part.change.high))
        for part in found.latency.parts
    ]
    whole = found.latency.change
    total = (f"**{tr('together')}**", difference_text(whole.value, whole.low, whole.high))
    return _table((tr("stage"), tr("difference (95 %)")), "|---|--:|", [*rows, total])


def _flips(flips: Sequence[Flip]) -> str:
    if not flips:
        return ""
    lines = [
        f"- {'● → ✕' if flip.direction is Direction.LOST else '✕ → ●'} {flip.dataset_type.value} {code(flip.case_id)} "
        f"#{flip.trial}: {flip_blame(flip)}: {code(flip.user_input)}"
        for flip in sorted(flips, key=lambda one: one.direction is Direction.GAINED)[:_FLIPS]
    ]
    left_out = len(flips) - len(lines)
    more = [f"… {tr('and {count} more', count=left_out)}"] if left_out else []
    title = tr("Flipped trials: {count}", count=len(flips))
    return "\n".join((f"<details><summary>{title}</summary>", "", *lines, *more, "", "</details>"))


def _list(title: str, lines: Sequence[str]) -> str:
    return "\n".join((title, "", *(f"- {code(line, _SUMMARY)}" for line in lines))) if lines else ""
