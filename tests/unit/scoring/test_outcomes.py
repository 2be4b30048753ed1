"""What the main metric makes of a case."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from liftbay.domain.result import Outcome
from liftbay.domain.verdict import Verdict, erred, excluded, failed, not_applicable, passed, scored
from liftbay.domain.vocabulary import VerdictStatus
from liftbay.scoring.outcomes import decide, outcome_of

PASSED, FAILED, UNDECIDED = Outcome.PASSED, Outcome.FAILED, Outcome.UNDECIDED
VERDICTS = [
    (passed("m"), PASSED),
    (failed("m", "why"), FAILED),
    (scored("m", 3, 3), PASSED),
    (scored("m", 2, 3), FAILED),
    (scored("m", 0, 3), FAILED),
    (Verdict("m", VerdictStatus.SCORE), UNDECIDED),
    (Verdict("m", VerdictStatus.SCORE, numerator=0, denominator=0), UNDECIDED),
    (excluded("m", "routing fault"), UNDECIDED),
    (erred("m", "no judge configured"), UNDECIDED),
    (not_applicable("m", "why"), UNDECIDED),
]


@pytest.mark.parametrize(("verdict", "outcome"), VERDICTS)
def test_a_verdict_decides(verdict: Verdict, outcome: Outcome) -> None:
    assert outcome_of(verdict) is outcome
    assert decide(["m"], [passed("before"), verdict, failed("after", "why")]) == ("m", outcome)


@pytest.mark.parametrize(("verdict", "outcome"), VERDICTS)
def test_the_fallback_decides_only_where_the_first_is_not_applicable(verdict: Verdict, outcome: Outcome) -> None:
    for opposite in (passed("n"), failed("n", "why")):
        found = decide(["m", "n"], [opposite, verdict])
        if verdict.status is VerdictStatus.NOT_APPLICABLE:
            assert found == ("n", outcome_of(opposite))
        else:
            assert found == ("m", outcome), "what is excluded or erred is no reason to ask another metric"


def test_where_nothing_is_applicable_the_first_stands_for_it() -> None:
    neither = [not_applicable("m", "why"), not_applicable("n", "why")]
    assert decide(["m", "n"], neither) == ("m", UNDECIDED)
    assert decide(["m", "n"], []) == ("m", UNDECIDED)
    assert decide(["m", "n"], [passed("other")]) == ("m", UNDECIDED)
    assert decide(["m", "n"], [passed("n")]) == ("n", PASSED)


@pytest.mark.parametrize(("right", "outcome"), [(True, PASSED), (False, FAILED), (None, UNDECIDED)])
def test_where_no_tool_was_called_whether_to_call_decides(right: bool | None, outcome: Outcome) -> None:
    actual: dict[str, Any] = {"whetherToCall": right, "tools": []}
    verdict = Verdict("m", VerdictStatus.NOT_APPLICABLE, "no tool was called", actual=actual)
    assert decide(["m"], [verdict]) == ("m", outcome)


@pytest.mark.parametrize("right", [True, False])
def test_where_a_tool_was_called_its_kind_decides(right: bool) -> None:
    actual = {"whetherToCall": right, "tools": ["search"]}
    assert decide(["m"], [Verdict("m", VerdictStatus.FAIL, actual=actual)]) == ("m", FAILED)
    assert decide(["m"], [Verdict("m", VerdictStatus.PASS, actual=actual)]) == ("m", PASSED)


def test_the_order_of_the_verdicts_does_not_matter() -> None:
    verdicts = [not_applicable("m", "why"), failed("n", "why"), passed("o")]
    assert {decide(["m", "n"], order) for order in itertools.permutations(verdicts)} == {("n", FAILED)}
