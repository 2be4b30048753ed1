"""All fifteen scopes against a scripted agent, every figure against one worked out by hand."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from by_hand import ByHand, Figures, by_hand
from command import write_lines
from scope_tables import MAIN, MAIN_OF_SCOPE, METRICS_OF_SCOPE, PROBES_OF_SCOPE, SCOPE_NAMES
from scripted_cases import agent_of, scripted_cases

import liftbay
from liftbay.domain.vocabulary import DatasetType
from liftbay.report.report import MainReport, MetricReport, Rates, Report
from liftbay.scoring.rates import Rate

CASES, SCRIPT = scripted_cases()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    """The report of every scope; the cases lie in one file, in no order."""
    path = write_lines(tmp_path_factory.mktemp("scopes") / "cases.jsonl", CASES[::3] + CASES[1::3] + CASES[2::3])

    async def run_all() -> dict[str, Report]:
        options: dict[str, Any] = {"turn_settle": 0, "retries": 0, "timeout": 0.05, "concurrency": 8}
        return {
            scope: await liftbay.run_async(scope, agent_of(SCRIPT), dataset=path, **options) for scope in SCOPE_NAMES
        }

    return asyncio.run(run_all())


@pytest.fixture(params=SCOPE_NAMES)
def scope(request: pytest.FixtureRequest) -> str:
    """Each scope."""
    return str(request.param)


@pytest.fixture
def report(reports: dict[str, Report], scope: str) -> Report:
    """The report of the scope."""
    return reports[scope]


@pytest.fixture
def expected(scope: str) -> ByHand:
    """What it should say."""
    return by_hand(scope, CASES, SCRIPT)


def check(rate: Rate, passes: float, size: float) -> None:
    """Hold a rate against its share and size."""
    assert rate.n == size
    if not size:
        assert (rate.value, rate.low, rate.high) == (None, None, None)
        return
    assert rate.value is not None
    assert rate.low is not None
    assert rate.high is not None
    assert rate.value == pytest.approx(passes / size)
    assert 0 <= rate.low <= rate.value <= rate.high <= 1


def check_rates(found: MetricReport | MainReport | Rates, figures: Figures) -> None:
    """Hold the three rates against the figures."""
    check(found.conditional, figures.passes, figures.size)
    check(found.all_cases, figures.shares, figures.applicable)
    check(found.coverage, figures.measured, figures.applicable)


def test_a_scope_has_the_datasets_metrics_probes_and_main_metric_of_the_specification(
    report: Report, scope: str
) -> None:
    assert report.state == "finished"
    assert set(report.cases.by_dataset) == {dataset for of, dataset in MAIN if of == scope}
    assert report.missing_dataset_types == []
    assert set(report.metrics) == METRICS_OF_SCOPE[scope]
    assert set(report.probes) == PROBES_OF_SCOPE[scope]
    assert report.main.metric == MAIN_OF_SCOPE[scope]


def test_rates_and_counts_of_every_metric(report: Report, expected: ByHand) -> None:
    for name, metric in report.metrics.items():
        figures = expected.metrics[name]
        check_rates(metric, figures)
        assert metric.excluded == figures.reasons["EXCLUDED"], name
        assert metric.errors == figures.reasons["ERROR"], name
        assert metric.not_applicable == figures.reasons["NOT_APPLICABLE"], name
        assert metric.passed + metric.failed + metric.scored == figures.measured, name
        for dataset, rates in metric.by_dataset.items():
            check_rates(rates, expected.by_dataset[name, dataset.value])


def test_the_main_metric_over_the_cases_that_it_decides(report: Report, expected: ByHand) -> None:
    check_rates(report.main, expected.main)


def test_outcomes(report: Report, expected: ByHand) -> None:
    total = sum(expected.outcomes.values(), Counter())
    cases = report.cases
    assert (cases.passed, cases.failed, cases.undecided) == (total["passed"], total["failed"], total["undecided"])
    assert cases.total == total.total()
    assert cases.undecided_by_reason == expected.undecided
    for dataset, counts in expected.outcomes.items():
        assert cases.by_dataset[DatasetType(dataset)] == counts
    check(report.pass_rate, total["passed"], total["passed"] + total["failed"])
    assert {line.id for line in report.lucky_passes} == expected.lucky
    assert report.lucky_passes_total == len(expected.lucky)
    assert len(report.failed_cases) == total["failed"]
    assert all(line.verdicts for line in report.failed_cases)


def test_probes(report: Report, expected: ByHand) -> None:
    for name, probe in report.probes.items():
        if name == "response_latency":
            assert probe.values.n == expected.answered_turns
            continue
        values = expected.probes[name]
        assert probe.values.n == len(values), name
        assert probe.values.mean == (pytest.approx(sum(values) / len(values)) if values else None), name


def test_figures_beside_the_metrics(report: Report, scope: str, expected: ByHand) -> None:
    if "tool_decision_accuracy" in report.metrics and (scope, "TOOL_CALL") in MAIN:
        beside = report.metrics["tool_decision_accuracy"].beside["whetherToCall"]
        check(beside, sum(expected.whether_to_call), len(expected.whether_to_call))
    if "tool_call_success_rate" in report.metrics:
        beside = report.metrics["tool_call_success_rate"].beside["mocked"]
        check(beside, sum(expected.mocked), len(expected.mocked))


def test_the_script_has_every_kind_of_outcome() -> None:
    """What is worked out by hand is not all of one kind."""
    everything = by_hand("ALL", CASES, SCRIPT)
    statuses: Counter[str] = Counter()
    for figures in everything.metrics.values():
        statuses.update({status: reasons.total() for status, reasons in figures.reasons.items()})
        statuses["passes"] += round(figures.passes)
        statuses["fails"] += round(figures.size - figures.passes)
    assert min(statuses.values()) > 20, statuses
    assert statuses.keys() == {"EXCLUDED", "ERROR", "NOT_APPLICABLE", "passes", "fails"}
    assert len(everything.undecided) == 6
    assert by_hand("PERCEPTION", CASES, SCRIPT).lucky == {"KNOWLEDGE_QA-2-0"}
    planning = by_hand("PLANNING", CASES, SCRIPT)
    assert planning.main.passes == 9 + 2 + 2 + 1 + 1 + 8 + 3 + 2
    assert planning.lucky == {f"KNOWLEDGE_QA-3-{number}" for number in range(3)}
