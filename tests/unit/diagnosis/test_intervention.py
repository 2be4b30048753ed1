"""Which override a case's expectations give for which module."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from liftbay.diagnosis.intervention import intervention_of, interventions_of
from liftbay.diagnosis.known_facts import KnownFacts
from liftbay.domain.blame import Candidate, Culprit
from liftbay.domain.case import Case, ConversationRound, ExpectedTool, Message
from liftbay.domain.episode import Episode, Turn
from liftbay.domain.override import GivenResult, Intervention, Overrides
from liftbay.domain.result import CaseResult, Outcome
from liftbay.domain.toolcall import ToolCall
from liftbay.domain.trace import Chunk, EvalTrace, Perception, Planning, Retrieval, ToolCallRecord, ToolLoad
from liftbay.domain.vocabulary import DatasetType, Route

POINT = "queryTags の上限は毎秒200回"
CHAIN = [ConversationRound(1, "東京の天気は?"), ConversationRound(2, "明日は?", refers_to=[1])]


def a_trial(trace: EvalTrace | None = None, turns: list[Turn] | None = None, **expected: Any) -> CaseResult:
    """A failed trial of a case with these expectations."""
    case = Case(id="c", dataset_type=DatasetType.TOOL_CALL, user_input="在庫は?", **expected)
    return CaseResult(
        case=case,
        trial=1,
        episode=Episode("s", turns or [Turn(1, "在庫は?", "…", trace)]),
        verdicts=[],
        main_metric="tool_call_accuracy",
        outcome=Outcome.FAILED,
    )


def overrides(result: CaseResult, culprit: Culprit, known: KnownFacts | None = None) -> Overrides:
    """What is put in place in the last turn."""
    plan = intervention_of(result, culprit, known or KnownFacts())
    assert plan.intervention is not None, plan.why_not
    return plan.intervention.last


def why_not(result: CaseResult, culprit: Culprit) -> str | None:
    """Why nothing is put in place."""
    plan = intervention_of(result, culprit, KnownFacts())
    assert plan.intervention is None
    return plan.why_not


def called(*calls: ToolCallRecord, **parts: Any) -> EvalTrace:
    """A trace with calls."""
    return EvalTrace(tool_calls=list(calls), **parts)


def test_nothing_is_guessed() -> None:
    nothing = a_trial(EvalTrace())
    for culprit in Culprit:
        assert why_not(nothing, culprit)


def test_perception() -> None:
    result = a_trial(expected_intent="stock-query", expected_skill="stock-query", expected_route=Route.SKILL_HIT)
    assert overrides(result, Culprit.PERCEPTION) == Overrides(intents=["stock-query"], skill="stock-query")
    several = a_trial(expected_intents=["a", "b"])
    assert overrides(several, Culprit.PERCEPTION) == Overrides(intents=["a", "b"])


@pytest.mark.parametrize(
    ("hit", "intent", "given"),
    [
        (True, "knowledge_qa", Overrides(route=Route.SKILL_MISS)),
        (True, "stock-query", Overrides(intents=["knowledge_qa"], route=Route.SKILL_MISS)),
        (None, "stock-query", Overrides(intents=["knowledge_qa"], route=Route.SKILL_MISS)),
        (False, "knowledge_qa", Overrides(intents=["knowledge_qa"])),
    ],
)
def test_a_skill_that_should_not_be_hit(hit: bool | None, intent: str, given: Overrides) -> None:
    trace = EvalTrace(perception=Perception(skill_hit=hit, intents=[intent]))
    result = a_trial(trace, expected_intent="knowledge_qa", expected_route=Route.SKILL_MISS)
    assert overrides(result, Culprit.PERCEPTION) == given
    assert intervention_of(result, Culprit.PERCEPTION, KnownFacts()).as_expected is (hit is False)


def test_planning_is_the_route() -> None:
    trace = EvalTrace(planning=Planning(route=Route.SKILL_MISS))
    result = a_trial(trace, expected_route=Route.SKILL_HIT)
    assert overrides(result, Culprit.PLANNING) == Overrides(route=Route.SKILL_HIT)


def test_planning_decides_which_tools_and_leaves_the_arguments() -> None:
    own = ToolCallRecord("stock", {"id": 2}, success=True)
    needless = ToolCallRecord("tags", {"id": 1}, success=True)
    expected = [ExpectedTool("stock", {"id": 1}), ExpectedTool("price", {"id": 1})]
    result = a_trial(called(own, needless), expected_tools=expected)
    calls = [ToolCall("stock", {"id": 2}), ToolCall("price", {"id": 1})]
    assert overrides(result, Culprit.PLANNING) == Overrides(tool_calls=calls)


def test_planning_is_left_alone_where_it_was_told_the_wrong_thing() -> None:
    trace = EvalTrace(perception=Perception(intents=["b"]), planning=Planning(route=Route.SKILL_HIT))
    result = a_trial(trace, expected_intent="a", expected_route=Route.SKILL_MISS)
    assert why_not(result, Culprit.PLANNING) == "the module before it was wrong already: perception"


def test_tool_is_the_arguments_and_leaves_which_tools() -> None:
    wrong, other = ToolCallRecord("stock", {"id": 2}, success=True), ToolCallRecord("tags", {"id": 7}, success=True)
    result = a_trial(called(wrong, other), expected_tools=[ExpectedTool("stock", {"id": 1}), ExpectedTool("price", {})])
    calls = [ToolCall("stock", {"id": 1}), ToolCall("tags", {"id": 7})]
    assert overrides(result, Culprit.TOOL) == Overrides(tool_calls=calls)


def test_tool_is_the_result_of_a_call_that_failed() -> None:
    broken = ToolCallRecord("stock", {"id": 1.0}, success=False, error="500")
    result = a_trial(called(broken), expected_tools=[ExpectedTool("stock", {"id": 1})])
    assert why_not(result, Culprit.TOOL) == "nobody knows what a call that failed should have come to"
    elsewhere = KnownFacts()
    elsewhere.add(a_trial(called(ToolCallRecord("stock", {"id": 1}, success=True, result={"left": 4}))))
    assert overrides(result, Culprit.TOOL, elsewhere) == Overrides(tool_results=[GivenResult("stock", {"left": 4})])
    mocked = KnownFacts(lambda case, call: GivenResult(call.name, case.id))
    assert overrides(result, Culprit.TOOL, mocked) == Overrides(tool_results=[GivenResult("stock", "c")])


def test_tool_was_right_already_or_was_not_loaded() -> None:
    good = ToolCallRecord("stock", {"id": 1}, success=True)
    right = a_trial(called(good), expected_tools=[ExpectedTool("stock", {"id": 1})])
    assert intervention_of(right, Culprit.TOOL, KnownFacts()).as_expected is True
    missing = called(good, tool_loads=[ToolLoad("skill", "stock-query", success=False)])
    skill = a_trial(missing, expected_skill="stock-query")
    for culprit in (Culprit.PERCEPTION, Culprit.TOOL):
        assert why_not(skill, culprit) == "a Skill that was not loaded cannot be put in place"


def test_memory_is_the_passages_that_the_agent_found_elsewhere_or_the_point_itself() -> None:
    wrong = EvalTrace(retrievals=[Retrieval(1, [Chunk("返品は 8 日以内")])])
    result = a_trial(wrong, expected_knowledge=[POINT, "食堂は水曜定休"])
    elsewhere = KnownFacts()
    passage = Chunk("流量制限: queryTags の上限は毎秒200回、ほかは毎秒30回。", id="kb-1", score=0.5)
    elsewhere.add(a_trial(EvalTrace(retrievals=[Retrieval(1, [passage])])))
    given = overrides(result, Culprit.MEMORY, elsewhere).chunks
    assert given == [passage, Chunk("食堂は水曜定休", id="expected-2", score=1.0)]
    none = a_trial(EvalTrace(retrievals=[]), expected_knowledge=[POINT])
    assert why_not(none, Culprit.MEMORY) == "nothing was retrieved: passages would not be used"


def test_memory_is_all_that_was_said_before() -> None:
    turns = [Turn(1, "東京の天気は?", "晴れ"), Turn(2, "明日は?", "どこの?")]
    result = a_trial(turns=turns, conversation_chain=CHAIN)
    plan = intervention_of(result, Culprit.MEMORY, KnownFacts()).intervention
    assert plan == Intervention(full_history=True)
    assert plan.at(result.case, []) == Overrides()
    again = [Turn(1, "東京の天気は?", "雨")]  # what is said in the replay, not in the run
    history = [Message("user", "東京の天気は?"), Message("assistant", "雨")]
    assert plan.at(result.case, again) == Overrides(history=history)


def test_what_was_said_before_does_not_matter_to_a_round_that_stands_alone() -> None:
    result = a_trial(turns=[Turn(1, "東京の天気は?", "?"), Turn(2, "明日は?", "?")], conversation_chain=CHAIN)
    for turn, worth in ((1, False), (2, True)):
        first = Candidate(Culprit.MEMORY, 1.0, None, "why", turn)
        assert interventions_of(result, first, KnownFacts())[0][1] is worth


def test_nor_does_it_put_right_what_a_round_looks_up() -> None:
    searched = EvalTrace(retrievals=[Retrieval(0, [])])
    turns = [Turn(1, "東京の天気は?", "晴れ"), Turn(2, "明日は?", "?", searched)]
    first = Candidate(Culprit.MEMORY, 1.0, None, "why", 2)
    plan, worth = interventions_of(a_trial(turns=turns, conversation_chain=CHAIN), first, KnownFacts())[0]
    assert not worth
    assert plan.why_not == "the round looks something up, and the case does not state what should be found"


def test_only_the_last_turn_of_a_conversation_takes_what_the_case_states() -> None:
    plan = Intervention(Overrides(route=Route.SKILL_HIT))
    case = msgspec.structs.replace(a_trial().case, conversation_chain=CHAIN)
    assert plan.at(case, []).empty
    assert plan.at(case, [Turn(1, "a", "b")]) == Overrides(route=Route.SKILL_HIT)


def test_the_blamed_module_comes_first_and_what_was_right_is_not_replayed() -> None:
    trace = EvalTrace(perception=Perception(intents=["a"]), planning=Planning(route=Route.SKILL_HIT))
    result = a_trial(trace, expected_intent="a", expected_skill="a", expected_route=Route.SKILL_HIT)
    blamed = interventions_of(result, Candidate(Culprit.PLANNING, 1.0, None, "why"), KnownFacts())
    assert [(plan.culprit.value, worth) for plan, worth in blamed] == [
        ("planning", True),
        ("perception", False),
        ("memory", False),
        ("tool", False),
    ]
    assert not any(worth for _, worth in interventions_of(result, None, KnownFacts()))
