"""Prerequisites first, then the trace, then a judge; a recorded reward decides the main metric."""

from __future__ import annotations

import msgspec
import pytest
from one_trial import HIT, MISS, called, routed, tool, trial

from liftbay.catalog.metrics import METRICS
from liftbay.domain.episode import Evidence, FaultKind
from liftbay.domain.metric import Decide, Metric, Prerequisite
from liftbay.domain.verdict import Verdict, failed, passed
from liftbay.domain.vocabulary import Basis, DatasetType
from liftbay.engine.judge import judge

FAITHFULNESS = METRICS["faithfulness_rate"]


def deciding(metric: Metric, decide: Decide | None, **changes: object) -> Metric:
    """The metric with another way to decide."""
    return msgspec.structs.replace(metric, decide=decide, **changes)


def always(status: str) -> Decide:
    """Decides the same whatever happened."""
    return lambda _: passed("x") if status == "PASS" else failed("x", "scripted")


def decided(metric: Metric, evidence: Evidence, *, main: str = "", prerequisites: bool = True) -> Verdict:
    """The verdict of one metric."""
    (verdict,) = judge(evidence, [metric], main=main, prerequisites=prerequisites)
    return verdict


def test_one_verdict_a_metric_in_their_order() -> None:
    evidence = trial(called(), dataset_type=DatasetType.TOOL_CALL, expected_tools=[tool("search")])
    metrics = [METRICS[name] for name in ("tool_call_accuracy", "tool_decision_accuracy", "parameter_mapping_accuracy")]
    found = judge(evidence, metrics, main="tool_call_accuracy")
    assert [(verdict.metric, verdict.status.value) for verdict in found] == [
        ("tool_call_accuracy", "FAIL"),
        ("tool_decision_accuracy", "NOT_APPLICABLE"),
        ("parameter_mapping_accuracy", "EXCLUDED"),
    ]


def test_an_unmet_prerequisite_excludes_before_anything_decides() -> None:
    def never(_: Evidence) -> Verdict:
        raise AssertionError

    evidence = trial(routed(HIT), expected_route=MISS)
    verdict = decided(deciding(FAITHFULNESS, never), evidence)
    assert (verdict.metric, verdict.status, verdict.reason) == ("faithfulness_rate", "EXCLUDED", "routing fault")


def test_without_prerequisites_the_metric_decides() -> None:
    evidence = trial(routed(HIT), expected_route=MISS)
    assert decided(deciding(FAITHFULNESS, always("FAIL")), evidence, prerequisites=False).status == "FAIL"
    assert decided(deciding(FAITHFULNESS, always("FAIL")), evidence).status == "EXCLUDED"


@pytest.mark.parametrize("prerequisites", [True, False])
def test_a_trial_that_did_not_finish_is_never_judged(prerequisites: bool) -> None:
    evidence = trial(None, fault=FaultKind.TIMEOUT)
    verdict = decided(deciding(FAITHFULNESS, always("PASS")), evidence, prerequisites=prerequisites)
    assert (verdict.status, verdict.reason) == ("EXCLUDED", "the trial did not finish: timeout")


def test_a_fault_of_the_harness_is_an_error() -> None:
    verdict = decided(deciding(FAITHFULNESS, always("PASS")), trial(None, fault=FaultKind.HARNESS))
    assert (verdict.status, verdict.reason) == ("ERROR", "the trial did not finish: a fault of the harness")


@pytest.mark.parametrize("decide", [None, lambda _: None])
def test_what_only_a_judge_can_say_is_an_error_until_there_is_one(decide: Decide | None) -> None:
    verdict = decided(deciding(FAITHFULNESS, decide), trial(routed(MISS), expected_route=MISS))
    assert (verdict.metric, verdict.status, verdict.reason) == ("faithfulness_rate", "ERROR", "no judge configured")


def test_what_a_person_scores_is_not_applicable() -> None:
    verdict = decided(METRICS["plan_path_score"], trial(routed(MISS)))
    assert (verdict.status, verdict.reason, verdict.missing) == ("NOT_APPLICABLE", "a person scores this", None)


def test_abnormal_input_fails_where_the_agent_broke() -> None:
    metric = METRICS["abnormal_input_handling_rate"]
    assert decided(metric, trial(None, fault=FaultKind.CRASH)).status == "FAIL"
    assert decided(metric, trial(None, fault=FaultKind.HARNESS)).status == "ERROR"
    assert decided(metric, trial(None, answer=" \n")).status == "FAIL"
    assert decided(metric, trial(None, answer="please say it again")).reason == "no judge configured"


class TestRecordedReward:
    @staticmethod
    def rewarded(reward: float, fault: FaultKind | None = None) -> Evidence:
        evidence = trial(None, fault=fault)
        return Evidence(evidence.case, msgspec.structs.replace(evidence.episode, recorded={"reward": reward}))

    @pytest.mark.parametrize(
        ("reward", "status"), [(1, "PASS"), (1.0, "PASS"), (2, "PASS"), (0.99, "FAIL"), (0, "FAIL")]
    )
    def test_it_decides_the_main_metric(self, reward: float, status: str) -> None:
        verdict = decided(METRICS["task_completion_rate"], self.rewarded(reward), main="task_completion_rate")
        assert (verdict.status, verdict.reason, verdict.actual) == (status, "recorded reward", reward)

    def test_it_says_nothing_of_other_metrics(self) -> None:
        verdict = decided(METRICS["instruction_adherence_rate"], self.rewarded(1), main="task_completion_rate")
        assert verdict.status == "ERROR"

    def test_it_wins_over_what_the_trace_says(self) -> None:
        metric = deciding(METRICS["routing_accuracy"], always("FAIL"))
        assert decided(metric, self.rewarded(1), main="routing_accuracy").status == "PASS"

    def test_it_does_not_win_over_a_trial_that_did_not_finish(self) -> None:
        verdict = decided(
            METRICS["task_completion_rate"], self.rewarded(1, FaultKind.CRASH), main="task_completion_rate"
        )
        assert verdict.status == "EXCLUDED"


def test_a_metric_of_its_own_needs_no_more_than_its_header() -> None:
    metric = deciding(
        FAITHFULNESS, always("PASS"), id="mine", basis=Basis.TRACE, prerequisites=(Prerequisite.CALL_MADE,)
    )
    assert decided(metric, trial(called())).reason == "no tool was called"
    assert decided(metric, trial(None)).status == "PASS", "what is not reported counts as met"
