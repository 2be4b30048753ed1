"""Builds the Report from results, one at a time, in memory that does not grow with the cases.

A metric that lacks a part of the trace is not applicable, unless some trial of the same run reported that part:
then its absence is an error, "trace incomplete", so that lost spans do not hide cases. Which parts were reported is
known only at the end, so a run in which that matters is read a second time.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec

from liftbay.catalog.probes import PROBES
from liftbay.domain.metric import Metric
from liftbay.domain.plan import RunPlan
from liftbay.domain.prices import Prices
from liftbay.domain.result import CaseResult, Outcome, RunRecord
from liftbay.domain.toolcall import ToolCall
from liftbay.domain.verdict import Verdict, erred
from liftbay.domain.vocabulary import DatasetType, Module, VerdictStatus
from liftbay.report.report import (
    CaseCounts,
    CaseLine,
    MainReport,
    MetricReport,
    ProbeReport,
    Rates,
    Report,
    ToolUse,
    UnmockedCalls,
)
from liftbay.report.tally import MetricTally, RateTally, merged
from liftbay.scoring.jmultiwoz_tc import Decision, ScoreLine, decision_of, score_lines
from liftbay.scoring.outcomes import WHETHER_TO_CALL, decide, outcome_of
from liftbay.scoring.pass_at_k import mean_over_cases
from liftbay.scoring.percentiles import distribution
from liftbay.scoring.prerequisites import UNFINISHED
from liftbay.scoring.probes import probe_reader
from liftbay.scoring.rates import Rate
from liftbay.scoring.reported_parts import reported_parts

TRACE_INCOMPLETE = "trace incomplete"
_LISTED_CASES = 50
_EXAMPLES = 5
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
        self._passes = RateTally()
        self._scene_passes: dict[str, RateTally] = defaultdict(RateTally)
        self._outcomes: Counter[tuple[DatasetType, Outcome]] = Counter()
        self._undecided: Counter[str] = Counter()
        self._examples: dict[str, str] = {}
        self._probes: dict[str, array[float]] = {probe: array("d") for probe in plan.probes}
        self._readers = [(probe_reader(probe, self._prices), values) for probe, values in self._probes.items()]
        self._tools: dict[str, Counter[str]] = defaultdict(Counter)
        self._unmocked_trials = 0
        self._unmocked_examples: list[str] = []
        self._case: tuple[str, int, int] = ("", 0, 0)  # the case whose trials are coming: key, decided, passed
        self._trials: Counter[tuple[int, int]] = Counter()  # cases by (decided trials, passed trials)
        self._calls: Counter[Decision | None] = Counter()
        self._lucky: list[CaseLine] = []
        self._lucky_total = 0
        self._failed: list[CaseLine] = []

    @property
    def needs_second_pass(self) -> bool:
        """Whether some verdict lacked a part that other trials reported."""
        return not self._known and bool(self.missing & self.reported)

    @property
    def total(self) -> int:
        """How many trials were added."""
        return self._outcomes.total()

    @property
    def dataset_types(self) -> set[DatasetType]:
        """The dataset types of what was added."""
        return {dataset_type for dataset_type, _ in self._outcomes}

    def add(self, result: CaseResult) -> None:
        """Count one trial."""
        for turn in result.episode.turns:
            if turn.trace is not None:
                self.reported |= reported_parts(turn.trace)
        result = self._with_gaps_as_errors(result)
        case = result.case
        cluster, shared = cluster_of(result)
        if case.dataset_type is DatasetType.TOOL_CALL and result.trial == 1:
            self._calls[_benchmark_decision(result)] += 1
        for verdict in result.verdicts:
            if self._only_a_mock(verdict, cluster, shared):
                continue
            self._tallies[verdict.metric, case.dataset_type, case.scene_code].add(verdict, cluster, shared=shared)
            self._add_details(verdict, cluster, shared)
            if verdict.metric == result.main_metric == self._plan.main_metric:
                self._main.add(verdict, cluster, shared=shared)
        self._add_outcome(result, cluster, shared)
        for read, values in self._readers:
            if found := read(result.episode, case.eval_mode):
                values.extend(found)
        self._add_tools(result)

    def _with_gaps_as_errors(self, result: CaseResult) -> CaseResult:
        """The result, where a part is missing that other trials reported, with errors in place of gaps."""
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
        if not _measures_a_mock(verdict):
            return False
        tally = self._beside[verdict.metric, "mocked"]
        tally.add(cluster, verdict.numerator or 0.0, verdict.denominator or 0.0, shared=shared)
        return True

    def _add_details(self, verdict: Verdict, cluster: str, shared: bool) -> None:
        decided = verdict.status in (VerdictStatus.PASS, VerdictStatus.FAIL)
        if decided and verdict.metric in _CONFUSED:
            self._confusion[verdict.metric][_label(verdict.expected)][_label(verdict.actual)] += 1
        if isinstance(verdict.actual, dict):
            for name, value in verdict.actual.items():
                if name == WHETHER_TO_CALL and value is not None:
                    self._beside[verdict.metric, name].add(cluster, float(value), 1, shared=shared)
                elif isinstance(value, dict) and "configured" in value:
                    self._beside[verdict.metric, name].add(cluster, value["loaded"], value["configured"], shared=shared)

    def _add_outcome(self, result: CaseResult, cluster: str, shared: bool) -> None:
        case, outcome = result.case, result.outcome
        self._outcomes[case.dataset_type, outcome] += 1
        if outcome is Outcome.UNDECIDED:
            self._undecided[_why_undecided(result)] += 1
            self._examples.setdefault(_why_undecided(result), _example(result))
        else:
            passed = float(outcome is Outcome.PASSED)
            self._passes.add(cluster, passed, 1, shared=shared)
            self._scene_passes[case.scene_code].add(cluster, passed, 1, shared=shared)
        key = f"{case.dataset_type}/{case.id}"
        if key != self._case[0]:
            self._close_case()
            self._case = (key, 0, 0)
        _, decided, passes = self._case
        self._case = (key, decided + (outcome is not Outcome.UNDECIDED), passes + (outcome is Outcome.PASSED))
        if outcome is Outcome.PASSED and (failed := self._failed_in_modules(result)):
            self._lucky_total += 1
            if len(self._lucky) < _LISTED_CASES:
                self._lucky.append(_line(result, failed))
        if outcome is Outcome.FAILED and len(self._failed) < _LISTED_CASES:
            why = [
                one
                for one in result.verdicts
                if one.status is VerdictStatus.FAIL
                or one.metric == result.main_metric  # a ratio, say, that is not whole
            ]
            self._failed.append(_line(result, why))

    def _close_case(self) -> None:
        if self._case[1]:
            self._trials[self._case[1:]] += 1

    def _failed_in_modules(self, result: CaseResult) -> list[Verdict]:
        return [
            verdict
            for verdict in result.verdicts
            if outcome_of(verdict) is Outcome.FAILED
            and verdict.metric != result.main_metric
            and not _measures_a_mock(verdict)
            and self._metrics[verdict.metric].module is not Module.END_TO_END
        ]

    def _add_tools(self, result: CaseResult) -> None:
        unmocked = []
        for turn in result.episode.turns:
            for call in (turn.trace and turn.trace.tool_calls) or ():
                counts = self._tools[call.name]
                counts["unknown" if call.success is None else "succeeded" if call.success else "failed"] += 1
                counts["mocked"] += call.mocked
                counts["unmocked"] += call.unmocked
                if call.unmocked:
                    unmocked.append(call.name)
        if unmocked:
            self._unmocked_trials += 1
            if len(self._unmocked_examples) < _EXAMPLES:
                tools = [*unmocked[:_EXAMPLES], *("…" for _ in unmocked[_EXAMPLES : _EXAMPLES + 1])]
                self._unmocked_examples.append(f"{result.case.id} #{result.trial}: {', '.join(tools)}")

    def report(self, run: RunRecord, *, missing_types: Sequence[DatasetType]) -> Report:
        """The report of everything that was added."""
        self._close_case()
        self._case = ("", 0, 0)
        several = run.request.trials > 1
        at_k, hat_k = mean_over_cases(self._trials.elements()) if several else (None, None)
        return Report(
            run=run.id,
            scope=run.request.scope,
            agent=run.agent_name,
            agent_version=run.agent_version,
            state=run.state.value,
            error=run.error,
            warnings=run.warnings,
            pass_rate=self._passes.rate(),
            main=MainReport(
                self._plan.main_metric,
                self._main.conditional(),
                self._main.all_cases(),
                self._main.coverage(),
                self._plan.reason,
            ),
            metrics={id_: self._metric(metric) for id_, metric in self._metrics.items()},
            probes={
                probe: ProbeReport(
                    PROBES[probe].unit,
                    distribution(
                        array("d", [*values, *run.hot_update_latencies_ms]) if probe == _HOT_UPDATE else values
                    ),
                )
                for probe, values in self._probes.items()
            },
            cases=self._counts(),
            by_scene={scene: tally.rate() for scene, tally in sorted(self._scene_passes.items())},
            tools={
                name: ToolUse(
                    counts["succeeded"] + counts["failed"] + counts["unknown"],
                    counts["succeeded"],
                    counts["failed"],
                    counts["unknown"],
                    counts["mocked"],
                    counts["unmocked"],
                )
                for name, counts in sorted(self._tools.items())
            },
            unmocked=UnmockedCalls(self._unmocked_trials, self._unmocked_examples),
            spans=run.spans,
            lucky_passes=self._lucky,
            lucky_passes_total=self._lucky_total,
            failed_cases=self._failed,
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

    def _counts(self) -> CaseCounts:
        by_outcome: Counter[Outcome] = Counter()
        by_dataset: dict[DatasetType, dict[Outcome, int]] = {}
        for (dataset_type, outcome), count in sorted(self._outcomes.items()):
            by_outcome[outcome] += count
            by_dataset.setdefault(dataset_type, {})[outcome] = count
        return CaseCounts(
            total=by_outcome.total(),
            passed=by_outcome[Outcome.PASSED],
            failed=by_outcome[Outcome.FAILED],
            undecided=by_outcome[Outcome.UNDECIDED],
            undecided_by_reason=dict(self._undecided.most_common()),
            undecided_examples=self._examples,
            by_dataset=by_dataset,
        )

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
            excluded=dict(tally.reasons[VerdictStatus.EXCLUDED].most_common()),
            errors=dict(tally.reasons[VerdictStatus.ERROR].most_common()),
            not_applicable=dict(tally.reasons[VerdictStatus.NOT_APPLICABLE].most_common()),
            by_dataset={type_: _rates(self._tally(metric.id, type_=type_)) for type_ in types},
            by_scene={scene: _rates(self._tally(metric.id, scene=scene)) for scene in sorted(scenes)},
            confusion={expected: dict(actual) for expected, actual in confusion.items()} if confusion else None,
            beside=_complement(metric.id, rates.conditional)
            | {name: part.rate() for (id_, name), part in self._beside.items() if id_ == metric.id},
        )


def _benchmark_decision(result: CaseResult) -> Decision | None:
    """What the calls come to by the rules of JMultiWOZ-TC; None where there is no answer."""
    if not result.episode.finished:
        return None
    expected = [ToolCall(tool.name, tool.arguments) for tool in result.case.expected_tools or ()]
    made = [
        ToolCall(call.name, call.arguments or {})
        for turn in result.episode.turns
        for call in (turn.trace and turn.trace.tool_calls) or ()
    ]
    return decision_of(expected, made)


def cluster_of(result: CaseResult) -> tuple[str, bool]:
    """What a case shares with others, a conversation or a source document, and whether it does."""
    for key in ("dialogueId", "sourceDocument"):
        if (shared := result.case.extra.get(key)) is not None:
            return f"{key}:{shared}", True
    return f"{result.case.dataset_type}/{result.case.id}", False


def _measures_a_mock(verdict: Verdict) -> bool:
    return isinstance(verdict.actual, dict) and bool(verdict.actual.get("mocked"))


def _rates(tally: MetricTally) -> Rates:
    return Rates(tally.conditional(), tally.all_cases(), tally.coverage())


def _complement(metric: str, rate: Rate) -> dict[str, Rate]:
    """The hallucination rate, which is what faithfulness leaves."""
    if metric != "faithfulness_rate" or rate.value is None or rate.low is None or rate.high is None:
        return {}
    return {"hallucination_rate": Rate(1 - rate.value, 1 - rate.high, 1 - rate.low, rate.n)}


def _label(value: Any) -> str:
    if isinstance(value, dict):
        return " / ".join(_label(item) for item in value.values())
    return "–" if value is None else str(value)


def _why_undecided(result: CaseResult) -> str:
    if result.episode.fault is not None:
        return UNFINISHED[result.episode.fault.kind]
    main = next((verdict for verdict in result.verdicts if verdict.metric == result.main_metric), None)
    if main is None:
        return "no main verdict"
    return main.reason or main.status.value


def _example(result: CaseResult) -> str:
    fault = result.episode.fault
    return f"{result.case.id} #{result.trial}" + (f": {_shortened(fault.message)}" if fault else "")


def _line(result: CaseResult, verdicts: list[Verdict]) -> CaseLine:
    turns = result.episode.turns
    return CaseLine(
        dataset_type=result.case.dataset_type,
        id=result.case.id,
        trial=result.trial,
        scene=result.case.scene_code,
        user_input=_shortened(result.case.rounds[-1].user_input),
        answer=_shortened(turns[-1].answer or "") if turns else "",
        verdicts=verdicts,
    )


_SHOWN = 500


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
