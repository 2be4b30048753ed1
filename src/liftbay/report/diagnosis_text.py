"""Where the failed trials of a run first go wrong, and what replaying them confirmed, as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from liftbay.diagnosis.confirmation import Confirmation, ModuleConfirmation
from liftbay.language import in_language, tr
from liftbay.report.blame_words import blame_sentence, culprit_name, group_grounds, group_name
from liftbay.report.report import Report
from liftbay.report.table import printable, table
from liftbay.report.wording import joined, pass_sentence, percent, rate_text, sentences

_TEXT_SHOWN = 320
_CASES_SHOWN = 8


def diagnosis_text(report: Report, confirmation: Confirmation | None = None) -> str:
    """The blame of a run, group by group, and its confirmation."""
    agent = " ".join(filter(None, (report.agent, report.agent_version)))
    parts = ["\n".join((printable(f"{agent} · {report.scope} · {report.run} · {report.state}"), pass_sentence(report)))]
    parts.append("\n".join(_blame(report)) or tr("No trial failed: there is nothing to explain."))
    if confirmation is not None:
        parts += [part for part in _confirmed(confirmation) if part]
    return "\n\n".join(parts)


def _blame(report: Report) -> Iterator[str]:
    if said := blame_sentence(report.blame):
        yield said
    for title, groups in (("", report.blame.groups), (tr("lucky passes"), report.blame.lucky)):
        for group in groups:
            yield f"  {group.trials}× " + _short(
                " · ".join(filter(None, (title, culprit_name(group.culprit), group_name(group))))
            )
            yield f"     {_short(group_grounds(group, report.scene_names))}"


def _confirmed(found: Confirmation) -> Iterator[str]:
    yield "\n".join(
        (
            tr("Confirmed by replaying {count} of {failed} failed trials:", count=found.looked_at, failed=found.failed),
            *(f"  {module_sentence(one)}" for one in found.modules if one.replayed),
            *([] if any(one.replayed for one in found.modules) else [f"  {tr('No trial could be replayed.')}"]),
            *(tr("Note: {note}", note=printable(note)) for note in found.notes),
        )
    )
    if any(one.replayed for one in found.modules):
        yield f"{_modules(found)}\n{_repeated(found)}"
    yield "\n".join(_left(found))
    yield "\n".join(_still_failing(found))


def module_sentence(module: ModuleConfirmation) -> str:
    """What the replays say of one module, in words."""
    said = tr(
        "{module}: {passed} of {replayed} failed trials pass with its output put right.",
        module=culprit_name(module.culprit),
        passed=module.passed,
        replayed=module.replayed,
    )
    points = module.points
    if points.low is not None and points.low > 0:
        return sentences(
            [said, tr("At least {points} points of the pass rate are lost to it.", points=_points(module))]
        )
    return sentences([said, tr("That is not told apart from chance.")])


def _modules(found: Confirmation) -> str:
    rows = [
        (
            culprit_name(one.culprit),
            str(one.blamed),
            str(one.replayed),
            str(one.passed),
            str(one.passed_repeated),
            rate_text(one.blamed_passed),
            _points(one),
            str(one.as_expected),
            str(one.not_overridable),
        )
        for one in found.modules
    ]
    names = (
        tr("module"),
        tr("blamed"),
        tr("replayed"),
        tr("pass now"),
        tr("merely repeated"),
        tr("pass now, of the blamed (%)"),
        tr("points (95 %)"),
        tr("right already"),
        tr("not overridable"),
    )
    return table(names, rows)


def _points(module: ModuleConfirmation) -> str:
    points = module.points
    if points.value is None or points.low is None or points.high is None:
        return "–"
    return f"{percent(points.value)} ({percent(points.low)} … {percent(points.high)})"


def _repeated(found: Confirmation) -> str:
    return tr("Merely repeated, with nothing put right, {rate} % of them pass.", rate=rate_text(found.repeated))


def _left(found: Confirmation) -> Iterator[str]:
    lines = [
        f"  {culprit_name(one.culprit)}: {count}× {in_language(why)}"
        for one in found.modules
        for why, count in one.why_not.items()
    ]
    if lines:
        yield tr("Not overridable:")
        yield from lines
    if found.blamed_elsewhere:
        yield tr("Blamed on what is never replaced: {count}", count=sum(found.blamed_elsewhere.values()))


def _still_failing(found: Confirmation) -> Iterator[str]:
    for one in found.modules:
        cases = [f"{trial.case} #{trial.trial}" for trial in one.still_failing[:_CASES_SHOWN]]
        if cases:
            yield tr(
                "Blamed on {module}, and failing with its output put right: {count} ({cases})",
                module=culprit_name(one.culprit),
                count=len(one.still_failing),
                cases=printable(joined(cases)),
            )


def _short(text: str) -> str:
    line = printable(" ".join(text.split()))
    return line if len(line) <= _TEXT_SHOWN else line[:_TEXT_SHOWN] + "…"
