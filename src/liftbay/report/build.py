"""Builds the Report from results, one at a time, in memory that does not grow with the cases.

A metric that lacks a part of the trace is not applicable, unless some trial of the same run reported that part:
then its absence is an error, "trace incomplete", so that lost spans do not hide cases. Which parts were reported is
known only at the end, so a run in which that matters is read a second time.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from liftbay.catalog.probes import PROBES
from liftbay.diagnosis.first_fault import blame_of
from liftbay.diagnosis.remedies import FIXED_BY
from liftbay.domain.metric import Metric
from liftbay.domain.plan import RunPlan
from liftbay.domain.prices import Prices
from liftbay.domain.result import CaseResult, Outcome, RunRecord
from liftbay.domain.verdict import Verdict, erred
from liftbay.domain.vocabulary import DatasetType, VerdictStatus
from liftbay.metrics.parameter_mapping_accuracy import CORRECT
from liftbay.report.association import AssociationTally
from liftbay.report.blame import BlameTally
from liftbay.report.conclusion import conclude_from
from liftbay.report.decay import DecayTally
from liftbay.report.histogram import histogram
from liftbay.report.judge_totals import JudgeTally
from liftbay.report.observed import benchmark_decision, cluster_of, failed_in_modules, label_of, measures_a_mock
from liftbay.report.outcome_tally import OutcomeTally
from liftbay.report.report import MainReport, MetricReport, ProbeReport, Rates, Report
from liftbay.report.tally import MetricTally, RateTally, merged
from liftbay.report.tool_tally import ToolTally
from liftbay.report.trade_offs import TradeOffTally
from liftbay.scoring.jmultiwoz_tc import Decision, ScoreLine, score_lines
from liftbay.scoring.outcomes import WHETHER_TO_CALL, decide
from liftbay.scoring.percentiles import distribution
from liftbay.scoring.probes import probe_reader
from liftbay.scoring.rates import Rate
from liftbay.scoring.reported_parts import reported_parts

TRACE_INCOMPLETE = "trace incomplete"
_FAILURES = 20
_HOT_UPDATE = "hot_update_latency"
# Metrics whose verdicts carry a label that was expected and one that came.
_CONFUSED = ("intent_accuracy", "intent_precision", "intent_recall", "routing_accuracy")


class ReportBuilder:
    """Takes results in any order (the trials of a case one after another) and builds the report."""

    def __init__(self, plan: RunPlan, reported: frozenset[str] = frozenset(), *, prices: Prices | None = None) -> None:
        """`reported` are the parts of the trace that are known to be reported in this run."""
        self._prices = prices
        self._plan = plan
        self._known = reported
        self.reported: set[str] = set()
        self.missing: set[str] = set()
        self._metrics: dict[str, Metric] = {
            metric.id: metric for metrics in plan.metrics.values() for metric in metrics
        }
        # By metric, dataset type and scene; the report adds them up.
        self._tallies: dict[tuple[str, DatasetType, str], MetricTally] = defaultdict(MetricTally)
        self._confusion: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        self._beside: dict[tuple[str, str], RateTally] = defaultdict(RateTally)
        self._main = MetricTally()
        self._decay, self._judges, self._trade_offs = DecayTally(), JudgeTally(), TradeOffTally()
        self._associations = AssociationTally(FIXED_BY)
        self._failures: dict[str, Counter[str]] = defaultdict(Counter)
        self._probes: dict[str, array[float]] = {probe: array("d") for probe in plan.probes}
        self._readers = {probe: probe_reader(probe, self._prices) for probe in self._probes}
        self._tools = ToolTally()
        self._outcomes, self._blame = OutcomeTally(), BlameTally()
        self._calls: Counter[Decision | None] = Counter()

    @property
    def needs_second_pass(self) -> bool:
        """Whether some verdict lacked a part that other trials reported."""
        return not self._known and bool(self.missing & self.reported)

    @property
    def total(self) -> int:
        """How many trials were added."""
        return self._outcomes.total

    @property
    def dataset_types(self) -> set[DatasetType]:
        """The dataset types of what was added."""
        return self._outcomes.dataset_types

    def add(self, result: CaseResult) -> None:
        """Count one trial."""
        for turn in result.episode.turns:
            if turn.trace is not None:
                self.reported |= reported_parts(turn.trace)
        result = self.as_counted(result)
        case = result.case
        cluster, shared = cluster_of(result)
        if case.dataset_type is DatasetType.TOOL_CALL and result.trial == 1:
            self._calls[benchmark_decision(result)] += 1
        for verdict in result.verdicts:
            if self._only_a_mock(verdict, cluster, shared):
                continue
            self._tallies[verdict.metric, case.dataset_type, case.scene_code].add(verdict, cluster, shared=shared)
            self._add_details(verdict, cluster, shared)
            if verdict.metric == result.main_metric == self._plan.main_metric:
                self._main.add(verdict, cluster, shared=shared)
        blame = blame_of(result)
        failed = failed_in_modules(result) if result.outcome is Outcome.PASSED else []
        self._outcomes.add(result, blame, failed, cluster, shared=shared)
        found = {
            probe: values for probe, read in self._readers.items() if (values := read(result.episode, case.eval_mode))
        }
        for probe, values in found.items():
            self._probes[probe].extend(values)
        self._trade_offs.add(result, found, cluster, shared=shared)
        self._associations.add(result, cluster, shared=shared)
        self._blame.add(result, blame, cluster, shared=shared, lucky=bool(failed))
        self._tools.add(result)

    def as_counted(self, result: CaseResult) -> CaseResult:
        """The result with errors in place of gaps, where a part is missing that other trials reported."""
        missing = {verdict.missing for verdict in result.verdicts if verdict.missing}
        self.missing |= missing
        if not missing & self._known:
            return result
        verdicts = [
            erred(verdict.metric, TRACE_INCOMPLETE) if verdict.missing in self._known else verdict
            for verdict in result.verdicts
        ]
        metric, outcome = decide(self._plan.main[result.case.dataset_type], verdicts)
        return msgspec.structs.replace(result, verdicts=verdicts, main_metric=metric, outcome=outcome)

    def _only_a_mock(self, verdict: Verdict, cluster: str, shared: bool) -> bool:
        """Whether the verdict measures a mock: then it stands beside the headline, not in it."""
        if not measures_a_mock(verdict):
            return False
        tally = self._beside[verdict.metric, "mocked"]
        tally.add(cluster, verdict.numerator or 0.0, verdict.denominator or 0.0, shared=shared)
        return True

    def _add_details(self, verdict: Verdict, cluster: str, shared: bool) -> None:
        decided = verdict.status in (VerdictStatus.PASS, VerdictStatus.FAIL)
        if verdict.status is VerdictStatus.FAIL and verdict.judgement is None and not verdict.items:
            self._failures[verdict.metric][verdict.reason or ""] += 1
        if verdict.judgement is not None:
            self._judges.add(verdict, verdict.judgement)
        self._decay.add(verdict, cluster, shared=shared)
        if decided and verdict.metric in _CONFUSED:
            self._confusion[verdict.metric][label_of(verdict.expected)][label_of(verdict.actual)] += 1
        if isinstance(verdict.actual, dict):
            for name, value in verdict.actual.items():
                if name == WHETHER_TO_CALL and value is not None:
                    self._beside[verdict.metric, name].add(cluster, float(value), 1, shared=shared)
                elif name == "calls" and isinstance(value, list):
                    self._failures[verdict.metric].update(_argument_faults(value))
                elif isinstance(value, dict) and "configured" in value:
                    self._beside[verdict.metric, name].add(cluster, value["loaded"], value["configured"], shared=shared)

    def report(self, run: RunRecord, *, missing_types: Sequence[DatasetType]) -> Report:
        """The report of everything that was added."""
        outcomes = self._outcomes
        at_k, hat_k = outcomes.over_trials() if run.request.trials > 1 else (None, None)
        metrics = {id_: self._metric(metric) for id_, metric in self._metrics.items()}
        counts = outcomes.counts()
        return Report(
            run=run.id,
            scope=run.request.scope,
            agent=run.agent_name,
            agent_version=run.agent_version,
            state=run.state.value,
            error=run.error,
            warnings=run.warnings,
            pass_rate=outcomes.pass_rate(),
            main=MainReport(
                self._plan.main_metric,
                self._main.conditional(),
                self._main.all_cases(),
                self._main.coverage(),
                self._plan.reason,
            ),
            metrics=metrics,
            probes={
                probe: _probe(probe, values, run.hot_update_latencies_ms if probe == _HOT_UPDATE else ())
                for probe, values in self._probes.items()
            },
            currency=self._prices.currency if self._prices else None,
            cases=counts,
            by_scene=outcomes.by_scene(),
            scene_names=outcomes.scene_names,
            trade_offs=self._trade_offs.trade_offs(),
            decay=self._decay.curves(),
            judges=self._judges.uses(),
            conclusion=conclude_from(
                metrics, self._associations.of, failed=counts.failed, explained=self._associations.explained
            ),
            tools=self._tools.uses(),
            unmocked=self._tools.unmocked(),
            spans=run.spans,
            lucky_passes=outcomes.lucky,
            lucky_passes_total=outcomes.lucky_total,
            failed_cases=outcomes.failed,
            blame=self._blame.report(),
            datasets=run.datasets,
            missing_dataset_types=list(missing_types),
            trials=run.request.trials,
            pass_at_k=at_k,
            pass_hat_k=hat_k,
            jmultiwoz=self._five_lines(run),
        )

    def _five_lines(self, run: RunRecord) -> list[ScoreLine] | None:
        """The lines of JMultiWOZ-TC, where that is what was run."""
        if not any(source.startswith("jmultiwoz:") for version in run.datasets for source in version.sources):
            return None
        return score_lines(self._calls.elements())

    def _tally(self, metric: str, type_: DatasetType | None = None, scene: str | None = None) -> MetricTally:
        return merged(
            tally
            for (id_, of_type, of_scene), tally in self._tallies.items()
            if id_ == metric and type_ in (None, of_type) and scene in (None, of_scene)
        )

    def _metric(self, metric: Metric) -> MetricReport:
        tally = self._tally(metric.id)
        rates = _rates(tally)
        confusion = self._confusion.get(metric.id)
        types = dict.fromkeys(type_ for id_, type_, _ in self._tallies if id_ == metric.id)
        scenes = {scene for id_, _, scene in self._tallies if id_ == metric.id}
        return MetricReport(
            module=metric.module,
            basis=metric.basis,
            conditional=rates.conditional,
            all_cases=rates.all_cases,
            coverage=rates.coverage,
            passed=tally.statuses[VerdictStatus.PASS],
            failed=tally.statuses[VerdictStatus.FAIL],
            scored=tally.statuses[VerdictStatus.SCORE],
            failures=dict(self._failures[metric.id].most_common(_FAILURES)),
            excluded=dict(tally.reasons[VerdictStatus.EXCLUDED].most_common()),
            errors=dict(tally.reasons[VerdictStatus.ERROR].most_common()),
            not_applicable=dict(tally.reasons[VerdictStatus.NOT_APPLICABLE].most_common()),
            by_dataset={type_: _rates(self._tally(metric.id, type_=type_)) for type_ in types},
            by_scene={scene: _rates(self._tally(metric.id, scene=scene)) for scene in sorted(scenes)},
            confusion={expected: dict(actual) for expected, actual in confusion.items()} if confusion else None,
            beside=_complement(metric.id, rates.conditional)
            | {name: part.rate() for (id_, name), part in self._beside.items() if id_ == metric.id},
        )


def _rates(tally: MetricTally) -> Rates:
    return Rates(tally.conditional(), tally.all_cases(), tally.coverage())


def _probe(probe: str, values: array[float], further: Sequence[float]) -> ProbeReport:
    whole = array("d", [*values, *further]) if further else values
    found = distribution(whole)
    return ProbeReport(PROBES[probe].unit, found, histogram(whole, found.p99))


def _argument_faults(calls: list[dict[str, Any]]) -> Iterator[str]:
    """The arguments that differ, as tool.argument: fault."""
    for call in calls:
        for argument, result in call["arguments"].items():
            if result != CORRECT:
                yield f"{call['tool']}.{argument}: {result}"


def _complement(metric: str, rate: Rate) -> dict[str, Rate]:
    """The hallucination rate, which is what faithfulness leaves."""
    if metric != "faithfulness_rate" or rate.value is None or rate.low is None or rate.high is None:
        return {}
    return {"hallucination_rate": Rate(1 - rate.value, 1 - rate.high, 1 - rate.low, rate.n)}
