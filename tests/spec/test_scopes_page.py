"""Dataset types, scopes, probes and main metrics against page 2 of the specification, written out by hand."""

from __future__ import annotations

import itertools

import pytest
from scope_tables import (
    COST,
    EVERY_PROBE,
    FEEDS,
    JAPANESE,
    KQA,
    MAIN,
    MAIN_OF_SCOPE,
    METRICS_OF_SCOPE,
    OF_DATASET,
    PROBES_OF_SCOPE,
    SCOPE_NAMES,
    SIZES,
    TYPES,
)

from liftbay.catalog.dataset_types import DATASET_TYPES
from liftbay.catalog.probes import PROBES
from liftbay.catalog.resolve import resolve
from liftbay.catalog.rows import metrics_fed_by
from liftbay.catalog.scopes import SCOPES
from liftbay.domain.vocabulary import DatasetType


def test_there_are_fifteen_scopes_and_eight_dataset_types() -> None:
    assert tuple(SCOPES) == SCOPE_NAMES
    assert len(SCOPES) == 15
    assert tuple(DATASET_TYPES) == TYPES


@pytest.mark.parametrize("name", TYPES)
def test_a_dataset_type_is_as_the_page_says(name: str) -> None:
    row = DATASET_TYPES[DatasetType(name)]
    assert row.name.ja == JAPANESE[name]
    assert row.recommended_size == SIZES[name]
    assert row.main_metric == OF_DATASET[name]
    assert set(metrics_fed_by(row.id)) == FEEDS[name]


@pytest.mark.parametrize(("scope", "dataset"), list(itertools.product(SCOPE_NAMES, TYPES)))
def test_what_decides_a_dataset_type_in_a_scope(scope: str, dataset: str) -> None:
    plan = resolve(scope)
    expected = MAIN.get((scope, dataset))
    assert (dataset in plan.datasets) == (expected is not None)
    main = plan.main_metric_by_dataset.get(DatasetType(dataset))
    assert (main and (main.metric, main.chosen_by.value)) == expected
    if main:
        assert main.reason.en
        assert main.reason.ja


def test_only_long_term_memory_falls_back_to_the_metric_of_the_dataset() -> None:
    fallbacks = {
        (scope, dataset.value): main.fallback
        for scope in SCOPES
        for dataset, main in resolve(scope).main_metric_by_dataset.items()
        if main.fallback
    }
    assert fallbacks == {("MEMORY", KQA): "task_completion_rate"}


@pytest.mark.parametrize("scope", SCOPE_NAMES)
def test_a_scope_selects_metrics_probes_and_main_metric(scope: str) -> None:
    plan = resolve(scope)
    assert set(plan.metrics) == METRICS_OF_SCOPE[scope]
    assert set(plan.probes) == PROBES_OF_SCOPE[scope]
    assert plan.main_metric == MAIN_OF_SCOPE[scope]
    assert plan.reason.en
    assert plan.reason.ja


def test_there_are_no_other_probes() -> None:
    assert set(PROBES) == EVERY_PROBE
    assert {probe.id for probe in PROBES.values() if probe.dimension == "cost"} == COST | {"cost"}
    assert {probe.id for probe in PROBES.values() if probe.real_only} == {"tool_call_latency"}
