"""From results to the report."""

from __future__ import annotations

import itertools
import random

import msgspec
import pytest
from one_trial import HIT, MISS, call, called, routed, tool
from places import a_run
from reports import a_case, decided, report_of, result_of

from liftbay.catalog.resolve import resolve, run_plan
from liftbay.domain.episode import FaultKind
from liftbay.domain.result import CaseResult, Outcome
from liftbay.domain.spans import SpanCounts
from liftbay.domain.trace import (
    Chunk,
    EvalTrace,
    ModelUsage,
    Perception,
    Planning,
    Retrieval,
    ToolCallRecord,
    ToolLoad,
)
from liftbay.domain.verdict import failed, passed
from liftbay.domain.vocabulary import DatasetType, EvalMode, Route
from liftbay.report.build import ReportBuilder
from liftbay.report.report import Report
from liftbay.scoring.rates import clustered_rate

BF, KQA, TC = DatasetType.BASIC_FUNCTION, DatasetType.KNOWLEDGE_QA, DatasetType.TOOL_CALL
SEARCH = [tool("search", q="x")]


def test_nothing_at_all() -> None:
    report = report_of("TOOL", [])
    assert report.pass_rate.n == report.main.coverage.n == report.cases.total == 0
    assert (report.pass_rate.value, report.main.conditional.value) == (None, None)
    assert report.missing_dataset_types == [TC]
    assert list(report.metrics) == [
        "tool_load_success_rate",
        "tool_call_accuracy",
        "tool_call_success_rate",
        "parameter_mapping_accuracy",
    ]
    assert all(not metric.conditional.n for metric in report.metrics.values())
    assert {name: probe.values.n for name, probe in report.probes.items()} == {
        "tool_call_latency": 0,
        "hot_update_latency": 0,
    }


def test_counts_and_rates() -> None:
    cases = [a_case(str(number), expected_tools=SEARCH, scene_code=f"scene {number % 2}") for number in range(8)]
    right, wrong = called(call("search", q="x")), called(call("other"))
    results = [
        *(result_of(case, right, scope="TOOL") for case in cases[:3]),
        *(result_of(case, wrong, scope="TOOL") for case in cases[3:5]),
        result_of(cases[5], fault=FaultKind.TIMEOUT, scope="TOOL"),
        result_of(cases[6], fault=FaultKind.HARNESS, scope="TOOL"),
        result_of(cases[7], fault=FaultKind.CRASH, scope="TOOL"),
    ]
    report = report_of("TOOL", results)
    assert (report.cases.total, report.cases.passed, report.cases.failed, report.cases.undecided) == (8, 3, 2, 3)
    assert report.cases.undecided_by_reason == {
        "the trial did not finish: timeout": 1,
        "the trial did not finish: a fault of the harness": 1,
        "the trial did not finish: the agent crashed": 1,
    }
    assert report.cases.by_dataset == {TC: {Outcome.PASSED: 3, Outcome.FAILED: 2, Outcome.UNDECIDED: 3}}
    assert report.pass_rate == clustered_rate([(1, 1)] * 3 + [(0, 1)] * 2)
    main = report.metrics["tool_call_accuracy"]
    assert main.conditional == report.main.conditional == report.pass_rate
    assert main.all_cases == report.main.all_cases == clustered_rate([(1, 1)] * 3 + [(0, 1)] * 5)
    assert main.coverage == report.main.coverage == clustered_rate([(1, 1)] * 5 + [(0, 1)] * 3)
    assert (main.passed, main.failed, main.scored) == (3, 2, 0)
    assert main.excluded == {
        "the trial did not finish: timeout": 1,
        "the trial did not finish: the agent crashed": 1,
    }
    assert main.errors == {"the trial did not finish: a fault of the harness": 1}
    assert {scene: (rate.value, rate.n) for scene, rate in report.by_scene.items()} == {
        "scene 0": (2 / 3, 3),
        "scene 1": (0.5, 2),
    }
    assert main.by_scene["scene 1"].all_cases.value == 0.25
    assert main.by_dataset[TC].conditional == main.conditional
    parameters = report.metrics["parameter_mapping_accuracy"]
    assert (parameters.conditional.value, parameters.conditional.n, parameters.scored) == (1.0, 3, 3)
    assert parameters.excluded["the expected tool was not called"] == 2


def test_the_main_metric_counts_only_the_cases_that_it_decides() -> None:
    reported = EvalTrace(planning=Planning(Route.SKILL_HIT), tool_calls=[ToolCallRecord("search")])
    results = [
        result_of(a_case("b", BF, expected_route=HIT), reported, scope="PLANNING"),
        result_of(a_case("t", expected_tools=[]), reported, scope="PLANNING"),
    ]
    report = report_of("PLANNING", results)
    assert (report.main.metric, report.main.conditional.value, report.main.conditional.n) == (
        "routing_accuracy",
        1.0,
        1,
    )
    assert (report.pass_rate.value, report.pass_rate.n) == (0.5, 2)
    assert (report.cases.passed, report.cases.failed) == (1, 1)
    assert report.missing_dataset_types == [KQA]


class TestGaps:
    """A part of the trace that one trial reports and another does not."""

    @staticmethod
    def of(*traces: EvalTrace | None) -> Report:
        cases = [a_case(str(number), BF, expected_route=HIT, expected_intent="i") for number in range(len(traces))]
        return report_of("PLANNING", [result_of(c, t, scope="PLANNING") for c, t in zip(cases, traces, strict=True)])

    def test_where_another_trial_reported_it_the_trace_is_incomplete(self) -> None:
        report = self.of(routed(HIT), routed(MISS), None, EvalTrace(), routed(None))
        metric = report.metrics["routing_accuracy"]
        assert metric.errors == {"trace incomplete": 3}
        assert metric.not_applicable == {}
        assert (metric.conditional.value, metric.all_cases.value, metric.coverage.value) == (0.5, 0.2, 0.4)
        assert report.main.coverage == metric.coverage
        assert report.cases.undecided_by_reason == {"trace incomplete": 3}
        assert (report.cases.passed, report.cases.failed, report.cases.undecided) == (1, 1, 3)

    def test_where_no_trial_reported_it_the_metric_is_not_applicable(self) -> None:
        report = self.of(None, EvalTrace(), routed(None))
        metric = report.metrics["routing_accuracy"]
        assert metric.errors == {}
        assert metric.not_applicable == {"the trace reports no route": 3}
        assert (metric.conditional.n, metric.all_cases.n, metric.coverage.n) == (0, 0, 0)
        assert report.cases.undecided_by_reason == {"the trace reports no route": 3}

    def test_a_gap_ends_what_would_have_been_decided_by_the_fallback(self) -> None:
        """A lost span of the main metric is no reason to let the fallback decide."""
        cases = [a_case(str(number), expected_tools=SEARCH) for number in range(2)]
        results = [result_of(cases[0], called(), scope="PLANNING"), result_of(cases[1], EvalTrace(), scope="PLANNING")]
        report = report_of("PLANNING", results)
        assert report.metrics["tool_decision_accuracy"].errors == {"trace incomplete": 1}
        assert (report.cases.failed, report.cases.undecided) == (1, 1)

    def test_parts_of_parts(self) -> None:
        cases = [a_case(str(number), expected_tools=SEARCH) for number in range(3)]
        unknown = EvalTrace(tool_calls=[ToolCallRecord("search", {"q": "x"})])
        unsaid = EvalTrace(tool_calls=[ToolCallRecord("search", success=True)])
        report = report_of(
            "TOOL", [result_of(cases[0], unknown, scope="TOOL"), result_of(cases[1], unsaid, scope="TOOL")]
        )
        assert report.metrics["tool_call_success_rate"].errors == {"trace incomplete": 1}
        assert report.metrics["parameter_mapping_accuracy"].errors == {"trace incomplete": 1}
        assert report.metrics["tool_call_accuracy"].errors == {}
        alone = report_of("TOOL", [result_of(cases[2], unknown, scope="TOOL")])
        assert alone.metrics["tool_call_success_rate"].errors == {}
        assert sum(alone.metrics["tool_call_success_rate"].not_applicable.values()) == 1

    def test_a_trial_that_did_not_finish_has_no_gap(self) -> None:
        cases = [a_case(str(number), BF, expected_route=HIT) for number in range(2)]
        results = [
            result_of(cases[0], routed(HIT), scope="PLANNING"),
            result_of(cases[1], fault=FaultKind.TIMEOUT, scope="PLANNING"),
        ]
        report = report_of("PLANNING", results)
        assert report.metrics["routing_accuracy"].errors == {}
        assert report.cases.undecided_by_reason == {"the trial did not finish: timeout": 1}


class TestLuckyPasses:
    def test_passed_although_a_module_metric_failed(self) -> None:
        trace = routed(MISS)
        lucky = a_case("lucky", BF, expected_route=HIT, user_input="find it", scene_code="s")
        sound = a_case("sound", BF, expected_route=MISS)
        bad = a_case("bad", BF, expected_route=HIT)
        results = [
            result_of(bad, trace, reward=0.0),
            result_of(lucky, trace, reward=1.0),
            result_of(sound, trace, reward=1.0),
        ]
        report = report_of("BASIC_FUNCTION", results)
        assert report.lucky_passes_total == 1
        (line,) = report.lucky_passes
        assert (line.dataset_type, line.id, line.trial, line.scene) == (BF, "lucky", 1, "s")
        assert (line.user_input, line.answer) == ("find it", "answer")
        assert [verdict.metric for verdict in line.verdicts] == ["routing_accuracy"]
        (lost,) = report.failed_cases
        assert lost.id == "bad"
        assert [verdict.metric for verdict in lost.verdicts] == ["task_completion_rate", "routing_accuracy"]

    def test_a_ratio_that_is_not_whole_is_a_failure_too(self) -> None:
        wrong = called(call("search", success=False, q="y"))
        results = [
            result_of(a_case("1", expected_tools=SEARCH), wrong),
            result_of(a_case("2", expected_tools=SEARCH, eval_mode=EvalMode.E2E_MOCK), wrong),
        ]
        lines = report_of("TOOL_CALL", results).lucky_passes
        found = [[verdict.metric for verdict in line.verdicts] for line in lines]
        assert found == [["tool_call_success_rate", "parameter_mapping_accuracy"], ["parameter_mapping_accuracy"]], (
            "that a mock answers with an error is nobody's failure"
        )

    def test_a_listed_case_is_cut_and_the_list_ends(self) -> None:
        case = a_case("0", BF, expected_route=HIT, user_input="長" * 10_000)
        results = [
            result_of(msgspec.structs.replace(case, id=str(number)), routed(MISS), answer="x" * 10_000, reward=1.0)
            for number in range(60)
        ]
        report = report_of("BASIC_FUNCTION", results)
        assert (report.lucky_passes_total, len(report.lucky_passes)) == (60, 50)
        assert (len(report.lucky_passes[0].user_input), len(report.lucky_passes[0].answer)) == (501, 501)

    def test_a_case_that_failed_without_a_verdict_FAIL_says_why(self) -> None:
        report = report_of("PLANNING", [result_of(a_case("t", expected_tools=SEARCH), called(), scope="PLANNING")])
        (line,) = report.failed_cases
        assert [(verdict.metric, verdict.reason) for verdict in line.verdicts] == [
            ("tool_decision_accuracy", "no tool was called")
        ]


def test_confusion() -> None:
    routes = [(HIT, HIT), (HIT, HIT), (HIT, MISS), (MISS, HIT), (None, HIT)]
    results = [
        result_of(a_case(str(number), BF, expected_route=expected), routed(actual), scope="PLANNING")
        for number, (expected, actual) in enumerate(routes)
    ]
    report = report_of("PLANNING", results)
    assert report.metrics["routing_accuracy"].confusion == {
        "SKILL_HIT": {"SKILL_HIT": 2, "SKILL_MISS": 1},
        "SKILL_MISS": {"SKILL_HIT": 1},
    }
    assert report.metrics["retrieval_decision_accuracy"].confusion is None


def test_confusion_of_skills() -> None:
    def perceived(skill: str | None) -> EvalTrace:
        return EvalTrace(perception=Perception(skill_hit=skill is not None, skill=skill, intents=["i"]))

    pairs = [("a", "a"), ("a", "b"), ("a", None), (None, "b"), ("b", "b")]
    results = [
        result_of(
            a_case(str(number), BF, expected_skill=expected, expected_route=HIT if expected else MISS),
            perceived(actual),
            scope="PERCEPTION",
        )
        for number, (expected, actual) in enumerate(pairs)
    ]
    metrics = report_of("PERCEPTION", results).metrics
    assert metrics["intent_recall"].confusion == {"a": {"a": 1, "b": 1, "–": 1}, "b": {"b": 1}}
    assert metrics["intent_precision"].confusion == {"a": {"a": 1, "b": 1}, "–": {"b": 1}, "b": {"b": 1}}
    assert (metrics["intent_recall"].conditional.value, metrics["intent_precision"].conditional.value) == (0.5, 0.5)


class TestBeside:
    def test_whether_to_call(self) -> None:
        pairs = [(SEARCH, called(call("search"))), (SEARCH, called()), ([], called()), ([], called(call("search")))]
        results = [
            result_of(a_case(str(number), expected_tools=expected), trace)
            for number, (expected, trace) in enumerate(pairs)
        ]
        metric = report_of("TOOL_CALL", results).metrics["tool_decision_accuracy"]
        assert metric.beside["whetherToCall"] == clustered_rate([(1, 1), (0, 1), (1, 1), (0, 1)])
        assert (metric.conditional.value, metric.conditional.n) == (0.5, 2)

    def test_hallucination_is_what_faithfulness_leaves(self) -> None:
        case = a_case("1", KQA, expected_route=MISS)
        judged = [(passed("faithfulness_rate"), 3), (failed("faithfulness_rate", "invented"), 1)]
        results = [
            msgspec.structs.replace(
                result_of(case), case=msgspec.structs.replace(case, id=f"{n}{m}"), verdicts=[verdict]
            )
            for n, (verdict, count) in enumerate(judged)
            for m in range(count)
        ]
        metric = report_of("KNOWLEDGE_QA", results).metrics["faithfulness_rate"]
        rate, rest = metric.conditional, metric.beside["hallucination_rate"]
        assert rate.low is not None
        assert rate.high is not None
        assert (rate.value, rest.value, rest.n) == (0.75, 0.25, 4)
        assert (rest.low, rest.high) == (1 - rate.high, 1 - rate.low)
        assert report_of("KNOWLEDGE_QA", []).metrics["faithfulness_rate"].beside == {}

    def test_loading_is_two_figures(self) -> None:
        loads = [
            [ToolLoad("mcp", "a", True), ToolLoad("mcp", "b", False), ToolLoad("skill", "s", True)],
            [ToolLoad("mcp", "a", True), ToolLoad("mcp", "b", True)],
        ]
        results = [
            result_of(a_case(str(number), expected_tools=[]), EvalTrace(tool_calls=[], tool_loads=found))
            for number, found in enumerate(loads)
        ]
        metric = report_of("TOOL_CALL", results).metrics["tool_load_success_rate"]
        assert {name: (rate.value, rate.n) for name, rate in metric.beside.items()} == {
            "mcp": (0.75, 4),
            "skill": (1.0, 1),
        }
        assert (metric.conditional.value, metric.conditional.n) == (0.8, 5)

    def test_the_success_of_a_mock_is_left_out_of_the_headline(self) -> None:
        mocked, real = EvalMode.E2E_MOCK, EvalMode.E2E_REAL
        results = [
            result_of(a_case("1", expected_tools=SEARCH, eval_mode=mocked), called(call("search"), call("search"))),
            result_of(a_case("2", expected_tools=SEARCH, eval_mode=real), called(call("search", success=False))),
            result_of(a_case("3", expected_tools=SEARCH, eval_mode=real), called(call("search"), call("search"))),
        ]
        metric = report_of("TOOL", results).metrics["tool_call_success_rate"]
        assert (metric.conditional.value, metric.conditional.n, metric.scored) == (2 / 3, 3, 2)
        assert (metric.all_cases.n, metric.coverage.n, metric.by_dataset[TC].conditional.n) == (2, 2, 3)
        assert (metric.beside["mocked"].value, metric.beside["mocked"].n) == (1.0, 2)


class TestProbes:
    def test_what_is_not_reported_is_never_zero(self) -> None:
        report = report_of("TOOL_CALL", [result_of(a_case("1", expected_tools=[]), None, answer="x")])
        reported = {name for name, probe in report.probes.items() if probe.values.n}
        assert reported == {"response_latency"}
        for name in set(report.probes) - reported:
            values = report.probes[name].values
            assert (values.mean, values.p50, values.p90, values.p95, values.p99) == (None,) * 5

    def test_reported_zeros_count(self) -> None:
        trace = EvalTrace(tool_calls=[], model=ModelUsage(0, 0, 0))
        report = report_of("TOOL_CALL", [result_of(a_case("1", expected_tools=[]), trace)])
        for name in ("model_calls", "tool_calls", "input_tokens", "output_tokens"):
            assert (report.probes[name].values.mean, report.probes[name].values.n) == (0.0, 1)

    def test_values_of_every_kind(self) -> None:
        trace = EvalTrace(
            perception=Perception(latency_ms=1),
            planning=Planning(latency_ms=2),
            tool_calls=[call("a"), ToolCallRecord("b", latency_ms=30), ToolCallRecord("c", latency_ms=50)],
            retrievals=[Retrieval(1, [Chunk("x")], 7), Retrieval(latency_ms=9), Retrieval()],
            model=ModelUsage(3, 100, 20, 45),
            hot_update_latency_ms=800,
        )
        probes = report_of("ALL", [result_of(a_case("1", expected_tools=[]), trace, scope="ALL")]).probes
        means = {name: (probe.values.mean, probe.values.n) for name, probe in probes.items() if probe.values.n}
        assert means == {
            "model_calls": (3.0, 1),
            "tool_calls": (3.0, 1),
            "input_tokens": (100.0, 1),
            "output_tokens": (20.0, 1),
            "time_to_first_token": (45.0, 1),
            "response_latency": (100.0, 1),
            "intent_latency": (1.0, 1),
            "planning_latency": (2.0, 1),
            "retrieval_latency": (8.0, 2),
            "tool_call_latency": (40.0, 2),
            "hot_update_latency": (800.0, 1),
        }

    def test_a_mock_has_no_latency(self) -> None:
        case = a_case("1", expected_tools=[], eval_mode=EvalMode.E2E_MOCK)
        trace = EvalTrace(tool_calls=[ToolCallRecord("b", latency_ms=30)])
        assert not report_of("TOOL", [result_of(case, trace)]).probes["tool_call_latency"].values.n


def test_tools() -> None:
    calls = [call("a"), call("a", success=False), call("b", success=None), call("b")]
    results = [result_of(a_case(str(number), expected_tools=[]), called(*calls)) for number in range(2)]
    tools = report_of("TOOL", results).tools
    assert {name: (use.calls, use.succeeded, use.failed, use.unknown) for name, use in tools.items()} == {
        "a": (4, 2, 2, 0),
        "b": (4, 2, 0, 2),
    }


def test_mocked_and_unmocked_calls() -> None:
    mocked = ToolCallRecord("a", {}, True, mocked=True)
    unmocked = ToolCallRecord("b", {}, False, error="unmocked call", unmocked=True)
    results = [
        result_of(a_case("1", expected_tools=[], eval_mode=EvalMode.E2E_MOCK), called(mocked, *[unmocked] * 7)),
        result_of(a_case("2", expected_tools=[], eval_mode=EvalMode.E2E_MOCK), called(mocked)),
        *(result_of(a_case(str(number), expected_tools=[]), called(unmocked)) for number in range(3, 10)),
    ]
    report = report_of("TOOL", results)
    assert {name: (use.calls, use.failed, use.mocked, use.unmocked) for name, use in report.tools.items()} == {
        "a": (2, 0, 2, 0),
        "b": (14, 14, 0, 14),
    }
    assert report.unmocked.trials == 8
    assert report.unmocked.examples == ["1 #1: b, b, b, b, b, …", "3 #1: b", "4 #1: b", "5 #1: b", "6 #1: b"]


def test_what_the_record_says_of_the_run() -> None:
    """Spans, warnings and hot updates are of the run, not of a trial."""
    plan = run_plan(resolve("TOOL"))
    counts = SpanCounts(received=5, used=4, late=1)
    run = a_run(spans=counts, warnings=["odd"], hot_update_latencies_ms=[100.0, 300.0])
    report = ReportBuilder(plan).report(run, missing_types=[])
    assert (report.spans, report.warnings) == (counts, ["odd"])
    latency = report.probes["hot_update_latency"].values
    assert (latency.n, latency.mean) == (2, 200.0)
    assert report.probes["tool_call_latency"].values.n == 0
    plain = ReportBuilder(plan).report(a_run(), missing_types=[])
    assert (plain.spans, plain.warnings, plain.unmocked.trials) == (None, [], 0)


class TestTrials:
    """pass@k and pass^k against all subsets of k trials."""

    @staticmethod
    def brute(cases: list[list[bool]], k: int) -> tuple[float, float]:
        at, hat = [], []
        for trials in cases:
            subsets = list(itertools.combinations(trials, k))
            at.append(sum(map(any, subsets)) / len(subsets))
            hat.append(sum(map(all, subsets)) / len(subsets))
        return sum(at) / len(at), sum(hat) / len(hat)

    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("trials", [2, 4, 7])
    def test_they_are_the_means_over_all_subsets(self, seed: int, trials: int) -> None:
        chance = random.Random(seed)
        cases = [[chance.random() < (number + 1) / 10 for _ in range(trials)] for number in range(8)]
        results = [result for number, found in enumerate(cases) for result in decided(f"{number}", found)]
        report = report_of("BASIC_FUNCTION", results, trials=trials)
        expected = [self.brute(cases, k) for k in range(1, trials + 1)]
        assert report.pass_at_k == pytest.approx([at for at, _ in expected])
        assert report.pass_hat_k == pytest.approx([hat for _, hat in expected])
        assert report.pass_rate == clustered_rate([(sum(found), trials) for found in cases])

    def test_undecided_trials_are_left_out(self) -> None:
        results = [
            *decided("a", [True, None, False, True]),
            *decided("b", [True, True, True, True]),
            *decided("c", [None, None, None, None]),
        ]
        report = report_of("BASIC_FUNCTION", results, trials=4)
        expected = [self.brute([[True, False, True], [True] * 4], k) for k in (1, 2, 3)]
        assert report.pass_at_k == pytest.approx([at for at, _ in expected])
        assert report.pass_hat_k == pytest.approx([hat for _, hat in expected])
        assert (report.cases.total, report.cases.undecided) == (12, 5)

    def test_one_trial_has_neither(self) -> None:
        report = report_of("BASIC_FUNCTION", decided("a", [True]))
        assert (report.pass_at_k, report.pass_hat_k) == (None, None)

    def test_cases_of_two_types_with_one_id_are_two_cases(self) -> None:
        def trials(dataset_type: DatasetType, passed: bool) -> list[CaseResult]:
            case = a_case("same", dataset_type)
            return [result_of(case, trial=number, scope="END_TO_END", reward=float(passed)) for number in (1, 2)]

        report = report_of("END_TO_END", [*trials(BF, True), *trials(KQA, False)], trials=2)
        assert report.pass_hat_k == [0.5, 0.5]
        assert report.pass_rate == clustered_rate([(2, 2), (0, 2)])


class TestClusters:
    @pytest.mark.parametrize("key", ["dialogueId", "sourceDocument"])
    def test_cases_of_one_conversation_are_one_cluster(self, key: str) -> None:
        outcomes = [("a", True), ("b", False), ("a", True), ("c", True), ("b", False), ("a", False)]
        results = [
            result
            for number, (shared, passed) in enumerate(outcomes)
            for result in decided(str(number), [passed], extra={key: shared})
        ]
        report = report_of("BASIC_FUNCTION", results)
        assert report.pass_rate == clustered_rate([(2, 3), (0, 2), (1, 1)])
        assert report.main.conditional == report.pass_rate
        assert report.by_scene["default"] == report.pass_rate

    def test_dialogues_and_documents_of_one_name_are_two(self) -> None:
        results = [
            *decided("1", [True], extra={"dialogueId": 7}),
            *decided("2", [False], extra={"sourceDocument": 7}),
            *decided("3", [True], extra={"dialogueId": 7}),
        ]
        assert report_of("BASIC_FUNCTION", results).pass_rate == clustered_rate([(2, 2), (0, 1)])


class TestFiveLines:
    def test_only_where_the_dataset_is_jmultiwoz_tc(self) -> None:
        results = [result_of(a_case("1", expected_tools=SEARCH), called(call("search", q="x")))]
        assert report_of("TOOL_CALL", results).jmultiwoz is None
        assert report_of("TOOL_CALL", results, sources=["cases.jsonl"]).jmultiwoz is None
        lines = report_of("TOOL_CALL", results, sources=["jmultiwoz:data.zip"]).jmultiwoz
        assert lines is not None
        assert [line.measure for line in lines] == [
            "全体",
            "ツール使用判断",
            "ツール不使用判断",
            "ツール使用・不使用判断",
            "tool call精度",
        ]

    def test_by_the_rules_of_the_benchmark(self) -> None:
        results = [
            result_of(a_case("1", expected_tools=SEARCH), called(call("search", q="x"))),
            result_of(a_case("2", expected_tools=SEARCH), called(call("search", q="y"))),
            result_of(a_case("3", expected_tools=SEARCH), called()),
            result_of(a_case("4", expected_tools=[]), called()),
            result_of(a_case("5", expected_tools=[]), called(call("search"))),
            result_of(a_case("6", expected_tools=SEARCH), fault=FaultKind.PROTOCOL),
        ]
        lines = report_of("TOOL_CALL", results, sources=["jmultiwoz:data.zip"]).jmultiwoz
        assert lines is not None
        assert [(line.total, line.evaluated, line.correct, line.incorrect, line.errors) for line in lines] == [
            (6, 5, 2, 3, 1),
            (6, 3, 2, 1, 1),
            (6, 2, 1, 1, 1),
            (6, 5, 3, 2, 1),
            (6, 3, 1, 2, 1),
        ]
        assert [line.percent for line in lines] == pytest.approx([40, 200 / 3, 50, 60, 100 / 3])
