"""What the report says should be fixed, from results whose faults are known."""

from __future__ import annotations

from one_trial import HIT, MISS
from reports import a_case, report_of, result_of

from liftbay.domain.case import ExpectedTool
from liftbay.domain.remedy import Fix
from liftbay.domain.result import CaseResult
from liftbay.domain.trace import EvalTrace, Perception, Planning, ToolCallRecord
from liftbay.domain.vocabulary import DatasetType, Route
from liftbay.report.wording import cause_sentence, grounds
from liftbay.scoring.arguments import ArgumentFault

BF = DatasetType.BASIC_FUNCTION


def skills(number: int, *, intent: str, skill: str | None, route: Route, reward: float) -> CaseResult:
    """A case that the Skill `find` should take."""
    case = a_case(str(number), BF, expected_route=HIT, expected_intent="find", expected_skill="find")
    trace = EvalTrace(
        perception=Perception(skill is not None, skill, intents=[intent]), planning=Planning(route), tool_calls=[]
    )
    return result_of(case, trace, scope="END_TO_END", reward=reward)


def right(number: int, reward: float = 1.0) -> CaseResult:
    """One in which every module did what it should."""
    return skills(number, intent="find", skill="find", route=HIT, reward=reward)


def test_a_wrong_route_behind_a_wrong_intent_is_a_matter_of_the_skills_texts() -> None:
    wrong = [skills(n, intent="other", skill=None, route=MISS, reward=0.0) for n in range(20)]
    report = report_of("END_TO_END", [*wrong, *(right(n) for n in range(20, 60))])
    (finding,) = report.conclusion.findings
    assert finding.fix is Fix.SKILL_TEXT
    assert "routing_accuracy" in (finding.metric, *finding.also)
    assert {"intent_accuracy", "intent_recall"} <= {finding.metric, *finding.also}
    assert finding.association.points == 20 / 60
    assert finding.failed == 20
    assert (report.conclusion.failed, report.conclusion.unexplained) == (20, 0)
    assert "33.3 points of the pass rate go together with it." in cause_sentence(report.conclusion)


def test_a_wrong_route_alone_is_a_matter_of_the_planning() -> None:
    wrong = [skills(n, intent="find", skill="find", route=MISS, reward=0.0) for n in range(20)]
    report = report_of("END_TO_END", [*wrong, *(right(n) for n in range(20, 60))])
    assert [finding.fix for finding in report.conclusion.findings] == [Fix.PLANNING_PROMPT]
    assert report.conclusion.findings[0].most_often == "SKILL_HIT → SKILL_MISS"


def test_failures_that_no_metric_explains_are_counted() -> None:
    report = report_of("END_TO_END", [*(right(n, 0.0) for n in range(15)), *(right(n) for n in range(15, 60))])
    assert report.conclusion.findings == []
    assert (report.conclusion.failed, report.conclusion.unexplained) == (15, 15)
    assert cause_sentence(report.conclusion).startswith("No module stands out")


def test_a_metric_that_fails_where_nothing_is_lost_has_no_points() -> None:
    wrong = [skills(n, intent="find", skill="find", route=MISS, reward=1.0) for n in range(20)]
    (finding,) = report_of("END_TO_END", [*wrong, *(right(n) for n in range(20, 60))]).conclusion.findings
    assert finding.association.points == 0
    assert "Cases pass as often where it fails: it is not what decides them." in grounds(finding)


def test_where_nothing_stands_out_it_says_so() -> None:
    report = report_of("END_TO_END", [right(n) for n in range(30)])
    assert report.conclusion.findings == report.conclusion.doubtful == []
    assert cause_sentence(report.conclusion) == "Nothing stands out."


def test_a_rate_whose_interval_reaches_the_bar_is_in_doubt() -> None:
    wrong = [skills(n, intent="find", skill="find", route=MISS, reward=0.0) for n in range(3)]
    report = report_of("END_TO_END", [*wrong, *(right(n) for n in range(3, 20))])
    assert report.conclusion.findings == []
    assert [finding.metric for finding in report.conclusion.doubtful] == ["routing_accuracy"]
    assert cause_sentence(report.conclusion).startswith("No fault is certain; Routing accuracy may be one")


def test_too_few_cases_say_nothing() -> None:
    report = report_of("END_TO_END", [skills(n, intent="x", skill=None, route=MISS, reward=0.0) for n in range(9)])
    assert report.conclusion.findings == []
    assert cause_sentence(report.conclusion) == "Too little was decided to say what to fix."


def test_the_argument_that_is_wrong_most_often_is_named() -> None:
    case = [a_case(str(n), expected_tools=[ExpectedTool("book", {"id": n})]) for n in range(30)]
    made = [EvalTrace(tool_calls=[ToolCallRecord("book", {"id": str(n)}, True)]) for n in range(30)]
    report = report_of("TOOL_CALL", [result_of(*pair) for pair in zip(case, made, strict=True)])
    (finding,) = report.conclusion.findings
    assert (finding.fix, finding.metric) == (Fix.TOOL_SCHEMA, "parameter_mapping_accuracy")
    assert finding.most_often == f"book.id: {ArgumentFault.WRONG_TYPE.value}"
    assert report.metrics["parameter_mapping_accuracy"].failures == {"book.id: wrong_type": 30}
