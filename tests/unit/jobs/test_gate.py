"""Pairing two stored runs, and what the gate makes of the pairs."""

from __future__ import annotations

import asyncio
import xml.etree.ElementTree as ET
from collections.abc import Iterable

import msgspec
import pytest
from places import a_result, a_run, synchronous

from liftbay.domain.result import CaseResult, Outcome
from liftbay.domain.verdict import Verdict, failed, passed
from liftbay.jobs.gate import Decision, GateResult, Limits, gate
from liftbay.jobs.gate_forms import gate_junit, gate_markdown, gate_text
from liftbay.jobs.pairing import Pair, PairCounts, paired
from liftbay.stores.memory import MemoryStore

PASSED, FAILED, UNDECIDED = Outcome.PASSED, Outcome.FAILED, Outcome.UNDECIDED


def trial(number: int, outcome: Outcome = PASSED, *, trial: int = 1, group: str | None = None) -> CaseResult:
    """A trial whose only verdict is that of its outcome."""
    result = a_result(number, trial=trial, outcome=outcome)
    verdict: Verdict = passed("tool_call_accuracy") if outcome is PASSED else failed("tool_call_accuracy", "wrong")
    case = result.case if group is None else msgspec.structs.replace(result.case, extra={"dialogueId": group})
    return msgspec.structs.replace(result, case=case, verdicts=[verdict])


def edited(result: CaseResult) -> CaseResult:
    """The same trial of a case that now asks something else."""
    case = msgspec.structs.replace(result.case, user_input="大阪のホテルを予約してください。")
    return msgspec.structs.replace(result, case=case)


async def pairs_of(base: Iterable[CaseResult], head: Iterable[CaseResult]) -> list[Pair]:
    """The pairs of two runs in a store."""
    store = MemoryStore()
    for name, results in (("base", base), ("head", head)):
        await store.add_run(a_run(name))
        await store.add_results(name, results)
    return [pair async for pair in paired(store, "base", "head")]


def decided(base: Iterable[CaseResult], head: Iterable[CaseResult], **limits: float) -> GateResult:
    """What the gate says of two runs."""

    async def work() -> GateResult:
        store = MemoryStore()
        for name, results in (("base", base), ("head", head)):
            await store.add_run(a_run(name))
            await store.add_results(name, results)
        return await gate(paired(store, "base", "head"), base="base", head="head", limits=Limits(**limits))

    return asyncio.run(work())


def run_of(cases: int, fails: Iterable[int] = (), *, trials: int = 1) -> list[CaseResult]:
    """A run in which these cases fail in every trial."""
    wrong = set(fails)
    return [
        trial(number, FAILED if number in wrong else PASSED, trial=one)
        for number in range(cases)
        for one in range(1, trials + 1)
    ]


@synchronous
async def test_trials_are_paired_by_their_key_in_order() -> None:
    pairs = await pairs_of(
        [trial(1), trial(2), trial(2, trial=2), trial(4)], [trial(5), trial(2, FAILED), trial(4), trial(3)]
    )
    found = [(pair.known.case.id[-1], pair.known.trial, pair.difference) for pair in pairs]
    assert found == [("1", 1, None), ("2", 1, -1), ("2", 2, None), ("3", 1, None), ("4", 1, 0), ("5", 1, None)]


@synchronous
async def test_what_cannot_be_compared_is_counted_apart() -> None:
    base = [trial(1), trial(2), trial(3, UNDECIDED), trial(4), trial(5)]
    head = [trial(1), trial(2, UNDECIDED), trial(3), edited(trial(4)), trial(6)]
    counts = PairCounts()
    for pair in await pairs_of(base, head):
        counts.add(pair)
    assert counts == PairCounts(decided=1, undecided=2, changed=1, only_base=1, only_head=1)
    assert counts.coverage == 1 / 5


@synchronous
async def test_a_note_on_a_case_does_not_change_it_but_a_conversation_joins_cases() -> None:
    pairs = await pairs_of([trial(1, group="a"), trial(2)], [trial(1, group="b"), trial(2)])
    assert [pair.difference for pair in pairs] == [0, 0]
    assert [pair.cluster for pair in pairs] == ["dialogueId:b", "TOOL_CALL/case-000002"]


@synchronous
async def test_two_empty_runs() -> None:
    assert await pairs_of([], []) == []
    assert PairCounts().coverage is None


def test_a_large_drop_fails() -> None:
    result = decided(run_of(100), run_of(100, range(20)))
    assert result.decision is Decision.FAILED
    assert (result.drop, result.base_rate, result.head_rate) == pytest.approx((0.2, 1.0, 0.8))
    assert result.least_drop is not None
    assert 0.1 < result.least_drop < 0.2
    assert (result.only_base, result.only_head, len(result.lost)) == (20, 0, 20)
    assert result.lost[0] == "TOOL_CALL/case-000000#1"


def test_three_flips_are_no_proof() -> None:
    """Student's t alone would take them for one: three of three that got worse, where a coin falls so in one of 8."""
    result = decided(run_of(40), run_of(40, range(3)), max_drop=0.02)
    assert (result.decision, result.least_drop) == (Decision.TOO_SMALL, 0.0)
    assert decided(run_of(40), run_of(40, range(5)), max_drop=0.02).decision is Decision.FAILED
    assert decided(run_of(40, range(3)), run_of(40), max_drop=0.02).decision is Decision.TOO_SMALL


def test_a_drop_that_is_allowed_passes() -> None:
    assert decided(run_of(100), run_of(100, range(20)), max_drop=0.25).decision is Decision.PASSED


def test_equal_runs_pass_where_they_are_large_enough() -> None:
    assert decided(run_of(400), run_of(400)).decision is Decision.PASSED
    small = decided(run_of(30), run_of(30))
    assert small.decision is Decision.TOO_SMALL
    assert small.power.cases is not None
    assert 100 < small.power.cases < 1000
    assert decided(run_of(30), run_of(30), max_drop=0.2).decision is Decision.PASSED
    assert decided(run_of(30), run_of(30), max_drop=0.0).decision is Decision.PASSED


def test_the_cases_that_are_named_are_enough() -> None:
    """A suite of that size with the same share of flipped cases is large enough."""
    small = decided(run_of(100, range(10)), run_of(100, range(5, 15)), max_drop=0.05)
    assert small.decision is Decision.TOO_SMALL
    needed = small.power.cases
    assert needed is not None
    flipped = needed // 20
    large = decided(run_of(needed, range(2 * flipped)), run_of(needed, range(flipped, 3 * flipped)), max_drop=0.05)
    assert large.decision is Decision.PASSED


def test_trials_of_one_case_are_no_new_cases() -> None:
    """Where the trials of a case repeat each other, no number of them makes a small suite large enough."""
    one = decided(run_of(40), run_of(40, (0, 1, 2)), max_drop=0.05)
    five = decided(run_of(40, trials=5), run_of(40, (0, 1, 2), trials=5), max_drop=0.05)
    assert (one.decision, five.decision) == (Decision.TOO_SMALL, Decision.TOO_SMALL)
    assert five.clusters == five.cases == 40
    assert five.power.of_max_drop == pytest.approx(one.power.of_max_drop, abs=0.15)
    assert five.power.trials is None


def test_few_comparable_trials_decide_nothing_but_a_proven_drop() -> None:
    undecided = [trial(number, UNDECIDED) for number in range(400, 450)]
    assert decided([*run_of(400), *run_of(450)[400:]], [*run_of(400), *undecided]).decision is Decision.LOW_COVERAGE
    head = [*run_of(400, range(50)), *undecided]
    assert decided(run_of(450), head).decision is Decision.FAILED
    assert decided([], []).decision is Decision.LOW_COVERAGE
    assert decided([], [], min_coverage=0.0).decision is Decision.LOW_COVERAGE


def test_one_group_tells_nothing() -> None:
    base = [trial(number, group="a") for number in range(50)]
    head = [trial(number, FAILED, group="a") for number in range(50)]
    result = decided(base, head)
    assert (result.decision, result.power.cases) == (Decision.TOO_SMALL, None)


def test_metrics_are_corrected_for_their_number() -> None:
    def with_more(results: list[CaseResult], wrong: int) -> list[CaseResult]:
        return [
            msgspec.structs.replace(
                one,
                verdicts=[
                    *one.verdicts,
                    failed("routing_accuracy", "wrong") if place < wrong else passed("routing_accuracy"),
                ],
            )
            for place, one in enumerate(results)
        ]

    result = decided(with_more(run_of(100), 0), with_more(run_of(100, (5,)), 20))
    first, second = result.metrics
    assert (first.metric, first.base, first.head) == ("routing_accuracy", 1.0, 0.8)
    assert first.adjusted_p_value == pytest.approx(2 * first.p_value)
    assert second.metric == "tool_call_accuracy"
    assert second.adjusted_p_value == pytest.approx(second.p_value)


@pytest.mark.parametrize(
    ("base", "head", "decision", "counts"),
    [
        (run_of(100), run_of(100, range(20)), Decision.FAILED, ("1", "0")),
        (run_of(20), run_of(20), Decision.TOO_SMALL, ("0", "1")),
        (run_of(20), run_of(10), Decision.LOW_COVERAGE, ("0", "1")),
        (run_of(400, (1,)), run_of(400), Decision.PASSED, ("0", "0")),
        ([], [], Decision.LOW_COVERAGE, ("0", "1")),
    ],
)
def test_the_forms(base: list[CaseResult], head: list[CaseResult], decision: Decision, counts: tuple[str, str]) -> None:
    result = decided(base, head)
    assert result.decision is decision
    suite = ET.fromstring(gate_junit(result))
    assert (suite.get("failures"), suite.get("errors"), suite.get("tests")) == (*counts, "3")
    assert len(suite.findall(".//failure")) == int(counts[0])
    assert len(suite.findall(".//error")) == int(counts[1])
    for form in (gate_text(result), gate_markdown(result)):
        assert "The gate " in form
        assert ("and 0 more" in form, "None" in form) == (False, False)


def test_the_text_names_what_flipped_and_how_sure_it_is() -> None:
    text = gate_text(decided(run_of(100), run_of(100, range(25))))
    assert "drops by 25.0 points, where 2.0 are allowed" in text
    assert "pass rate 100.0 % → 75.0 %: -25.0 points" in text
    assert "TOOL_CALL/case-000000#1" in text
    assert "… and 5 more" in text
