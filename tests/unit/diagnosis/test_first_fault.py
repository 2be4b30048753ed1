"""Whose fault a failed trial is, from trials whose faults are known."""

from __future__ import annotations

import msgspec
import pytest
from one_trial import HIT, MISS, call, tool
from reports import a_case, result_of

from liftbay.diagnosis.first_fault import blame_of, faults_of
from liftbay.domain.blame import Culprit
from liftbay.domain.case import Case, ConversationRound
from liftbay.domain.episode import Episode, FaultKind, Turn
from liftbay.domain.result import CaseResult, Outcome
from liftbay.domain.trace import Chunk, EvalTrace, Memory, Perception, Planning, Retrieval, ToolCallRecord, ToolLoad
from liftbay.domain.verdict import JudgedItem, Judgement, Verdict, failed
from liftbay.domain.vocabulary import DatasetType, Route, VerdictStatus

BF, KQA, TC = DatasetType.BASIC_FUNCTION, DatasetType.KNOWLEDGE_QA, DatasetType.TOOL_CALL
POINT = "queryTags の上限は毎秒200回"


def skill_case(intent: str, skill: str | None, route: Route, *, reward: float = 0.0) -> CaseResult:
    """A case that the Skill `find` should take."""
    case = a_case("1", BF, expected_route=HIT, expected_intent="find", expected_skill="find")
    trace = EvalTrace(
        perception=Perception(skill is not None, skill, intents=[intent]),
        planning=Planning(route),
        tool_calls=[call("search", id="1")] if skill else [],
    )
    return result_of(case, trace, scope="END_TO_END", reward=reward)


def knowledge_case(
    retrievals: list[Retrieval], answer: str, *, skill: str | None = None, lost: bool = True
) -> CaseResult:
    """A question whose answer must hold the point; a judge says whether it does."""
    case = a_case(
        "1",
        KQA,
        user_input="queryTags は何回まで？",
        expected_route=MISS,
        expected_intent="qa",
        expected_knowledge=[POINT],
    )
    trace = EvalTrace(
        perception=Perception(skill is not None, skill, intents=["qa"]),
        planning=Planning(HIT if skill else MISS),
        tool_calls=[],
        retrievals=retrievals,
    )
    result = result_of(case, trace, scope="END_TO_END", answer=answer, reward=0.0)
    recall = Verdict(
        "retrieval_recall",
        VerdictStatus.SCORE,
        numerator=float(not lost),
        denominator=1.0,
        items=[JudgedItem(POINT, passed=not lost)],
        judgement=Judgement("judge", "p"),
    )
    others = [one for one in result.verdicts if one.metric != "retrieval_recall"]
    return msgspec.structs.replace(result, verdicts=[*others, recall])


def tool_case(made: list[ToolCallRecord], **case: object) -> CaseResult:
    """A case with the expected call search(city=Osaka)."""
    asked = {"user_input": "hotels in Osaka", "expected_tools": [tool("search", city="Osaka")], **case}
    return result_of(a_case("1", TC, **asked), EvalTrace(tool_calls=made))


def chunks(*texts: str) -> list[Retrieval]:
    """One retrieval that found these passages."""
    return [Retrieval(len(texts), [Chunk(text) for text in texts])]


def test_a_trial_that_passed_is_nobodys_fault() -> None:
    assert blame_of(skill_case("find", "find", HIT, reward=1.0)).candidates == ()


def test_a_trial_that_did_not_finish_is_the_environments() -> None:
    result = result_of(a_case("1", BF), fault=FaultKind.TIMEOUT)
    (candidate,) = blame_of(result).candidates
    assert (candidate.culprit, candidate.probability) == (Culprit.ENVIRONMENT, 1.0)
    assert candidate.about == (("fault", "timeout"),)


@pytest.mark.parametrize(
    ("intent", "skill", "route", "culprit"),
    [
        ("other", "other", HIT, Culprit.PERCEPTION),
        ("other", None, MISS, Culprit.PERCEPTION),
        ("find", None, MISS, Culprit.PLANNING),
    ],
)
def test_the_first_module_in_causal_order_is_blamed(
    intent: str, skill: str | None, route: Route, culprit: Culprit
) -> None:
    blame = blame_of(skill_case(intent, skill, route))
    assert blame.culprit is culprit
    assert sum(one.probability for one in blame.candidates) == pytest.approx(1)


def test_a_skill_that_was_not_loaded_comes_before_what_follows_from_it() -> None:
    result = skill_case("qa", None, MISS)
    turn = result.episode.turns[0]
    assert turn.trace is not None
    trace = msgspec.structs.replace(turn.trace, tool_loads=[ToolLoad("skill", "find", success=False)])
    episode = msgspec.structs.replace(result.episode, turns=[msgspec.structs.replace(turn, trace=trace)])
    blame = blame_of(msgspec.structs.replace(result, episode=episode))
    assert blame.culprit is Culprit.TOOL
    assert ("load", "find") in blame.candidates[0].about


def test_a_skill_forced_on_a_question_is_the_perceptions() -> None:
    assert blame_of(knowledge_case([], "…", skill="find")).culprit is Culprit.PERCEPTION


def test_no_retrieval_is_the_plannings() -> None:
    assert blame_of(knowledge_case([], "…")).culprit is Culprit.PLANNING


@pytest.mark.parametrize("found", [chunks(), chunks("返品は30日以内に受け付ける", "審査は2営業日で終わる")])
def test_knowledge_that_the_passages_lack_was_lost_by_the_search(found: list[Retrieval]) -> None:
    assert blame_of(knowledge_case(found, "お答えできません")).culprit is Culprit.MEMORY


def test_knowledge_that_the_passages_hold_was_lost_by_the_answer() -> None:
    found = chunks("queryTags の上限は毎秒200回で、超えると待たされる")
    assert blame_of(knowledge_case(found, "上限があります")).culprit is Culprit.GENERATION


def test_a_missing_call_is_the_plannings_and_a_wrong_argument_the_tools() -> None:
    assert blame_of(tool_case([])).culprit is Culprit.PLANNING
    # which tool was called decides a case of TOOL_CALL: wrong arguments alone leave it passed
    wrong = msgspec.structs.replace(tool_case([call("search", city="Kyoto")]), outcome=Outcome.FAILED)
    blame = blame_of(wrong)
    assert blame.culprit is Culprit.TOOL
    assert ("argument", "search.city") in blame.candidates[0].about
    assert blame.candidates[0].why == "an argument has another value: Osaka → Kyoto"


def test_a_passed_trial_still_tells_what_failed_in_it() -> None:
    lucky = tool_case([call("search", city="Kyoto")])
    assert lucky.outcome is Outcome.PASSED
    assert blame_of(lucky).candidates == ()
    assert faults_of(lucky).culprit is Culprit.TOOL


def test_a_black_box_that_fails_is_unexplained() -> None:
    result = result_of(a_case("1", BF), None, reward=0.0)
    assert result.outcome is Outcome.FAILED
    assert blame_of(result).candidates == ()


def a_conversation(second: EvalTrace, answer: str) -> CaseResult:
    """Two rounds about stock, of which the second refers to the first and a judge calls it lost."""
    case = Case(
        id="1",
        dataset_type=DatasetType.MULTI_TURN,
        conversation_chain=[
            ConversationRound(round=1, user_input="stock of 10050061 in Korea?", expected_contains=["525"]),
            ConversationRound(round=2, user_input="and in Japan?", expected_contains=["705"], refers_to=[1]),
        ],
    )
    first = EvalTrace(
        perception=Perception(True, "stock", intents=["stock"]),
        planning=Planning(HIT, "SKILL_HIT; call query_stock"),
        memory=Memory(0),
        tool_calls=[
            ToolCallRecord("query_stock", {"productId": "10050061", "country": "KR"}, True, {"available": 525})
        ],
        tool_loads=[ToolLoad("skill", "stock", success=True)],
    )
    turns = [
        Turn(1, "stock of 10050061 in Korea?", "There are 525.", first),
        Turn(2, "and in Japan?", answer, second),
    ]
    retention = Verdict(
        "short_term_retention_rate",
        VerdictStatus.SCORE,
        numerator=0.0,
        denominator=1.0,
        items=[JudgedItem("2", passed=False, distance=1)],
        judgement=Judgement("judge", "p"),
    )
    return CaseResult(
        case=case,
        trial=1,
        episode=Episode("s", turns),
        verdicts=[failed("multi_turn_completion_rate", "not done"), retention],
        main_metric="multi_turn_completion_rate",
        outcome=Outcome.FAILED,
    )


def a_second_turn(decision: str, calls: list[ToolCallRecord], *, rounds: int = 1) -> EvalTrace:
    """What happened in the second round."""
    return EvalTrace(
        perception=Perception(True, "stock", intents=["stock"]),
        planning=Planning(HIT, decision),
        memory=Memory(rounds),
        tool_calls=calls,
    )


def test_a_forgotten_entity_is_the_memorys_with_its_distance() -> None:
    blame = blame_of(a_conversation(a_second_turn("SKILL_HIT; ask for productId", []), "Which product?"))
    assert blame.culprit is Culprit.MEMORY
    assert (blame.candidates[0].turn, blame.candidates[0].about) == (2, (("distance", "1"),))


def test_a_window_that_does_not_reach_back_is_the_memorys() -> None:
    blame = blame_of(a_conversation(a_second_turn("SKILL_HIT", [], rounds=0), "Which product?"))
    assert blame.candidates[0].why.startswith("the memory did not reach back")


def test_an_answer_that_strays_from_what_the_call_found_is_the_generations() -> None:
    found = ToolCallRecord("query_stock", {"productId": "10050061", "country": "JP"}, True, {"available": 705})
    second = a_second_turn("SKILL_HIT; call query_stock", [found])
    assert blame_of(a_conversation(second, "There are 999, see resetAll 4711.")).culprit is Culprit.GENERATION
