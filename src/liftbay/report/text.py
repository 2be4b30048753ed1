"""The report as text for the terminal, in the language in use."""

from __future__ import annotations

from collections.abc import Mapping

from liftbay.catalog.metrics import METRICS
from liftbay.catalog.words import MODULES, text_of
from liftbay.domain.spans import SpanCounts
from liftbay.domain.vocabulary import Module, VerdictStatus
from liftbay.language import in_language, language, tr
from liftbay.report.jmultiwoz_table import score_lines_table
from liftbay.report.report import CaseLine, MetricReport, ProbeReport, Report
from liftbay.report.table import printable, table
from liftbay.scoring.rates import Rate

_CASES_SHOWN = 5
_TEXT_SHOWN = 72
_MONEY = "money"


def report_text(report: Report) -> str:
    """The whole report."""
    parts = [
        _headline(report),
        _cases(report),
        "",
        tr("Quality (95 % intervals; excluded and errors are in no conditional rate):"),
        _quality(report),
        "",
        tr("Cost and performance:"),
        _probes(report),
    ]
    if reasons := _reasons(report):
        parts += ["", tr("Why observations are missing:"), *reasons]
    if report.trials > 1 and report.pass_at_k and report.pass_hat_k:
        parts += ["", _trials(report)]
    if beside := _beside(report):
        parts += ["", tr("Figures beside the metrics:"), beside]
    if report.tools:
        parts += ["", tr("Tools:"), _tools(report)]
    if report.unmocked.trials:
        parts += ["", _unmocked(report)]
    if report.spans is not None:
        parts += ["", _spans(report.spans)]
    if report.jmultiwoz:
        parts += ["", tr("The five lines of JMultiWOZ-TC:"), score_lines_table(report.jmultiwoz)]
    if len(report.by_scene) > 1:
        parts += ["", tr("Pass rate by scene:"), _scenes(report)]
    if report.lucky_passes_total:
        title = tr("Lucky passes (passed although a module metric failed): {count}", count=report.lucky_passes_total)
        parts += ["", title, *map(_case, report.lucky_passes[:_CASES_SHOWN])]
    if report.failed_cases:
        title = tr("Failed cases: {count}", count=report.cases.failed)
        parts += ["", title, *map(_case, report.failed_cases[:_CASES_SHOWN])]
    return "\n".join(parts)


def _headline(report: Report) -> str:
    agent = f"{report.agent} {report.agent_version}" if report.agent_version else report.agent
    rate = report.pass_rate
    if rate.value is None:
        said = tr("No case could be decided.")
    else:
        said = tr(
            "{percent} % of the decided cases pass ({low}–{high}).",
            percent=_percent(rate.value),
            low=_percent(rate.low),
            high=_percent(rate.high),
        )
    lines = [f"{agent} · {report.scope} · {report.run} · {report.state}", said]
    if report.error:
        lines.append(tr("It did not finish: {why}", why=report.error))
    lines += [tr("Note: {note}", note=note) for note in report.warnings]
    if report.missing_dataset_types:
        missing = ", ".join(report.missing_dataset_types)
        lines.append(tr("No cases of these dataset types of the scope: {missing}", missing=missing))
    return "\n".join(lines)


def _cases(report: Report) -> str:
    cases = report.cases
    line = tr(
        "{total} trials: {passed} passed ●, {failed} failed ✕, {undecided} undecided ◌",
        total=cases.total,
        passed=cases.passed,
        failed=cases.failed,
        undecided=cases.undecided,
    )
    reasons = "; ".join(f"{in_language(reason)}: {count}" for reason, count in cases.undecided_by_reason.items())
    main = tr("main metric: {metric}: {reason}", metric=_name(report.main.metric), reason=text_of(report.main.reason))
    examples = [
        "  " + tr("for example {example}", example=_short(example)) for example in cases.undecided_examples.values()
    ]
    return "\n".join((f"{line}{f' ({reasons})' if reasons else ''}", *examples, main))


def _quality(report: Report) -> str:
    names = (
        tr("module"),
        tr("metric"),
        tr("by"),
        tr("conditional (%)"),
        "n",
        tr("all cases (%)"),
        tr("coverage (%)"),
        tr("excluded"),
        tr("errors"),
        tr("not applicable"),
    )
    order = {module: position for position, module in enumerate(Module)}
    rows = [
        (
            text_of(MODULES[metric.module]),
            _name(id_) + (" *" if id_ == report.main.metric else ""),
            metric.basis.value,
            _rate(metric.conditional),
            str(metric.conditional.n),
            _rate(metric.all_cases),
            _rate(metric.coverage),
            str(sum(metric.excluded.values())),
            str(sum(metric.errors.values())),
            str(sum(metric.not_applicable.values())),
        )
        for id_, metric in sorted(report.metrics.items(), key=lambda item: order[item[1].module])
    ]
    return table(names, rows, text_columns=3)


def _name(id_: str) -> str:
    return METRICS[id_].name.ja if language() == "ja" and id_ in METRICS else id_


def _probes(report: Report) -> str:
    names = (tr("probe"), tr("unit"), tr("mean"), "p50", "p90", "p95", "p99", "n")
    rows = [(probe, found.unit, *_distribution(found)) for probe, found in report.probes.items()]
    return table(names, rows, text_columns=2) if rows else "  " + tr("none")


def _distribution(probe: ProbeReport) -> tuple[str, ...]:
    values = probe.values
    if not values.n:
        return (tr("not reported"), "", "", "", "", "0")
    figures = (values.mean, values.p50, values.p90, values.p95, values.p99)
    form = ".4g" if probe.unit == _MONEY else ".1f"  # a case may cost a fraction of a cent
    return (*(format(figure, form) for figure in figures if figure is not None), str(values.n))


def _beside(report: Report) -> str:
    rows = [
        (_name(id_), name, _rate(rate), str(rate.n))
        for id_, metric in report.metrics.items()
        for name, rate in metric.beside.items()
    ]
    return table((tr("metric"), tr("figure"), "%", "n"), rows, text_columns=2) if rows else ""


def _tools(report: Report) -> str:
    names = (tr("tool"), tr("calls"), tr("succeeded"), tr("failed"), tr("not reported"), tr("mocked"), tr("unmocked"))
    rows = [
        (
            name,
            *map(str, (tool.calls, tool.succeeded, tool.failed, tool.unknown, tool.mocked, tool.unmocked)),
        )
        for name, tool in report.tools.items()
    ]
    return table(names, rows)


def _unmocked(report: Report) -> str:
    title = tr(
        "Unmocked calls in {count} trials: no mock answers them, and the real tool was not asked",
        count=report.unmocked.trials,
    )
    return "\n".join((title, *(f"  {_short(example)}" for example in report.unmocked.examples)))


def _spans(counts: SpanCounts) -> str:
    return tr(
        "Spans: {received} received, {used} used; late: {late}, of no trial: {foreign}, repeated: {repeated}, "
        "dropped: {dropped}",
        received=counts.received,
        used=counts.used,
        late=counts.late,
        foreign=counts.foreign,
        repeated=counts.repeated,
        dropped=counts.dropped,
    )


def _reasons(report: Report) -> list[str]:
    lines = []
    for id_, metric in report.metrics.items():
        for status, reasons in (
            (VerdictStatus.EXCLUDED, metric.excluded),
            (VerdictStatus.ERROR, metric.errors),
            (VerdictStatus.NOT_APPLICABLE, _unreported(metric)),
        ):
            lines += [
                f"  {_name(id_)}: {status.value}: {in_language(reason)}: {count}" for reason, count in reasons.items()
            ]
    return lines


def _unreported(metric: MetricReport) -> Mapping[str, int]:
    """Only where a metric was applicable to no case at all: else it is noise."""
    return metric.not_applicable if metric.all_cases.n == 0 else {}


def _trials(report: Report) -> str:
    assert report.pass_at_k is not None
    assert report.pass_hat_k is not None
    rows = [
        (str(k), _percent(at), _percent(hat))
        for k, (at, hat) in enumerate(zip(report.pass_at_k, report.pass_hat_k, strict=True), start=1)
    ]
    return table(("k", "pass@k (%)", "pass^k (%)"), rows)


def _scenes(report: Report) -> str:
    rows = [(scene, _rate(rate), str(rate.n)) for scene, rate in report.by_scene.items()]
    return table((tr("scene"), tr("pass rate (%)"), "n"), rows)


def _case(case: CaseLine) -> str:
    reasons = "; ".join(_verdict(verdict.metric, verdict.reason) for verdict in case.verdicts)
    return (
        f"  {case.dataset_type.value} {_short(case.id)} #{case.trial}: {reasons}\n"
        f"    {tr('user')}: {_short(case.user_input)}\n    {tr('agent')}: {_short(case.answer)}"
    )


def _verdict(metric: str, reason: str | None) -> str:
    return f"{_name(metric)}: {in_language(reason)}" if reason else _name(metric)


def _short(text: str) -> str:
    line = printable(" ".join(text.split()))
    return line if len(line) <= _TEXT_SHOWN else line[:_TEXT_SHOWN] + "…"


def _rate(rate: Rate) -> str:
    if rate.value is None:
        return "–"
    return f"{_percent(rate.value)} ({_percent(rate.low)}–{_percent(rate.high)})"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f}"
