"""What was run, with what, and how to read the figures."""

from __future__ import annotations

from liftbay.domain.result import RunRecord
from liftbay.language import tr
from liftbay.report.html.elements import Child, Html, cases_link, table, tag
from liftbay.report.html.sections import time_of
from liftbay.report.report import Report
from liftbay.report.wording import figure, percent


def tools(report: Report) -> Html | None:
    """Calls of each tool, and those that no mock answered."""
    if not report.tools:
        return None
    names = (tr("tool"), tr("calls"), tr("succeeded"), tr("failed"), tr("not reported"), tr("mocked"), tr("unmocked"))
    rows: list[list[Child]] = [
        [
            name,
            cases_link(tool.calls, tool=name, class_="figure"),
            *map(str, (tool.succeeded, tool.failed, tool.unknown, tool.mocked, tool.unmocked)),
        ]
        for name, tool in report.tools.items()
    ]
    parts: list[Html] = [table(names, rows)]
    if report.unmocked.trials:
        said = tr(
            "Unmocked calls in {count} trials: no mock answers them, and the real tool was not asked",
            count=report.unmocked.trials,
        )
        link = cases_link(tr("the cases"), unmocked=1)
        parts += [tag("p", "△ ", said, " ", link), tag("ul", *(tag("li", one) for one in report.unmocked.examples))]
    return tag("section", tag("h2", tr("Tools")), *parts, id="tools")


def about(report: Report, record: RunRecord) -> Html:
    """The run, its datasets and its judges."""
    facts: list[tuple[str, Child]] = [
        (tr("run"), report.run),
        (tr("scope"), report.scope),
        (tr("agent"), " ".join(filter(None, (report.agent, report.agent_version)))),
        (tr("state"), report.state),
        (tr("submitted"), time_of(record.submitted)),
        (tr("started"), time_of(record.started) if record.started else "–"),
        (tr("ended"), time_of(record.ended) if record.ended else "–"),
        (tr("trials done"), f"{report.cases.total} / {record.planned}"),
        (tr("trials of each case"), str(report.trials)),
        ("liftbay", record.liftbay),
    ]
    if report.spans is not None:
        spans = report.spans
        said = tr(
            "Spans: {received} received, {used} used; late: {late}, of no trial: {foreign}, repeated: {repeated}, "
            "dropped: {dropped}",
            received=spans.received,
            used=spans.used,
            late=spans.late,
            foreign=spans.foreign,
            repeated=spans.repeated,
            dropped=spans.dropped,
        )
        facts.append((tr("spans"), said))
    parts = [tag("dl", *(child for name, value in facts for child in (tag("dt", name), tag("dd", value))))]
    if report.datasets:
        rows = [
            [one.type.value, tag("code", one.version[:12]), str(one.cases), ", ".join(one.sources)]
            for one in report.datasets
        ]
        parts.append(table((tr("dataset type"), tr("version"), tr("cases"), tr("sources")), rows))
    parts += _judges(report)
    return tag("section", tag("h2", tr("The run")), *parts, id="about")


def _judges(report: Report) -> list[Html]:
    if not report.judges:
        return []
    rows = [
        [
            judge.model,
            str(judge.verdicts),
            str(judge.cached),
            str(judge.errors),
            str(judge.votes),
            "–" if judge.agreement is None else percent(judge.agreement),
            str(judge.calls),
            figure(judge.input_tokens),
            figure(judge.output_tokens),
        ]
        for judge in report.judges
    ]
    names = (
        tr("judge"),
        tr("verdicts"),
        tr("from the cache"),
        tr("without a decision"),
        tr("votes"),
        tr("agreement (%)"),
        tr("calls"),
        tr("tokens in"),
        tr("tokens out"),
    )
    prompts = [
        tag("li", tag("code", prompt), f" × {count}")
        for judge in report.judges
        for prompt, count in judge.prompts.items()
    ]
    used = tag("details", tag("summary", tr("Prompts and their versions")), tag("ul", *prompts))
    return [table(names, rows), used]


def legend() -> Html:
    """How to read the figures, in a few lines."""
    items = (
        tr("● passed, ✕ failed, ◌ excluded (something upstream failed, with its reason), △ broken (no decision)."),
        tr("Every rate has its 95 % interval as a whisker, clustered by conversation or source document, and its n."),
        tr("Conditional rate: passed / decided. All cases: passed / applicable. Coverage: decided / applicable."),
        tr("Grey with a question mark: the run cannot tell. More cases would."),
        tr("Every figure that is underlined with dots opens its cases."),
    )
    return tag("section", tag("h2", tr("How to read it")), tag("ul", *(tag("li", item) for item in items)), id="legend")
