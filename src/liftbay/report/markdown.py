"""The report as Markdown for a pull request: short, with the failed cases folded away.

What a case or an answer says stands in code spans, so that nothing in it is markup, a mention or a link.
"""

from __future__ import annotations

import re

from liftbay.catalog.words import MODULES, text_of
from liftbay.domain.vocabulary import Module
from liftbay.language import tr
from liftbay.report.blame_words import blame_sentence, blame_text, culprit_name, group_name
from liftbay.report.marks import SIGNS, Mark
from liftbay.report.report import CaseLine, Report
from liftbay.report.wording import (
    advice,
    cause_sentence,
    fix_name,
    full_name,
    grounds,
    pass_sentence,
    percent,
    rate_text,
    reason_of,
    sentences,
    unexplained,
)

_CASES = 30
_GROUPS = 8
_SHOWN = 160


def report_markdown(report: Report) -> str:
    """The whole comment."""
    agent = " ".join(filter(None, (report.agent, report.agent_version)))
    parts = [
        f"## {pass_sentence(report)}",
        cause_sentence(report.conclusion),
        f"{code(agent)} · {report.scope} · {_counts(report)} · {tr('run')} {code(report.run)} ({report.state})",
        *(f"> {tr('Note: {note}', note=code(note))}" for note in report.warnings),
        _judges(report),
        _quality(report),
        _fixes(report),
        _blame(report),
        _failed(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def code(text: str, length: int = _SHOWN) -> str:
    """A text in a code span of one line, cut to a length; safe in a table too."""
    line = " ".join(text.split())
    line = line if len(line) <= length else line[:length] + "…"
    if not line:
        return "–"
    runs = [len(run) for run in re.findall("`+", line)]
    fence = "`" * (max(runs, default=0) + 1)
    padding = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{fence}{padding}{line.replace('|', chr(92) + '|')}{padding}{fence}"


def _counts(report: Report) -> str:
    counts = {mark: sum(by.get(mark, 0) for by in report.cases.marks.values()) for mark in Mark}
    return " ".join(f"{SIGNS[mark]} {count}" for mark, count in counts.items() if count or mark is Mark.PASSED)


def _judges(report: Report) -> str:
    return "\n".join(
        tr(
            "Judge {model}: {verdicts} verdicts, {cached} of them replayed from a cache, {errors} without a decision",
            model=code(judge.model),
            verdicts=judge.verdicts,
            cached=judge.cached,
            errors=judge.errors,
        )
        for judge in report.judges
    )


def _quality(report: Report) -> str:
    names = (tr("module"), tr("metric"), "% (95 %)", "n", tr("all cases"), tr("coverage"), "◌", "△")
    lines = [f"| {' | '.join(names)} |", "|---|---|---|--:|--:|--:|--:|--:|"]
    order = {module: position for position, module in enumerate(Module)}
    for id_, metric in sorted(report.metrics.items(), key=lambda item: order[item[1].module]):
        if not metric.all_cases.n:
            continue  # no case applied: a line of dashes tells a reviewer nothing
        name = f"**{full_name(id_)}**" if id_ == report.main.metric else full_name(id_)
        cells = (
            text_of(MODULES[metric.module]),
            name,
            rate_text(metric.conditional),
            str(metric.conditional.n),
            percent(metric.all_cases.value),
            percent(metric.coverage.value),
            str(sum(metric.excluded.values())),
            str(sum(metric.errors.values())),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _fixes(report: Report) -> str:
    lines = []
    for number, finding in enumerate(report.conclusion.findings, start=1):
        lines.append(f"{number}. **{fix_name(finding)}**: {advice(finding)}  ")
        # The grounds hold labels that an agent made up.
        lines.append(f"   {code(sentences(grounds(finding)), 400)}")
    if rest := unexplained(report.conclusion):
        lines.append(f"\n{rest}")
    return "\n".join((f"### {tr('What to fix')}", "", *lines)) if lines else ""


def _blame(report: Report) -> str:
    if (said := blame_sentence(report.blame)) is None:
        return ""
    # The names of groups hold what users and agents said.
    lines = [
        f"- {group.trials}× {culprit_name(group.culprit)}: {code(group_name(group))}"
        for group in report.blame.groups[:_GROUPS]
    ]
    return "\n".join((f"### {tr('Where it first goes wrong')}", "", said, "", *lines))


def _failed(report: Report) -> str:
    if not report.failed_cases:
        return ""
    title = tr("Failed cases: {count}", count=report.cases.failed)
    shown = report.failed_cases[:_CASES]
    left_out = report.cases.failed - len(shown)
    more = [f"… {tr('and {count} more', count=left_out)}"] if left_out else []
    return "\n".join(
        (f"<details><summary>✕ {title}</summary>", "", *map(_case, shown), *more, "", "</details>"),
    )


def _case(case: CaseLine) -> str:
    reasons = [f"  - {full_name(verdict.metric)}: {code(reason_of(verdict))}" for verdict in case.verdicts]
    head = f"- {case.dataset_type.value} {code(case.id)} #{case.trial}: {code(case.user_input)} → {code(case.answer)}"
    blame = [f"  - {tr('first fault')}: {code(blame_text(case.blame))}"] if case.blame else []
    return "\n".join((head, *blame, *reasons))
