"""What a scope selects: datasets, metrics, probes, and the metric that decides each case."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

import msgspec

from liftbay.catalog.dataset_types import DATASET_TYPES
from liftbay.catalog.metrics import METRICS, feeds
from liftbay.catalog.probes import PROBES
from liftbay.catalog.scopes import MODULE_RULES, SCOPES, Scope
from liftbay.domain.metric import Metric
from liftbay.domain.plan import RunPlan
from liftbay.domain.vocabulary import Bilingual, DatasetType
from liftbay.errors import InputError


class ChosenBy(StrEnum):
    """Which rule chose a main metric."""

    SCOPE = "scope"
    MODULE = "module"  # the module's own metric for this dataset type
    DATASET = "dataset"


class MainMetric(msgspec.Struct, frozen=True, rename="camel"):
    """The metric that decides the cases of one dataset type, and why it does."""

    metric: str
    reason: Bilingual
    chosen_by: ChosenBy
    fallback: str | None = None  # decides where `metric` is not applicable


class EvaluationPlan(msgspec.Struct, frozen=True, rename="camel"):
    """What a scope selects; everything in the order of the tables."""

    scope: str
    datasets: tuple[DatasetType, ...]
    metrics: tuple[str, ...]
    probes: tuple[str, ...]
    main_metric: str
    reason: Bilingual
    main_metric_by_dataset: dict[DatasetType, MainMetric]


def resolve(scope: str, dataset_types: Collection[DatasetType] | None = None) -> EvaluationPlan:
    """The plan of a scope; `dataset_types` narrow it, none of them leave it whole."""
    row = scope_named(scope)
    datasets = _narrowed(row, dataset_types or row.dataset_types)
    mains = {dataset: _main_metric(row, dataset) for dataset in datasets}
    wanted = {main.metric for main in mains.values()} | {main.fallback for main in mains.values()}
    return EvaluationPlan(
        scope=row.id,
        datasets=datasets,
        metrics=tuple(
            metric.id
            for metric in METRICS.values()
            if metric.id in wanted
            or (row.module in (None, metric.module) and any(feeds(dataset, metric) for dataset in datasets))
        ),
        probes=tuple(probe for probe in PROBES if probe in row.probes),
        main_metric=row.main_metric,
        reason=row.reason,
        main_metric_by_dataset=mains,
    )


def scope_named(scope: str) -> Scope:
    """The row of a scope."""
    row = SCOPES.get(scope)
    if row is None:
        raise InputError(
            "there is no such scope", place=scope, remedy="give one of: {scopes}", scopes=", ".join(SCOPES)
        )
    return row


def _narrowed(row: Scope, wanted: Collection[DatasetType]) -> tuple[DatasetType, ...]:
    outside = [dataset for dataset in wanted if dataset not in row.dataset_types]
    if outside:
        raise InputError(
            "the scope {scope} does not cover this dataset type",
            place=", ".join(outside),
            remedy="give some of: {types}",
            scope=row.id,
            types=", ".join(row.dataset_types),
        )
    return tuple(dataset for dataset in row.dataset_types if dataset in wanted)


def _main_metric(row: Scope, dataset: DatasetType) -> MainMetric:
    """The scope's main metric where the dataset feeds it, else the module's own, else the dataset's."""
    own = DATASET_TYPES[dataset]
    if row.id == dataset:
        return MainMetric(own.main_metric, own.reason, ChosenBy.DATASET)
    if feeds(dataset, METRICS[row.main_metric]):
        return MainMetric(row.main_metric, row.reason, ChosenBy.SCOPE)
    if rule := MODULE_RULES.get((row.id, dataset)):
        return MainMetric(rule.metric, rule.reason, ChosenBy.MODULE, rule.fallback)
    return MainMetric(own.main_metric, own.reason, ChosenBy.DATASET)


def run_plan(plan: EvaluationPlan) -> RunPlan:
    """The plan in the form that the engine runs."""
    return RunPlan(
        scope=plan.scope,
        main_metric=plan.main_metric,
        reason=plan.reason,
        metrics={dataset: _metrics_on(plan, dataset) for dataset in plan.datasets},
        main={
            dataset: (main.metric,) if main.fallback is None else (main.metric, main.fallback)
            for dataset, main in plan.main_metric_by_dataset.items()
        },
        probes=plan.probes,
    )


def _metrics_on(plan: EvaluationPlan, dataset: DatasetType) -> tuple[Metric, ...]:
    return tuple(METRICS[name] for name in plan.metrics if feeds(dataset, METRICS[name]))
