"""Whose fault the failed trials are: the culprits as a table, and groups of trials that failed alike."""

from __future__ import annotations

from collections.abc import Sequence

from liftbay.diagnosis.groups import Group
from liftbay.domain.blame import Culprit
from liftbay.language import tr
from liftbay.report.blame import BlameReport, CulpritShare
from liftbay.report.blame_words import blame_sentence, culprit_name, group_grounds, group_name
from liftbay.report.html.charts import whisker
from liftbay.report.html.elements import Html, cases_link, table, tag, together
from liftbay.report.report import Report
from liftbay.report.wording import count_text, rate_text

UNEXPLAINED = "unexplained"
_GROUPS = 12


def blame(report: Report) -> Html | None:
    """The section; none where no trial failed."""
    found = report.blame
    said = blame_sentence(found)
    if said is None and not found.lucky:
        return None
    parts: list[Html] = []
    if said is not None:
        parts += [tag("p", said), _culprits(found)]
        parts += _listed(tr("What failed trials have in common"), found.groups, report)
    parts += _listed(tr("What lucky passes have in common"), found.lucky, report)
    if found.not_judged:
        parts.append(
            tag("p", tr("Undecided without any failed verdict: {count}", count=found.not_judged), class_="note")
        )
    return tag("section", tag("h2", tr("Where it first goes wrong")), *parts, id="blame")


def _culprits(found: BlameReport) -> Html:
    rows = [_row(culprit, share) for culprit, share in found.by_culprit.items()]
    if found.unexplained.trials:
        rows.append(_row(None, found.unexplained))
    names = (tr("first fault"), tr("trials"), "", "% (95 %)", tr("expected count"))
    note = tag(
        "p", tr("The expected count adds up the probabilities where several modules may be at fault."), class_="note"
    )
    return together((table(names, rows, class_="culprits"), note))


def _row(culprit: Culprit | None, share: CulpritShare) -> list[Html | str]:
    id_ = culprit.value if culprit else UNEXPLAINED
    return [
        together((tag("i", class_=f"swatch {id_}"), culprit_name(culprit))),
        cases_link(share.trials, culprit=id_, class_="figure"),
        whisker(share.share, id_),
        rate_text(share.share),
        count_text(share.expected),
    ]


def _listed(title: str, groups: Sequence[Group], report: Report) -> list[Html]:
    if not groups:
        return []
    items = [
        tag(
            "li",
            tag("i", class_=f"swatch {one.culprit.value if one.culprit else UNEXPLAINED}"),
            tag("b", f"{culprit_name(one.culprit)} · {group_name(one)} ({one.trials})"),
            tag("p", group_grounds(one, report.scene_names), class_="note"),
        )
        for one in groups[:_GROUPS]
    ]
    return [tag("h3", title), tag("ol", *items, class_="findings")]
