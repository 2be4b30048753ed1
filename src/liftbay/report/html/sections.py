"""The parts of the page around the metrics: the answer, what to fix, cost and speed, scenes, the run itself."""

from __future__ import annotations

from liftbay.catalog.probes import PROBES
from liftbay.catalog.words import text_of
from liftbay.domain.result import RunRecord
from liftbay.domain.vocabulary import Dimension
from liftbay.language import in_language, tr
from liftbay.report.blame_words import blame_text
from liftbay.report.finding import Finding
from liftbay.report.html.charts import curve, letter, outcome_bar, shape_of, trade_off_plot, whisker
from liftbay.report.html.elements import Child, Html, cases_link, table, tag, together
from liftbay.report.marks import Mark
from liftbay.report.report import CaseLine, Report
from liftbay.report.trade_offs import Grouping, TradeOff
from liftbay.report.wording import (
    advice,
    cause_sentence,
    figure,
    fix_name,
    full_name,
    grounds,
    mark_text,
    pass_sentence,
    percent,
    rate_text,
    reason_of,
    sentences,
    unexplained,
)

_LINES = 8  # the list of cases below has all


def header(report: Report, record: RunRecord) -> Html:
    """The answer first, above it what was run."""
    agent = " ".join(filter(None, (report.agent, report.agent_version)))
    judges = ", ".join(judge.model for judge in report.judges) or tr("none")
    trials = tr("{count} trials", count=report.cases.total)
    facts = [agent, report.scope, trials, f"{tr('judge')}: {judges}"]
    line = together((" · ".join(facts), " · ", time_of(record.started or record.submitted)))
    notes = [tr("Note: {note}", note=note) for note in report.warnings]
    if report.state != "finished":
        notes.append(tr("The run is not finished: it is {state}.", state=report.state))
    if report.error:
        notes.append(tr("It did not finish: {why}", why=report.error))
    if report.missing_dataset_types:
        missing = ", ".join(report.missing_dataset_types)
        notes.append(tr("No cases of these dataset types of the scope: {missing}", missing=missing))
    if any(judge.cached for judge in report.judges):
        cached, verdicts = (sum(getattr(one, key) for one in report.judges) for key in ("cached", "verdicts"))
        notes.append(
            tr(
                "{cached} of {verdicts} verdicts of the judge are replayed from a cache.",
                cached=cached,
                verdicts=verdicts,
            )
        )
    return tag(
        "header",
        tag("p", line, class_="facts"),
        tag("h1", pass_sentence(report).replace(" %", "\u00a0%")),
        tag("p", cause_sentence(report.conclusion), class_="cause"),
        *(tag("p", note, class_="warning") for note in notes),
        _outcomes(report),
    )


def time_of(moment: str) -> Html:
    """A time that the script says in the reader's zone; without it, UTC."""
    return tag("time", moment[:16].replace("T", " ") + " UTC", datetime=moment)


def _outcomes(report: Report) -> Html:
    counts = {mark: sum(by.get(mark, 0) for by in report.cases.marks.values()) for mark in Mark}
    links = [
        cases_link(f"{mark_text(mark)} {count}", mark=mark.value, class_=f"mark {mark.value}")
        for mark, count in counts.items()
    ]
    reasons = [
        tag("li", f"{in_language(reason)}: ", cases_link(count, why=in_language(reason), class_="figure"))
        for reason, count in report.cases.undecided_by_reason.items()
    ]
    main = tr(
        "main metric: {metric}: {reason}", metric=full_name(report.main.metric), reason=text_of(report.main.reason)
    )
    undecided = tag("div", tr("Why trials are undecided:"), tag("ul", *reasons)) if reasons else None
    whole = tag("p", whisker(report.pass_rate, "end_to_end"), rate_text(report.pass_rate), f" · n {report.pass_rate.n}")
    return tag(
        "div",
        outcome_bar(counts),
        tag("p", *links, class_="marks"),
        whole,
        undecided,
        tag("p", main, class_="note"),
        class_="outcomes",
    )


def conclusion(report: Report) -> Html:
    """What to fix, in plain words with the figures it rests on."""
    found = report.conclusion
    parts: list[Html] = [tag("ol", *map(_finding, found.findings), class_="findings")] if found.findings else []
    if not found.findings:
        parts.append(tag("p", cause_sentence(found)))
    if found.doubtful:
        items = [
            tag("li", full_name(one.metric), ": ", rate_text(one.rate), f" %, n {one.rate.n}") for one in found.doubtful
        ]
        parts += [tag("p", tr("Perhaps too, but this run cannot tell:")), tag("ul", *items, class_="doubtful")]
    if rest := unexplained(found):
        parts.append(tag("p", rest))
    if found.unmeasured:
        names = ", ".join(map(full_name, found.unmeasured))
        parts.append(tag("p", tr("Too few decided cases to say anything of: {names}", names=names), class_="note"))
    return tag("section", tag("h2", tr("What to fix")), *parts, id="conclusion")


def _finding(finding: Finding) -> Html:
    return tag(
        "li",
        tag("b", fix_name(finding)),
        tag("p", advice(finding)),
        tag(
            "p",
            sentences(grounds(finding)),
            " ",
            cases_link(tr("the cases"), metric=finding.metric, verdict="failed"),
            class_="note",
        ),
    )


def probes(report: Report) -> Html:
    """Cost and performance, with how the values are spread."""
    parts = []
    for dimension, title in ((Dimension.COST, tr("Cost")), (Dimension.PERFORMANCE, tr("Performance"))):
        rows: list[list[Child]] = []
        for id_, probe in report.probes.items():
            if PROBES[id_].dimension is not dimension:
                continue
            values, unit = probe.values, (report.currency or probe.unit) if id_ == "cost" else probe.unit
            if not values.n:
                rows.append([full_name(id_), unit, tag("span", tr("not reported"), class_="unknown"), *[""] * 5, "0"])
                continue
            figures = (values.mean, values.p50, values.p90, values.p95, values.p99)
            shape = shape_of(probe.histogram, values)
            rows.append([full_name(id_), unit, shape, *map(figure, figures), str(values.n)])
        names = (title, tr("unit"), tr("spread"), tr("mean"), "p50", "p90", "p95", "p99", "n")
        if rows:
            parts.append(table(names, rows, class_="probes"))
    note = tag(
        "p", tr("A replayed or cached answer has no latency of its own, and is in none of these."), class_="note"
    )
    return tag("section", tag("h2", tr("Cost and performance")), *parts, note, id="probes")


def trade_offs(report: Report) -> Html:
    """Quality, cost and latency side by side, by dataset type and by scene."""
    parts = []
    titles = {Grouping.DATASET: tr("dataset type"), Grouping.SCENE: tr("scene")}
    for by, title in titles.items():
        groups = [one for one in report.trade_offs if one.by is by]
        if not groups:
            continue
        probe = next((one.cost_probe for one in groups if one.cost_probe), None)
        cost = full_name(probe) if probe else tr("cost")
        if probe == "cost" and report.currency:
            cost += f" ({report.currency})"
        plot = trade_off_plot(groups, cost)
        names = ("", title, tr("pass rate"), "% (95 %)", "n", cost, tr("latency (ms)"))
        rows = [_trade_off(report, i, one) for i, one in enumerate(groups)]
        parts.append(tag("div", plot, table(names, rows, class_="trades"), class_="beside"))
    return tag("section", tag("h2", tr("Quality, cost and latency")), *parts, id="trade-offs")


def _trade_off(report: Report, position: int, one: TradeOff) -> list[Child]:
    name = (report.scene_names.get(one.name) or one.name) if one.by is Grouping.SCENE else one.name
    key = "scene" if one.by is Grouping.SCENE else "type"
    return [
        letter(position),
        cases_link(name, **{key: one.name}),
        whisker(one.pass_rate, "end_to_end"),
        rate_text(one.pass_rate),
        str(one.pass_rate.n),
        figure(one.cost),
        figure(one.latency_ms),
    ]


def decay(report: Report) -> Html | None:
    """Retention over the rounds and over the distance."""
    if not report.decay:
        return None
    parts = []
    for metric, found in report.decay.items():
        curves = [
            tag("figure", curve(points, axis), tag("figcaption", caption))
            for points, axis, caption in (
                (found.by_round, tr("round"), tr("over the rounds")),
                (found.by_distance, tr("distance"), tr("over the distance to the turn referred to")),
            )
            if points
        ]
        links = [
            tag(
                "li",
                f"{name} {point.at}: {rate_text(point.rate)} % ",
                cases_link(f"n\u00a0{point.rate.n}", metric=metric, **{key: str(point.at)}, class_="figure"),
            )
            for key, name, points in (
                ("round", tr("round"), found.by_round),
                ("distance", tr("distance"), found.by_distance),
            )
            for point in points
        ]
        parts += [
            tag("h3", full_name(metric)),
            tag("div", *curves, class_="beside"),
            tag("ul", *links, class_="points"),
        ]
    return tag("section", tag("h2", tr("How memory fades")), *parts, id="decay", class_="memory")


def lines(report: Report) -> Html:
    """Lucky passes and failed cases, the first of each; the list below has all."""
    parts = []
    if report.failed_cases:
        title = tr("Failed cases: {count}", count=report.cases.failed)
        parts.append(_listed(title, report.failed_cases, cases_link(tr("all of them"), mark="failed")))
    if report.lucky_passes_total:
        title = tr("Lucky passes (passed although a module metric failed): {count}", count=report.lucky_passes_total)
        parts.append(_listed(title, report.lucky_passes, cases_link(tr("all of them"), lucky=1)))
    return together(parts)


def _listed(title: str, cases: list[CaseLine], link: Html) -> Html:
    rows = []
    for case in cases[:_LINES]:
        name = f"{case.id} #{case.trial}"
        why = tag(
            "ul",
            *([tag("li", tag("b", tr("first fault")), " ", blame_text(case.blame))] if case.blame else []),
            *(tag("li", tag("b", full_name(one.metric)), " ", _short(reason_of(one), 240)) for one in case.verdicts),
        )
        opened = cases_link(name, open=f"{case.dataset_type.value}/{case.id}/{case.trial}")
        rows.append([opened, _short(case.user_input, 120), _short(case.answer, 120), why])
    names = (tr("case"), tr("user"), tr("agent"), tr("why"))
    return tag("section", tag("h2", title), table(names, rows, class_="lines"), tag("p", link))


def _short(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[:length] + "…"


def trials(report: Report) -> Html | None:
    """pass@k and pass^k."""
    if report.trials == 1 or not report.pass_at_k or not report.pass_hat_k:
        return None
    rows = [
        [str(k), percent(at), percent(hat)]
        for k, (at, hat) in enumerate(zip(report.pass_at_k, report.pass_hat_k, strict=True), start=1)
    ]
    note = tag("p", tr("pass@k: at least one of k trials passes; pass^k: all of them do."), class_="note")
    return tag("section", tag("h2", tr("Several trials")), table(("k", "pass@k (%)", "pass^k (%)"), rows), note)
