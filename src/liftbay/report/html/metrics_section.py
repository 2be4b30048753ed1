"""Every metric of every module: its rates, what is missing from them and why, and the cases behind each figure."""

from __future__ import annotations

from collections.abc import Mapping

from liftbay.catalog.metrics import METRICS
from liftbay.catalog.words import BASES, MODULES, text_of
from liftbay.domain.vocabulary import Module
from liftbay.language import in_language, tr
from liftbay.report.html.charts import whisker
from liftbay.report.html.elements import Child, Html, cases_link, table, tag, together
from liftbay.report.report import MetricReport, Rates, Report
from liftbay.report.wording import count_text, failure_text, full_name, percent, rate_text
from liftbay.scoring.rates import Rate


def metrics_sections(report: Report) -> Html:
    """One section for each module that the run measured, the whole agent first."""
    found = []
    for module in Module:
        metrics = {id_: metric for id_, metric in report.metrics.items() if metric.module is module}
        name = text_of(MODULES[module])
        if metrics:
            found.append(
                _section(module, name, [_head(), *(_metric(report, id_, one) for id_, one in metrics.items())])
            )
        elif module is Module.GENERATION:
            said = tr("What is worded is asked end to end: faithfulness and instruction adherence.")
            found.append(_section(module, name, [tag("p", said, class_="note")]))
        else:
            found.append(_section(module, name, [tag("p", tr("This scope does not measure it."), class_="note")]))
    return together(found)


def _section(module: Module, name: str, inner: list[Html]) -> Html:
    title = tag("h3", tag("i", class_=f"swatch {module.value}"), name)
    return tag("section", title, *inner, id=f"module-{module.value}", class_=f"module {module.value}")


def _head() -> Html:
    names = (
        tr("metric"),
        tr("conditional rate"),
        tr("passed / decided"),
        tr("all cases"),
        tr("coverage"),
        "◌",
        "△",
        tr("n/a"),
    )
    return tag("div", *(tag("span", name) for name in names), class_="metric-row head", aria_hidden="true")


def _metric(report: Report, id_: str, metric: MetricReport) -> Html:
    main = tag("b", " " + tr("main")) if id_ == report.main.metric else None
    # On a narrow screen the columns have no heads: each figure brings its own name.
    row = tag(
        "summary",
        tag("span", full_name(id_), main, class_="name"),
        tag("span", whisker(metric.conditional, metric.module.value), tag("b", rate_text(metric.conditional))),
        _cell(tr("passed / decided"), _fraction(id_, metric)),
        _cell(tr("all cases"), percent(metric.all_cases.value)),
        _cell(tr("coverage"), percent(metric.coverage.value)),
        _cell(tr("excluded"), _count(id_, "excluded", metric.excluded)),
        _cell(tr("errors"), _count(id_, "error", metric.errors)),
        _cell(tr("not applicable"), _count(id_, "not_applicable", metric.not_applicable)),
        class_="metric-row",
    )
    return tag("details", row, tag("div", *_inside(report, id_, metric), class_="inside"), id=f"metric-{id_}")


def _cell(name: str, value: Child) -> Html:
    return tag("span", tag("small", name + " "), value)


def _fraction(id_: str, metric: MetricReport) -> Html:
    rate = metric.conditional
    passed = count_text(rate.n * (rate.value or 0.0))
    return together(
        (
            cases_link(passed, metric=id_, verdict="passed", class_="figure"),
            " / ",
            cases_link(rate.n, metric=id_, verdict="decided", class_="figure"),
        )
    )


def _count(id_: str, verdict: str, reasons: Mapping[str, int]) -> Child:
    count = sum(reasons.values())
    return cases_link(count, metric=id_, verdict=verdict, class_="figure") if count else "0"


def _inside(report: Report, id_: str, metric: MetricReport) -> list[Html]:
    header = METRICS[id_]
    failing = cases_link(tr("the cases in which it fails"), metric=id_, verdict="failed")
    parts = [
        tag("p", text_of(header.definition)),
        tag(
            "p",
            f"{id_} · {tr('decided by')}: {text_of(BASES[metric.basis])} · {tr('all cases')} "
            f"{rate_text(metric.all_cases)} · {tr('coverage')} {rate_text(metric.coverage)}",
            tag("span", " · ", failing, class_="more"),
            class_="note",
        ),
    ]
    reasons = [
        (sign, status, found)
        for sign, status, found in (
            ("✕", "failed", metric.failures),
            ("◌", "excluded", metric.excluded),
            ("△", "error", metric.errors),
            ("–", "not_applicable", metric.not_applicable),
        )
        if found
    ]
    if reasons:
        items = [
            tag("li", f"{sign} {failure_text(reason)}: ", _reason_link(id_, status, reason, count))
            for sign, status, found in reasons
            for reason, count in found.items()
        ]
        parts.append(tag("ul", *items, class_="reasons"))
    if metric.beside:
        parts.append(_rates_table(tr("beside it"), metric.beside, metric.module))
    if len(metric.by_dataset) > 1:
        by_type = {type_.value: rates for type_, rates in metric.by_dataset.items()}
        parts.append(_grouped(tr("dataset type"), id_, "type", by_type, metric.module, {}))
    if len(metric.by_scene) > 1:
        parts.append(_grouped(tr("scene"), id_, "scene", metric.by_scene, metric.module, report.scene_names))
    if metric.confusion:
        parts.append(_confusion(id_, metric.confusion))
    return parts


def _reason_link(id_: str, status: str, reason: str, count: int) -> Html:
    argument = ": " in reason and status == "failed"  # of an argument: its cases are those of the ratio
    wanted = None if argument else in_language(reason)
    return cases_link(count, metric=id_, verdict=status, reason=wanted, class_="figure")


def _rates_table(title: str, rates: Mapping[str, Rate], module: Module) -> Html:
    rows = [[name, whisker(rate, module.value), rate_text(rate), str(rate.n)] for name, rate in rates.items()]
    return table((title, "", "% (95 %)", "n"), rows)


def _grouped(
    title: str, id_: str, filter_: str, groups: Mapping[str, Rates], module: Module, names: Mapping[str, str]
) -> Html:
    rows = [
        [
            names.get(group) or group,
            whisker(rates.conditional, module.value),
            rate_text(rates.conditional),
            cases_link(rates.conditional.n, metric=id_, verdict="decided", **{filter_: group}, class_="figure"),
            percent(rates.all_cases.value),
            percent(rates.coverage.value),
        ]
        for group, rates in groups.items()
    ]
    return table((title, "", "% (95 %)", "n", tr("all cases"), tr("coverage")), rows)


_LABELS = 12


def _confusion(id_: str, confusion: Mapping[str, Mapping[str, int]]) -> Html:
    """Expected labels down, those that came across; the largest where there are many."""
    expected = sorted(confusion, key=lambda label: -sum(confusion[label].values()))[:_LABELS]
    came: dict[str, int] = {}
    for row in confusion.values():
        for label, count in row.items():
            came[label] = came.get(label, 0) + count
    actual = sorted(came, key=lambda label: (label not in expected, -came[label]))[:_LABELS]
    rows = [
        [
            wanted,
            *(
                _cell_of(id_, wanted, label, confusion[wanted].get(label, 0)) if label in confusion[wanted] else ""
                for label in actual
            ),
        ]
        for wanted in expected
    ]
    left_out = len(confusion) - len(expected) + len(came) - len(actual)
    note = tag("p", tr("{count} rarer labels are left out.", count=left_out), class_="note") if left_out else None
    return together((table((tr("expected ↓ came →"), *actual), rows, class_="confusion"), note))


def _cell_of(id_: str, wanted: str, label: str, count: int) -> Html:
    right = wanted == label
    return cases_link(
        f"{'●' if right else '✕'} {count}",
        metric=id_,
        expected=wanted,
        came=label,
        class_="figure right" if right else "figure wrong",
    )
