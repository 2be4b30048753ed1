"""The rows of the catalog as data for scripts; keys in camelCase."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from liftbay.catalog.dataset_types import DATASET_TYPES, DatasetTypeInfo
from liftbay.catalog.metrics import METRICS
from liftbay.catalog.probes import PROBES
from liftbay.catalog.resolve import resolve
from liftbay.catalog.scopes import SCOPES, Scope
from liftbay.domain.metric import Metric
from liftbay.domain.vocabulary import DatasetType

Row = dict[str, Any]


def metrics_fed_by(dataset_type: DatasetType) -> list[str]:
    """The metrics that name this dataset type; those that take any trace are not among them."""
    return [metric.id for metric in METRICS.values() if dataset_type in metric.dataset_types]


def _scope(row: Scope) -> Row:
    plan = resolve(row.id)
    return {
        "id": row.id,
        "name": row.name,
        "module": row.module,
        "datasets": plan.datasets,
        "metrics": plan.metrics,
        "probes": plan.probes,
        "mainMetric": plan.main_metric,
        "reason": plan.reason,
        "mainMetricByDataset": {dataset: main.metric for dataset, main in plan.main_metric_by_dataset.items()},
        "decidedBy": plan.main_metric_by_dataset,
    }


def _metric(row: Metric) -> Row:
    return {
        "id": row.id,
        "name": row.name,
        "definition": row.definition,
        "module": row.module,
        "basis": row.basis,
        "aspect": row.aspect,
        "judgeTask": row.judge_task,
        "datasets": row.dataset_types,
        "prerequisites": row.prerequisites,
    }


def _dataset(row: DatasetTypeInfo) -> Row:
    return {
        "id": row.id,
        "name": row.name,
        "recommendedSize": row.recommended_size,
        "built": row.built,
        "metrics": metrics_fed_by(row.id),
        "mainMetric": row.main_metric,
        "reason": row.reason,
    }


def _table(rows: Mapping[Any, Any], as_row: Callable[[Any], Row]) -> dict[str, Row]:
    """Rows by id, in plain JSON types."""
    return {str(name): msgspec.to_builtins(as_row(row)) for name, row in rows.items()}


def tables() -> dict[str, dict[str, Row]]:
    """Every table of the catalog, by its name; the rows by their ids."""
    return {
        "scopes": _table(SCOPES, _scope),
        "metrics": _table(METRICS, _metric),
        "datasets": _table(DATASET_TYPES, _dataset),
        "probes": _table(PROBES, msgspec.to_builtins),
    }
