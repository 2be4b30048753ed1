"""The majority, ties, and votes that failed."""

from __future__ import annotations

import pytest

from liftbay.domain.verdict import Verdict, Vote
from liftbay.llm.answer import Answer, ItemAnswer
from liftbay.llm.parts import Part
from liftbay.llm.prompts import Prompt, Words
from liftbay.llm.votes import Ballot, decided

PROMPT = Prompt("task_completion_rate", "en", "0123456789ab", Words("pass", "fail", "not_applicable"), "Judge.")
FAULT = "the judge did not answer: timeout"


def ballot(word: str) -> Ballot:
    """A vote; `-` stands for one that failed."""
    if word == "-":
        return Ballot(Vote(None, error="no answer within 1 s"), fault=FAULT)
    return Ballot(Vote(word, f"{word}, I say"), Answer(word, f"{word}, I say"))


def on_parts(words: str) -> Ballot:
    """A vote on parts with the ids 1, 2, …: `+` passes."""
    items = [ItemAnswer(n, "pass" if word == "+" else "fail", f"{n}{word}") for n, word in enumerate(words, 1)]
    return Ballot(Vote(words), Answer(items=items))


def verdict(*words: str) -> Verdict:
    """What comes of votes."""
    return decided(PROMPT, "m", {"temperature": 0.7}, [ballot(word) for word in words], [])


@pytest.mark.parametrize(
    ("words", "status", "reason", "agreement"),
    [
        (["pass"], "PASS", None, None),
        (["fail"], "FAIL", "fail, I say", None),
        (["not_applicable"], "NOT_APPLICABLE", "the judge found nothing to decide", None),
        (["-"], "ERROR", FAULT, None),
        (["pass", "fail", "pass"], "PASS", None, 2 / 3),
        (["fail", "fail", "fail"], "FAIL", "fail, I say", 1.0),
        (["pass", "fail"], "ERROR", "the votes are tied", None),
        (["pass", "fail", "not_applicable"], "ERROR", "the votes are tied", None),
        (["pass", "pass", "-"], "PASS", None, 2 / 3),
        (["pass", "-", "-"], "ERROR", FAULT, None),
        (["pass", "fail", "-"], "ERROR", FAULT, None),
        (["pass", "-"], "ERROR", FAULT, None),
    ],
)
def test_more_than_half_of_all_votes_decide(
    words: list[str], status: str, reason: str | None, agreement: float | None
) -> None:
    found = verdict(*words)
    assert (found.status, found.reason) == (status, reason)
    assert found.judgement is not None
    assert found.judgement.agreement == agreement
    assert len(found.judgement.votes) == len(words)


def test_the_reasoning_is_that_of_the_majority() -> None:
    found = verdict("fail", "pass", "pass").judgement
    assert found is not None
    assert found.reasoning == "pass, I say"
    assert (found.prompt, found.model) == ("task_completion_rate.en@0123456789ab", "m")


class TestParts:
    PARTS = (Part("c-1", 1), Part("by keyword", distance=2), Part("c-2", 2, distance=1))

    def test_each_has_its_own_majority(self) -> None:
        found = decided(PROMPT, "m", {}, [on_parts("+-"), on_parts("++"), on_parts("--")], self.PARTS)
        assert (found.status, found.numerator, found.denominator) == ("SCORE", 2, 3)
        assert [(item.label, item.passed, item.by_keyword, item.reasoning, item.distance) for item in found.items] == [
            ("c-1", True, False, "1+", None),
            ("by keyword", True, True, "", 2),
            ("c-2", False, False, "2-", 1),
        ]
        assert found.judgement is not None
        assert found.judgement.agreement == pytest.approx(2 / 3)

    def test_a_tie_on_one_decides_nothing(self) -> None:
        found = decided(PROMPT, "m", {}, [on_parts("++"), on_parts("+-")], self.PARTS)
        assert (found.status, found.reason, found.items) == ("ERROR", "the votes are tied", [])

    def test_keywords_alone(self) -> None:
        found = decided(PROMPT, "m", {}, [], [Part("2", distance=1)])
        assert (found.status, found.numerator, found.denominator) == ("SCORE", 1, 1)
        assert found.judgement is not None
        assert found.judgement.votes == []
