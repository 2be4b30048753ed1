"""How the metrics of perception and routing decide from the trace."""

from __future__ import annotations

import pytest
from one_trial import BLACK_BOX, HIT, MISS, perceived, routed, trial

from liftbay.domain.trace import EvalTrace, Perception, Retrieval
from liftbay.domain.vocabulary import Route
from liftbay.metrics import (
    fallback_trigger_accuracy,
    intent_accuracy,
    intent_precision,
    intent_recall,
    multi_intent_recognition_rate,
    retrieval_decision_accuracy,
    routing_accuracy,
)


class TestIntentAccuracy:
    def test_the_first_intent_counts(self) -> None:
        assert intent_accuracy.decide(trial(perceived("a", "b"), expected_intent="a")).status == "PASS"
        verdict = intent_accuracy.decide(trial(perceived("b", "a"), expected_intent="a"))
        assert (verdict.status, verdict.expected, verdict.actual) == ("FAIL", {"intent": "a"}, {"intent": "b"})

    def test_no_intent_recognised_fails(self) -> None:
        verdict = intent_accuracy.decide(trial(perceived(), expected_intent="a"))
        assert (verdict.status, verdict.actual) == ("FAIL", {"intent": None})

    def test_an_expected_skill_must_be_hit_too(self) -> None:
        def status(skill: str) -> str:
            return intent_accuracy.decide(
                trial(perceived("a", skill=skill), expected_intent="a", expected_skill="s")
            ).status

        assert status("s") == "PASS"
        assert status("other") == "FAIL"

    def test_a_skill_that_nobody_expects_is_not_compared(self) -> None:
        assert intent_accuracy.decide(trial(perceived("a", skill="s"), expected_intent="a")).status == "PASS"

    @pytest.mark.parametrize("intent", ["a", "wrong"])
    def test_an_unreported_skill_is_not_applicable_whatever_the_intent(self, intent: str) -> None:
        verdict = intent_accuracy.decide(trial(perceived(intent), expected_intent="a", expected_skill="s"))
        assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", "perception.skill")

    @pytest.mark.parametrize("trace", [BLACK_BOX, EvalTrace(), EvalTrace(perception=Perception(skill="s"))])
    def test_unreported_intents(self, trace: EvalTrace | None) -> None:
        verdict = intent_accuracy.decide(trial(trace, expected_intent="a"))
        assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", "perception.intents")

    def test_a_case_without_an_expected_intent(self) -> None:
        verdict = intent_accuracy.decide(trial(perceived("a")))
        assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", None)


class TestIntentRecallAndPrecision:
    @pytest.mark.parametrize(
        ("expected", "hit", "recall", "precision"),
        [
            ("s", "s", "PASS", "PASS"),
            ("s", "t", "FAIL", "FAIL"),
            ("s", None, "FAIL", "NOT_APPLICABLE"),
            (None, "s", "NOT_APPLICABLE", "FAIL"),
            (None, None, "NOT_APPLICABLE", "NOT_APPLICABLE"),
        ],
    )
    def test_expected_and_hit(self, expected: str | None, hit: str | None, recall: str, precision: str) -> None:
        evidence = trial(
            perceived(skill=hit, skill_hit=hit is not None),
            expected_skill=expected,
            expected_route=HIT if expected else MISS,
        )
        for module, status in ((intent_recall, recall), (intent_precision, precision)):
            verdict = module.decide(evidence)
            assert verdict.status == status
            assert verdict.missing is None
            if status != "NOT_APPLICABLE":
                assert (verdict.expected, verdict.actual) == (expected, hit)

    @pytest.mark.parametrize("trace", [BLACK_BOX, EvalTrace(), perceived("a"), perceived("a", skill_hit=True)])
    def test_an_unreported_skill(self, trace: EvalTrace | None) -> None:
        for module in (intent_recall, intent_precision):
            verdict = module.decide(trial(trace, expected_skill="s"))
            assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", "perception.skill")

    def test_no_hit_wins_over_a_named_candidate(self) -> None:
        evidence = trial(perceived(skill="s", skill_hit=False), expected_skill="s")
        assert intent_recall.decide(evidence).status == "FAIL"
        assert intent_precision.decide(evidence).status == "NOT_APPLICABLE"

    def test_a_case_that_does_not_say_its_skill_has_no_precision(self) -> None:
        evidence = trial(perceived(skill="s"), expected_route=HIT)
        assert intent_precision.decide(evidence).status == "NOT_APPLICABLE"


class TestMultiIntentRecognition:
    @pytest.mark.parametrize(
        ("recognised", "status"),
        [(("a", "b"), "PASS"), (("b", "a"), "PASS"), (("a", "b", "c"), "PASS"), (("a",), "FAIL"), ((), "FAIL")],
    )
    def test_every_expected_intent_must_be_there(self, recognised: tuple[str, ...], status: str) -> None:
        verdict = multi_intent_recognition_rate.decide(trial(perceived(*recognised), expected_intents=["a", "b"]))
        assert verdict is not None
        assert verdict.status == status
        assert (verdict.expected, verdict.actual) == (["a", "b"], list(recognised))

    def test_without_expected_intents_a_judge_decides(self) -> None:
        assert multi_intent_recognition_rate.decide(trial(perceived("a"))) is None

    def test_nothing_expected_is_not_applicable(self) -> None:
        verdict = multi_intent_recognition_rate.decide(trial(perceived("a"), expected_intents=[]))
        assert verdict is not None
        assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", None)

    def test_unreported_intents(self) -> None:
        verdict = multi_intent_recognition_rate.decide(trial(BLACK_BOX, expected_intents=["a"]))
        assert verdict is not None
        assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", "perception.intents")


class TestRoute:
    @pytest.mark.parametrize(
        ("expected", "actual", "routing", "fallback"),
        [
            (HIT, HIT, "PASS", "NOT_APPLICABLE"),
            (HIT, MISS, "FAIL", "NOT_APPLICABLE"),
            (MISS, MISS, "PASS", "PASS"),
            (MISS, HIT, "FAIL", "FAIL"),
            (None, HIT, "NOT_APPLICABLE", "NOT_APPLICABLE"),
        ],
    )
    def test_expected_and_taken(self, expected: Route | None, actual: Route, routing: str, fallback: str) -> None:
        evidence = trial(routed(actual), expected_route=expected)
        for module, status in ((routing_accuracy, routing), (fallback_trigger_accuracy, fallback)):
            verdict = module.decide(evidence)
            assert verdict.status == status
            assert verdict.missing is None
            if status != "NOT_APPLICABLE":
                assert (verdict.expected, verdict.actual) == (expected, actual)

    @pytest.mark.parametrize("trace", [BLACK_BOX, EvalTrace(), routed(None)])
    def test_an_unreported_route(self, trace: EvalTrace | None) -> None:
        for module in (routing_accuracy, fallback_trigger_accuracy):
            verdict = module.decide(trial(trace, expected_route=MISS))
            assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", "planning.route")


class TestRetrievalDecision:
    @pytest.mark.parametrize(("count", "status"), [(0, "FAIL"), (1, "PASS"), (2, "PASS")])
    def test_a_retrieval_ran(self, count: int, status: str) -> None:
        trace = EvalTrace(retrievals=[Retrieval(count=0)] * count)
        verdict = retrieval_decision_accuracy.decide(trial(trace, expected_route=MISS))
        assert (verdict.status, verdict.actual) == (status, count)

    @pytest.mark.parametrize("expected", [HIT, None])
    def test_a_case_that_a_skill_covers(self, expected: Route | None) -> None:
        verdict = retrieval_decision_accuracy.decide(trial(EvalTrace(retrievals=[]), expected_route=expected))
        assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", None)

    @pytest.mark.parametrize("trace", [BLACK_BOX, EvalTrace()])
    def test_unreported_retrievals(self, trace: EvalTrace | None) -> None:
        verdict = retrieval_decision_accuracy.decide(trial(trace, expected_route=MISS))
        assert (verdict.status, verdict.missing) == ("NOT_APPLICABLE", "retrievals")
