"""Narrowing a scope, its errors, and the plan that the engine runs."""

from __future__ import annotations

import pytest

from liftbay.catalog.metrics import METRICS
from liftbay.catalog.resolve import resolve, run_plan
from liftbay.catalog.scopes import SCOPES
from liftbay.domain.vocabulary import DatasetType
from liftbay.errors import InputError

KQA, MT, LDD = DatasetType.KNOWLEDGE_QA, DatasetType.MULTI_TURN, DatasetType.LONG_DIALOGUE_DECAY


def test_a_narrowed_scope_keeps_its_main_metric_and_what_the_rest_feeds() -> None:
    plan = resolve("MEMORY", [LDD, MT])
    assert plan.datasets == (MT, LDD)
    assert plan.metrics == ("short_term_retention_rate", "memory_decay_curve")
    assert plan.main_metric == "short_term_retention_rate"
    assert plan.probes == resolve("MEMORY").probes
    assert resolve("MEMORY", [LDD]).main_metric == "short_term_retention_rate"


def test_no_dataset_types_leave_the_scope_whole() -> None:
    assert resolve("PLANNING", []) == resolve("PLANNING") == resolve("PLANNING", SCOPES["PLANNING"].dataset_types)


def test_an_unknown_scope_is_told_with_all_that_there_are() -> None:
    with pytest.raises(InputError) as caught:
        resolve("planning")
    assert caught.value.place == "planning"
    assert str(caught.value.values["scopes"]).split(", ") == list(SCOPES)


def test_a_dataset_type_outside_the_scope() -> None:
    with pytest.raises(InputError, match="the scope TOOL does not cover") as caught:
        resolve("TOOL", [DatasetType.TOOL_CALL, KQA])
    assert caught.value.place == "KNOWLEDGE_QA"
    assert caught.value.values["types"] == "TOOL_CALL"


def test_metrics_and_probes_come_in_the_order_of_the_tables() -> None:
    for scope in SCOPES:
        assert list(resolve(scope).metrics) == [name for name in METRICS if name in resolve(scope).metrics]


@pytest.mark.parametrize("scope", SCOPES)
def test_the_run_plan_decides_every_metric_that_may_decide_a_case(scope: str) -> None:
    plan = run_plan(resolve(scope))
    for dataset, mains in plan.main.items():
        assert set(mains) <= {metric.id for metric in plan.metrics[dataset]}
    assert {metric.id for row in plan.metrics.values() for metric in row} == set(resolve(scope).metrics)


def test_the_run_plan_tries_the_metric_of_the_dataset_last() -> None:
    assert run_plan(resolve("MEMORY")).main[KQA] == ("retrieval_recall", "task_completion_rate")
