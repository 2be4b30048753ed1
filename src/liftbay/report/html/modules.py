"""The five modules: their health as a picture of a car on a lift, and as a table."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from liftbay.catalog.words import MODULES, text_of
from liftbay.domain.vocabulary import Module
from liftbay.language import tr
from liftbay.report.conclusion import BAR, LEAST_DECIDED
from liftbay.report.finding import Finding
from liftbay.report.html.charts import whisker
from liftbay.report.html.elements import Html, cases_link, table, tag, together
from liftbay.report.report import MetricReport, Report
from liftbay.report.wording import count_text, full_name, percent, rate_text

FIVE = (Module.PERCEPTION, Module.PLANNING, Module.MEMORY, Module.TOOL, Module.GENERATION)
# No metric is of generation alone: these ask about what was worded, of cases that came so far.
_SAID = ("faithfulness_rate", "instruction_adherence_rate")


class Health(StrEnum):
    """What the run says of a module."""

    FAULT = "fault"
    DOUBT = "doubt"  # below the bar, but the interval reaches it
    HEALTHY = "healthy"
    UNKNOWN = "unknown"


class Part(msgspec.Struct, frozen=True):
    """One module with its worst metric."""

    module: Module
    health: Health
    metric: str | None
    points: float | None


def metrics_of(report: Report, module: Module) -> dict[str, MetricReport]:
    """The metrics that a module's health is read from."""
    if module is Module.GENERATION:
        return {id_: metric for id_, metric in report.metrics.items() if metric.module is module or id_ in _SAID}
    return {id_: metric for id_, metric in report.metrics.items() if metric.module is module}


def parts(report: Report) -> list[Part]:
    """The five modules."""
    found = {one.metric: one for one in (*report.conclusion.findings, *report.conclusion.doubtful)}
    return [_part(report, module, found) for module in FIVE]


def _part(report: Report, module: Module, findings: dict[str, Finding]) -> Part:
    rates = {
        id_: metric.conditional
        for id_, metric in metrics_of(report, module).items()
        if metric.conditional.n >= LEAST_DECIDED
    }
    if not rates:
        return Part(module, Health.UNKNOWN, None, None)
    worst = min(rates, key=lambda id_: rates[id_].value or 0.0)
    points = [found.association.points for id_ in rates if (found := findings.get(id_)) and found.association.points]
    if (rates[worst].value or 0.0) >= BAR:
        health = Health.HEALTHY
    else:
        health = Health.FAULT if any((rate.high or 0.0) < BAR for rate in rates.values()) else Health.DOUBT
    return Part(module, health, worst, max(points, default=None))


def module_table(report: Report) -> Html:
    """The five modules for those who prefer a table."""
    said = {
        Health.FAULT: tr("at fault"),
        Health.DOUBT: tr("cannot tell"),
        Health.HEALTHY: tr("healthy"),
        Health.UNKNOWN: tr("not measured"),
    }
    rows = []
    for part in parts(report):
        name = tag("a", text_of(MODULES[part.module]), href=f"#module-{part.module.value}")
        row = [together((tag("i", class_=f"swatch {part.module.value}"), name)), _state(part.health, said[part.health])]
        if part.metric is None:
            rows.append([*row, "–", "", "", ""])
            continue
        rate = report.metrics[part.metric].conditional
        failed = cases_link(
            count_text(rate.n * (1 - (rate.value or 0.0))), metric=part.metric, verdict="failed", class_="figure"
        )
        rows.append(
            [
                *row,
                full_name(part.metric),
                together((whisker(rate, part.module.value), tag("span", rate_text(rate), class_="rate"))),
                together((failed, f" / {rate.n}")),
                "–" if part.points is None else percent(part.points),
            ]
        )
    names = (tr("module"), tr("state"), tr("weakest metric"), "% (95 %)", tr("failed / n"), tr("points"))
    return table(names, rows, class_="modules")


def _state(health: Health, said: str) -> Html:
    signs = {Health.FAULT: "✕", Health.DOUBT: "?", Health.HEALTHY: "●", Health.UNKNOWN: "◌"}
    return tag("span", f"{signs[health]} {said}", class_=f"state {health.value}")


_BODY = "M24 112V90q2-12 30-16l38-28q10-8 26-8h70q20 0 34 14l20 22 38 6q14 4 14 18v14z"
# What is drawn for each module, and where its name stands.
_PLACES: dict[Module, tuple[str, int, int]] = {
    Module.PERCEPTION: (
        '<ellipse cx="286" cy="90" rx="7" ry="10"/><path d="M297 84l20-6M298 91h22M297 98l20 6"/>',
        316,
        124,
    ),
    Module.PLANNING: (
        '<circle cx="208" cy="66" r="13"/><circle cx="208" cy="66" r="3"/>'
        '<path d="M208 63v-10M205 68l-9 5M211 68l9 5"/>',
        222,
        28,
    ),
    Module.MEMORY: (
        '<rect x="130" y="76" width="34" height="26" rx="2"/>'
        '<path d="M147 76v26M134 83h9M134 89h9M151 83h9M151 89h9"/>',
        122,
        28,
    ),
    Module.TOOL: (
        '<circle cx="78" cy="114" r="19"/><circle cx="234" cy="114" r="19"/>'
        '<path d="M68 124l18-18M83 101q8-3 9 6M64 121q-1 8 7 8M224 124l18-18M239 101q8-3 9 6M220 121q-1 8 7 8"/>',
        30,
        132,
    ),
    Module.GENERATION: (
        '<path d="M254 66l14-9v20l-14-7zM254 66h-6v4h6M273 60q6 7 0 14M278 56q9 11 0 22"/>',
        306,
        48,
    ),
}
_FRAME = "M10 138h300M60 138l96 34M156 138l-96 34M164 138l96 34M260 138l-96 34M30 172h260"


def lift(report: Report) -> Html:
    """The run as a car on a lift: a part at fault is filled, one that was not measured is dashed."""
    drawn = []
    for part in parts(report):
        shape, x, y = _PLACES[part.module]
        level = 0 if part.health is not Health.FAULT else min(4, 1 + int((part.points or 0.0) * 25))
        name = text_of(MODULES[part.module])
        drawn.append(
            tag(
                "a",
                tag("g", Html(shape), class_=f"part {part.health.value} level-{level}"),
                tag("text", name, x=x, y=y, text_anchor="middle"),
                href=f"#module-{part.module.value}",
                class_=part.module.value,
                aria_label=name,
            )
        )
    frame = [
        tag("path", class_="frame", d=_FRAME),
        tag("path", class_="body", d=_BODY),
        tag("path", class_="body", d="M98 72l24-20q4-3 12-3h22v23zM166 49h24q12 0 20 8l14 15h-58z"),
    ]
    return tag(
        "svg", *frame, *drawn, class_="lift", viewBox="0 0 350 178", role="group", aria_label=tr("The five modules")
    )
