"""What keeps a metric from being decided."""

from __future__ import annotations

import pytest
from one_trial import BLACK_BOX, HIT, MISS, call, called, routed, tool, trial

from liftbay.catalog.metrics import METRICS
from liftbay.domain.episode import Evidence, FaultKind
from liftbay.domain.trace import EvalTrace, Planning, Retrieval
from liftbay.scoring.prerequisites import ROUTING_FAULT, unmet

KNOWLEDGE = ("faithfulness_rate", "retrieval_precision", "retrieval_recall")


def reason(metric: str, evidence: Evidence, *, enforce: bool = True) -> str | None:
    """Why a metric is EXCLUDED, or None where it may be decided."""
    verdict = unmet(METRICS[metric], evidence, enforce=enforce)
    assert verdict is None or (verdict.metric, verdict.status) == (metric, "EXCLUDED")
    return verdict.reason if verdict else None


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("enforce", [True, False])
def test_an_unfinished_trial_excludes_all_but_abnormal_input(metric: str, enforce: bool) -> None:
    found = reason(metric, trial(BLACK_BOX, fault=FaultKind.TIMEOUT), enforce=enforce)
    expected = None if metric == "abnormal_input_handling_rate" else "the trial did not finish: timeout"
    assert found == expected


def test_a_fault_of_the_harness_is_an_error() -> None:
    verdict = unmet(METRICS["routing_accuracy"], trial(BLACK_BOX, fault=FaultKind.HARNESS))
    assert verdict is not None
    assert verdict.status == "ERROR"


@pytest.mark.parametrize("metric", METRICS)
def test_a_black_box_that_finished_excludes_nothing(metric: str) -> None:
    assert reason(metric, trial(BLACK_BOX, expected_route=MISS, expected_tools=[tool("f")])) is None


@pytest.mark.parametrize("metric", METRICS)
def test_a_routing_fault_excludes_what_needs_the_knowledge_base(metric: str) -> None:
    found = reason(metric, trial(routed(HIT), expected_route=MISS))
    assert found == (ROUTING_FAULT if metric in KNOWLEDGE else None)


@pytest.mark.parametrize("metric", KNOWLEDGE)
def test_the_knowledge_route_is_open_otherwise(metric: str) -> None:
    for expected, actual in ((MISS, MISS), (HIT, MISS), (HIT, HIT), (None, HIT), (MISS, None)):
        assert reason(metric, trial(routed(actual), expected_route=expected)) is None


def test_no_retrieval_excludes_retrieval_metrics_only() -> None:
    none_made = trial(EvalTrace(retrievals=[]), expected_route=MISS)
    excluded = {metric for metric in METRICS if reason(metric, none_made)}
    assert excluded == {"retrieval_precision", "retrieval_recall"}
    assert reason("retrieval_recall", trial(EvalTrace(retrievals=[Retrieval()]))) is None


def test_a_routing_fault_is_named_before_the_missing_retrieval() -> None:
    evidence = trial(EvalTrace(planning=Planning(HIT), retrievals=[]), expected_route=MISS)
    assert reason("retrieval_recall", evidence) == ROUTING_FAULT


def test_no_call_excludes_what_needs_one() -> None:
    none_made = trial(called(), expected_tools=[tool("f")])
    excluded = {metric for metric in METRICS if reason(metric, none_made)}
    assert excluded == {"tool_call_success_rate", "parameter_mapping_accuracy"}


def test_another_tool_excludes_parameters_only() -> None:
    another = trial(called(call("g")), expected_tools=[tool("f")])
    assert {metric for metric in METRICS if reason(metric, another)} == {"parameter_mapping_accuracy"}
    one_of_two = trial(called(call("f")), expected_tools=[tool("f"), tool("g")])
    assert reason("parameter_mapping_accuracy", one_of_two) is None


def test_switched_off_only_the_finish_counts() -> None:
    broken = trial(EvalTrace(planning=Planning(HIT), tool_calls=[], retrievals=[]), expected_route=MISS)
    assert [metric for metric in METRICS if reason(metric, broken, enforce=False)] == []
