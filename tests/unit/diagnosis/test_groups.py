"""Groups of trials that failed alike."""

from __future__ import annotations

from one_trial import HIT, call, tool
from reports import a_case, report_of, result_of

from liftbay.diagnosis.phrases import lacking_phrase, shared_phrase
from liftbay.domain.blame import Culprit
from liftbay.domain.remedy import Fix
from liftbay.domain.result import CaseResult
from liftbay.domain.trace import EvalTrace, Perception, Planning
from liftbay.domain.vocabulary import DatasetType
from liftbay.report.blame_words import blame_sentence, group_name


def understood(number: int, intent: str, user_input: str) -> CaseResult:
    """A case of the Skill `trace`, which fails where another intent is recognised."""
    case = a_case(
        str(number),
        DatasetType.BASIC_FUNCTION,
        user_input=user_input,
        expected_route=HIT,
        expected_intent="trace",
        expected_skill="trace",
    )
    trace = EvalTrace(
        perception=Perception(True, intent, intents=[intent]), planning=Planning(HIT), tool_calls=[call("query")]
    )
    return result_of(case, trace, scope="END_TO_END", reward=float(intent == "trace"))


def test_failures_are_grouped_by_what_they_share_largest_first() -> None:
    results = [
        *(understood(n, "stock", f"look into request {n}") for n in range(5)),
        *(understood(n, "code", f"what happened {n}") for n in range(5, 8)),
        *(understood(n, "trace", f"the trace of call {n}") for n in range(8, 20)),
    ]
    found = report_of("END_TO_END", results).blame
    assert found.trials == 8
    assert [(one.value, one.trials, one.fix) for one in found.groups] == [
        ("trace → stock", 5, Fix.SKILL_TEXT),
        ("trace → code", 3, Fix.SKILL_TEXT),
    ]
    assert {one.culprit for one in found.groups} == {Culprit.PERCEPTION}
    assert found.groups[0].phrase in ("look", "into", "request")
    assert "trace → stock" in group_name(found.groups[0])
    assert found.by_culprit[Culprit.PERCEPTION].trials == 8
    assert found.by_culprit[Culprit.PERCEPTION].share.value == 1.0
    assert (blame_sentence(found) or "").startswith("The first fault of 8 trials: perception 8")


def test_lucky_passes_are_grouped_by_the_argument_that_was_wrong() -> None:
    results = []
    for number in range(4):
        case = a_case(str(number), user_input="in Osaka", expected_tools=[tool("search", city="Osaka")])
        results.append(result_of(case, EvalTrace(tool_calls=[call("search", city="Kyoto")])))
    found = report_of("TOOL", results).blame
    assert (found.trials, found.groups) == (0, [])
    (group,) = found.lucky
    assert (group.kind, group.value, group.trials, group.fix) == ("argument", "search.city", 4, Fix.TOOL_SCHEMA)
    assert group_name(group).startswith("the argument search.city is wrong")


def test_failures_without_a_candidate_are_unexplained() -> None:
    results = [result_of(a_case(str(n), DatasetType.BASIC_FUNCTION), None, reward=0.0) for n in range(3)]
    found = report_of("BASIC_FUNCTION", results).blame
    assert (found.unexplained.trials, found.by_culprit) == (3, {})
    assert [one.culprit for one in found.groups] == [None]


def test_undecided_trials_without_a_failed_verdict_are_only_counted() -> None:
    results = [result_of(a_case(str(n), DatasetType.BASIC_FUNCTION), None) for n in range(3)]
    found = report_of("BASIC_FUNCTION", results).blame
    assert (found.trials, found.not_judged) == (0, 3)


def test_a_phrase_that_failing_inputs_share_or_lack() -> None:
    failing = ["この在庫はどう", "在庫を見たい", "韓国の在庫"]
    passing = ["タグを調べて", "トレースを見て", "タグの一覧"]
    assert shared_phrase(failing, passing) == "在庫"
    assert shared_phrase(failing[:2], passing) is None
    assert lacking_phrase(["look 1", "see 2", "what"], ["the trace a", "trace b", "my trace"]) == "trace"
