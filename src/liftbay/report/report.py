"""The report as one value, ready to be rendered or sent; rates in 0..1, times in milliseconds."""

from __future__ import annotations

import html

import msgspec

from liftbay.domain.blame import Blame
from liftbay.domain.result import DatasetVersion, Outcome
from liftbay.domain.spans import SpanCounts
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import Basis, Bilingual, DatasetType, Module
from liftbay.report.blame import BlameReport
from liftbay.report.decay import DecayCurve
from liftbay.report.finding import Conclusion
from liftbay.report.histogram import Histogram
from liftbay.report.judge_totals import JudgeTotals
from liftbay.report.marks import Mark
from liftbay.report.trade_offs import TradeOff
from liftbay.scoring.jmultiwoz_tc import ScoreLine
from liftbay.scoring.percentiles import Distribution
from liftbay.scoring.rates import Rate


class Rates(msgspec.Struct, frozen=True, rename="camel"):
    """The three figures of a rate, which always stand together."""

    conditional: Rate
    all_cases: Rate
    coverage: Rate


class MainReport(msgspec.Struct, frozen=True, rename="camel"):
    """The scope's main metric, over the cases that it decides."""

    metric: str
    conditional: Rate
    all_cases: Rate
    coverage: Rate
    reason: Bilingual


class MetricReport(msgspec.Struct, frozen=True, rename="camel"):
    """One metric: its rates, and why observations are missing from them."""

    module: Module
    basis: Basis
    conditional: Rate
    all_cases: Rate
    coverage: Rate
    passed: int
    failed: int
    scored: int
    failures: dict[str, int]  # by reason, of what no judge decided; of arguments by tool.argument: fault
    excluded: dict[str, int]  # by reason
    errors: dict[str, int]  # by reason
    not_applicable: dict[str, int]  # by reason
    by_dataset: dict[DatasetType, Rates]
    by_scene: dict[str, Rates]
    confusion: dict[str, dict[str, int]] | None  # expected, then actual; None where labels make no sense
    beside: dict[str, Rate]  # figures that the metric has beside its own, by name


class ProbeReport(msgspec.Struct, frozen=True, rename="camel"):
    """One cost or performance probe; with n = 0 it was not reported."""

    unit: str
    values: Distribution
    histogram: Histogram | None  # None where nothing was reported, or one value only


class CaseCounts(msgspec.Struct, frozen=True, rename="camel"):
    """How the trials ended; excluded, erred and unfinished ones are the undecided, apart by reason."""

    total: int
    passed: int
    failed: int
    undecided: int
    undecided_by_reason: dict[str, int]
    undecided_examples: dict[str, str]  # by reason: the first case, and what was said
    by_dataset: dict[DatasetType, dict[Outcome, int]]
    marks: dict[DatasetType, dict[Mark, int]]  # the undecided apart: excluded, or something broke


class CaseLine(msgspec.Struct, frozen=True, rename="camel"):
    """A case that deserves a look, with the verdicts that say why."""

    dataset_type: DatasetType
    id: str
    trial: int
    scene: str
    user_input: str
    answer: str
    verdicts: list[Verdict]
    blame: Blame | None = None  # None: it passed


class ToolUse(msgspec.Struct, frozen=True, rename="camel"):
    """Calls of one tool over the whole run, as the traces report them."""

    calls: int
    succeeded: int
    failed: int
    unknown: int  # whether it succeeded was not reported
    mocked: int = 0  # a mock answered
    unmocked: int = 0  # E2E_MOCK, and no mock answered


class UnmockedCalls(msgspec.Struct, frozen=True, rename="camel"):
    """Trials in E2E_MOCK whose agent called what no mock answers: a fault of the case or of the agent."""

    trials: int
    examples: list[str]


class Report(msgspec.Struct, frozen=True, rename="camel"):
    """What a run found."""

    run: str
    scope: str
    agent: str
    agent_version: str | None
    state: str
    error: str | None  # why it did not finish
    warnings: list[str]  # what a reader of the figures should know
    pass_rate: Rate
    main: MainReport
    metrics: dict[str, MetricReport]
    probes: dict[str, ProbeReport]
    currency: str | None  # of the probe `cost`; None without prices
    cases: CaseCounts
    by_scene: dict[str, Rate]  # pass rate
    scene_names: dict[str, str]  # as the cases name them, by code
    trade_offs: list[TradeOff]
    decay: dict[str, DecayCurve]  # by metric; none where no round was decided
    judges: list[JudgeTotals]
    conclusion: Conclusion
    tools: dict[str, ToolUse]
    unmocked: UnmockedCalls
    spans: SpanCounts | None  # what became of the spans; None where none were asked for
    lucky_passes: list[CaseLine]  # passed, although a module metric failed
    lucky_passes_total: int
    failed_cases: list[CaseLine]
    blame: BlameReport
    datasets: list[DatasetVersion]
    missing_dataset_types: list[DatasetType]  # types of the scope without a case
    trials: int
    pass_at_k: list[float] | None  # k = 1 first; None with one trial a case
    pass_hat_k: list[float] | None
    jmultiwoz: list[ScoreLine] | None  # the benchmark's five lines, where the dataset is JMultiWOZ-TC

    def __str__(self) -> str:
        from liftbay.report.text import report_text  # noqa: PLC0415 - the renderer knows this module

        return report_text(self)

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        return f"<pre>{html.escape(str(self))}</pre>"
