"""What the gate says, as text, Markdown and JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from liftbay.jobs.gate import Decision, GateResult, MetricChange
from liftbay.language import tr
from liftbay.report.markdown import code
from liftbay.report.table import table
from liftbay.report.wording import full_name, metric_name, percent, sentences

_SIGNIFICANT = 0.05
_TRIALS = 20  # that are named
_SIGNS = {Decision.PASSED: "●", Decision.FAILED: "✕", Decision.LOW_COVERAGE: "△", Decision.TOO_SMALL: "△"}


def gate_text(result: GateResult) -> str:
    """For the terminal."""
    lines = [f"{_SIGNS[result.decision]} {headline(result)}", *_grounds(result)]
    if result.metrics:
        lines += ["", table(_names(), [_cells(one, metric_name(one.metric)) for one in result.metrics])]
    for title, trials in _flipped(result):
        lines += ["", title, *(f"  {trial}" for trial in _some(trials))]
    return "\n".join(lines)


def gate_markdown(result: GateResult) -> str:
    """For a pull request, with the flipped trials folded away."""
    parts = [f"## {_SIGNS[result.decision]} {headline(result)}", "\n".join(f"- {line}" for line in _grounds(result))]
    if result.metrics:
        rows = [f"| {' | '.join(_cells(one, full_name(one.metric)))} |" for one in result.metrics]
        parts.append("\n".join((f"| {' | '.join(_names())} |", "|---|--:|--:|--:|--:|--:|", *rows)))
    for title, trials in _flipped(result):
        listed = "\n".join(f"- {code(trial)}" for trial in _some(trials))
        parts.append(f"<details><summary>{title}</summary>\n\n{listed}\n\n</details>")
    return "\n\n".join(parts) + "\n"


def gate_junit(result: GateResult) -> str:
    """Three test cases: the drop, the coverage, the size of the suite. What cannot be decided is an error."""
    found = {
        "drop": ("failure", result.decision is Decision.FAILED),
        "coverage": ("error", result.decision is Decision.LOW_COVERAGE),
        "size": ("error", result.decision is Decision.TOO_SMALL),
    }
    said = quoteattr(headline(result))
    body = escape("\n".join((*_grounds(result), *(f"- {trial}" for trial in result.lost))))
    cases = "".join(
        f'<testcase classname="liftbay.gate" name="{name}">'
        + (f'<{kind} type="{result.decision.value}" message={said}>{body}</{kind}>' if true else "")
        + "</testcase>\n"
        for name, (kind, true) in found.items()
    )
    failures = int(result.decision is Decision.FAILED)
    errors = int(result.decision in (Decision.LOW_COVERAGE, Decision.TOO_SMALL))
    counts = f'tests="3" failures="{failures}" errors="{errors}" skipped="0"'
    name = quoteattr(f"liftbay gate {result.base} {result.head}")
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name={name} {counts}>\n'
        f'<testsuite name="gate" {counts}>\n{cases}</testsuite>\n</testsuites>\n'
    )


def headline(result: GateResult) -> str:
    """The decision with its main reason."""
    limits, power = result.limits, result.power
    if result.decision is Decision.FAILED:
        return tr(
            "The gate fails: the pass rate drops by {drop} points, where {max_drop} are allowed; at least {least} of "
            "them are no chance ({sure} % sure).",
            drop=percent(result.drop),
            max_drop=percent(limits.max_drop),
            least=percent(result.least_drop),
            sure=f"{100 * (1 - limits.alpha):g}",
        )
    if result.decision is Decision.LOW_COVERAGE:
        return tr(
            "The gate cannot decide: {coverage} % of the baseline's trials can be compared, where {least} % are asked "
            "for.",
            coverage=percent(result.coverage),
            least=percent(limits.min_coverage),
        )
    if result.decision is Decision.TOO_SMALL:
        said = tr(
            "The gate cannot decide: these cases show a drop of {max_drop} points with a chance of {power} % only.",
            max_drop=percent(limits.max_drop),
            power=percent(power.of_max_drop),
        )
        return sentences(filter(None, (said, _needed(result))))
    said = "The gate passes: nothing shows a drop of more than {max_drop} points."
    return tr(said, max_drop=percent(limits.max_drop))


def _needed(result: GateResult) -> str:
    """How many cases or trials would tell."""
    power = result.power
    if power.cases is None:
        return ""
    if power.trials is None:
        return tr("About {cases} cases would do; more trials of the same cases would not.", cases=power.cases)
    return tr("About {cases} cases would do, or {trials} trials of each case.", cases=power.cases, trials=power.trials)


def _grounds(result: GateResult) -> Iterator[str]:
    """The figures behind the decision, a line each."""
    counts = result.counts
    yield tr("baseline {base}, head {head}", base=result.base, head=result.head)
    if result.drop is not None and result.low is not None and result.high is not None:
        yield tr(
            "pass rate {before} % → {after} %: {change} points (95 %: {low} … {high})",
            before=percent(result.base_rate),
            after=percent(result.head_rate),
            change=_points(-result.drop),
            low=_points(-result.high),
            high=_points(-result.low),
        )
    yield tr(
        "{decided} pairs of trials, {cases} cases, {clusters} independent groups; {base} passed only before, {head} "
        "only now (McNemar p {p})",
        decided=counts.decided,
        cases=result.cases,
        clusters=result.clusters,
        base=result.only_base,
        head=result.only_head,
        p=f"{result.mcnemar_p_value:.2g}",
    )
    yield tr(
        "left out: {undecided} undecided, {changed} of changed cases, {only_base} only in the baseline, {only_head} "
        "only in the head; coverage {coverage} %",
        undecided=counts.undecided,
        changed=counts.changed,
        only_base=counts.only_base,
        only_head=counts.only_head,
        coverage=percent(result.coverage),
    )
    if result.power.detectable_drop is not None:
        yield tr(
            "smallest drop that these cases show with a chance of 80 %: {drop} points",
            drop=percent(result.power.detectable_drop),
        )


def _names() -> tuple[str, ...]:
    return (tr("metric"), tr("pairs"), tr("before %"), tr("now %"), tr("points (95 %)"), tr("p (Holm)"))


def _cells(one: MetricChange, name: str) -> tuple[str, ...]:
    """A row; a star stands where chance alone is no explanation, with all metrics considered."""
    star = "*" if one.adjusted_p_value < _SIGNIFICANT else ""
    interval = f"{_points(one.change)} ({_points(one.low)} … {_points(one.high)})"
    p_value = f"{one.adjusted_p_value:.2g}{star}"
    return name, str(one.pairs), percent(one.base), percent(one.head), interval, p_value


def _flipped(result: GateResult) -> Iterator[tuple[str, Sequence[str]]]:
    if result.lost:
        yield tr("passed before, fails now: {count}", count=len(result.lost)), result.lost
    if result.gained:
        yield tr("failed before, passes now: {count}", count=len(result.gained)), result.gained


def _some(trials: Sequence[str]) -> list[str]:
    rest = len(trials) - _TRIALS
    return [*trials[:_TRIALS], *([f"… {tr('and {count} more', count=rest)}"] if rest > 0 else [])]


def _points(share: float) -> str:
    return f"{round(share * 100, 1) + 0.0:+.1f}"  # 0.0 takes the sign from -0.0
