"""The report as text for the terminal, in the language in use."""

from __future__ import annotations

from collections.abc import Mapping

from liftbay.catalog.words import MODULES, text_of
from liftbay.domain.spans import SpanCounts
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import Module, VerdictStatus
from liftbay.language import in_language, tr
from liftbay.report.blame_words import blame_sentence, blame_text, culprit_name, group_grounds, group_name
from liftbay.report.finding import Conclusion
from liftbay.report.jmultiwoz_table import score_lines_table
from liftbay.report.judge_totals import JudgeTotals
from liftbay.report.report import CaseLine, MetricReport, ProbeReport, Report
from liftbay.report.table import printable, table
from liftbay.report.wording import (
    advice,
    cause_sentence,
    fix_name,
    grounds,
    metric_name,
    pass_sentence,
    percent,
    rate_text,
    reason_of,
    unexplained,
)

_MONEY = "money"
_CASES_SHOWN = 5
_GROUPS_SHOWN = 8
_TEXT_SHOWN = 72
_REASON_SHOWN = 160  # of a judge: what is wrong stands near its beginning


def report_text(report: Report) -> str:
    """The whole report."""
    reasons, fixes = _reasons(report), _conclusion(report.conclusion)
    listed = report.failed_cases[:_CASES_SHOWN]
    lucky = report.lucky_passes[:_CASES_SHOWN]
    lucky_title = tr("Lucky passes (passed although a module metric failed): {count}", count=report.lucky_passes_total)
    quality = tr("Quality (95 % intervals; excluded and errors are in no conditional rate):")
    parts = (
        (quality, _quality(report)),
        (tr("Cost and performance:"), _probes(report)),
        (tr("Why observations are missing:"), "\n".join(reasons)),
        ("", _trials(report)),
        (tr("Figures beside the metrics:"), _beside(report)),
        (tr("Tools:"), _tools(report) if report.tools else ""),
        ("", _unmocked(report) if report.unmocked.trials else ""),
        ("", _judges(report)),
        ("", _spans(report.spans) if report.spans is not None else ""),
        (tr("The five lines of JMultiWOZ-TC:"), score_lines_table(report.jmultiwoz) if report.jmultiwoz else ""),
        (tr("Pass rate by scene:"), _scenes(report) if len(report.by_scene) > 1 else ""),
        (tr("Retention over the rounds and over the distance (%):"), _decay(report)),
        (lucky_title, "\n".join(map(_case, lucky))),
        (tr("What to fix:"), "\n".join(fixes)),
        (tr("Where it first goes wrong:"), "\n".join(_blame(report))),
        (tr("Failed cases: {count}", count=report.cases.failed), "\n".join(map(_case, listed))),
    )
    shown = ["\n".join(filter(None, (title, body))) for title, body in parts if body]
    return "\n\n".join([f"{_headline(report)}\n{_cases(report)}", *shown])


def _headline(report: Report) -> str:
    agent = f"{report.agent} {report.agent_version}" if report.agent_version else report.agent
    lines = [
        f"{agent} · {report.scope} · {report.run} · {report.state}",
        pass_sentence(report),
        cause_sentence(report.conclusion),
    ]
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
    main = tr(
        "main metric: {metric}: {reason}", metric=metric_name(report.main.metric), reason=text_of(report.main.reason)
    )
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
            metric_name(id_) + (" *" if id_ == report.main.metric else ""),
            metric.basis.value,
            rate_text(metric.conditional),
            str(metric.conditional.n),
            rate_text(metric.all_cases),
            rate_text(metric.coverage),
            str(sum(metric.excluded.values())),
            str(sum(metric.errors.values())),
            str(sum(metric.not_applicable.values())),
        )
        for id_, metric in sorted(report.metrics.items(), key=lambda item: order[item[1].module])
    ]
    return table(names, rows, text_columns=3)


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
        (metric_name(id_), name, rate_text(rate), str(rate.n))
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
                f"  {metric_name(id_)}: {status.value}: {in_language(reason)}: {count}"
                for reason, count in reasons.items()
            ]
    return lines


def _unreported(metric: MetricReport) -> Mapping[str, int]:
    """Only where a metric was applicable to no case at all: else it is noise."""
    return metric.not_applicable if metric.all_cases.n == 0 else {}


def _trials(report: Report) -> str:
    if report.trials == 1 or not report.pass_at_k or not report.pass_hat_k:
        return ""
    rows = [
        (str(k), percent(at), percent(hat))
        for k, (at, hat) in enumerate(zip(report.pass_at_k, report.pass_hat_k, strict=True), start=1)
    ]
    return table(("k", "pass@k (%)", "pass^k (%)"), rows)


def _conclusion(conclusion: Conclusion) -> list[str]:
    lines = []
    for number, finding in enumerate(conclusion.findings, start=1):
        lines.append(f"  {number}. {fix_name(finding)}: {advice(finding)}")
        lines += [f"     {_short(ground, _REASON_SHOWN)}" for ground in grounds(finding)]
    if rest := unexplained(conclusion):
        lines.append(f"  {rest}")
    return lines


def _blame(report: Report) -> list[str]:
    said = blame_sentence(report.blame)
    lines = [f"  {said}"] if said else []
    for title, groups in (("", report.blame.groups), (tr("lucky passes"), report.blame.lucky)):
        for group in groups[:_GROUPS_SHOWN]:
            head = " · ".join(
                filter(None, (title, culprit_name(group.culprit), _short(group_name(group), _REASON_SHOWN)))
            )
            lines.append(f"  {group.trials}× {head}")
            lines.append(f"     {_short(group_grounds(group, report.scene_names), 2 * _REASON_SHOWN)}")
    return lines


def _decay(report: Report) -> str:
    rows = [
        (metric_name(metric), axis, str(point.at), rate_text(point.rate), str(point.rate.n))
        for metric, curve in report.decay.items()
        for axis, points in ((tr("round"), curve.by_round), (tr("distance"), curve.by_distance))
        for point in points
    ]
    return table((tr("metric"), tr("over"), "", "%", "n"), rows, text_columns=2) if rows else ""


def _judges(report: Report) -> str:
    return "\n".join(map(_judge, report.judges))


def _judge(judge: JudgeTotals) -> str:
    used = tr(
        "Judge {model}: {verdicts} verdicts, {cached} of them replayed from a cache, {errors} without a decision",
        model=judge.model,
        verdicts=judge.verdicts,
        cached=judge.cached,
        errors=judge.errors,
    )
    if judge.mean_latency_ms is None:
        return used
    seconds = judge.mean_latency_ms / 1000
    tokens = judge.input_tokens + judge.output_tokens or tr("not reported")  # an answer of no token there is not
    return f"{used}; {tr('{seconds:.1f} s an answer, tokens: {tokens}', seconds=seconds, tokens=tokens)}"


def _scenes(report: Report) -> str:
    rows = [(scene, rate_text(rate), str(rate.n)) for scene, rate in report.by_scene.items()]
    return table((tr("scene"), tr("pass rate (%)"), "n"), rows)


def _case(case: CaseLine) -> str:
    reasons = "; ".join(_verdict(verdict) for verdict in case.verdicts)
    blame = f"\n    {tr('first fault')}: {_short(blame_text(case.blame), _REASON_SHOWN)}" if case.blame else ""
    return (
        f"  {case.dataset_type.value} {_short(case.id)} #{case.trial}: {reasons}{blame}\n"
        f"    {tr('user')}: {_short(case.user_input)}\n    {tr('agent')}: {_short(case.answer)}"
    )


def _verdict(verdict: Verdict) -> str:
    why = reason_of(verdict)
    return f"{metric_name(verdict.metric)}: {_short(why, _REASON_SHOWN)}" if why else metric_name(verdict.metric)


def _short(text: str, length: int = _TEXT_SHOWN) -> str:
    line = printable(" ".join(text.split()))
    return line if len(line) <= length else line[:length] + "…"
