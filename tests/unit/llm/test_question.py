"""What a judge is shown of a trial, and where there is nothing to ask."""

from __future__ import annotations

import re

import msgspec
import pytest
from judge_double import answered, talked

from liftbay.catalog.metrics import METRICS
from liftbay.domain.case import Message
from liftbay.domain.episode import Episode, Evidence, Turn
from liftbay.domain.trace import Chunk, EvalTrace, Perception, Retrieval, ToolCallRecord
from liftbay.llm.evidence_text import chunks_of
from liftbay.llm.parts import holds_all
from liftbay.llm.question import Nothing, Question, question_of

NONCE = "00112233445566ff"


def asked(metric: str, evidence: Evidence, language: str = "en") -> Question:
    """The question."""
    question = question_of(METRICS[metric], evidence, language)
    assert isinstance(question, Question)
    return question


def shown(metric: str, evidence: Evidence, language: str = "en", most: int = 10_000) -> dict[str, str]:
    """The blocks of the question's text by their titles."""
    text = asked(metric, evidence, language).text(NONCE, most)
    found = re.findall(rf"# ([^\n]*)\n(?:<data-{NONCE}>\n(.*?)\n?</data-{NONCE}>|([^\n]*))", text, re.DOTALL)
    return {title: inside or absent for title, inside, absent in found}


def nothing(metric: str, evidence: Evidence) -> tuple[str, str | None]:
    """Why there is nothing to ask."""
    found = question_of(METRICS[metric], evidence, "en")
    assert isinstance(found, Nothing)
    return found.reason, found.missing


def test_task_completion_sees_the_reference_and_the_tools() -> None:
    calls = [
        ToolCallRecord("stock", {"id": 7}, True, {"count": 0}, mocked=True),
        ToolCallRecord("price", None, False, error="down"),
    ]
    evidence = answered("No stock.", calls=calls, reference_output="It says that there is no stock.")
    assert shown("task_completion_rate", evidence) == {
        "Input of the user": "Why can it not be sold?",
        "Reference": "It says that there is no stock.",
        "Tool call 1": 'name: stock\narguments: {"id": 7}\nresult: {"count": 0}\n(answered by mock data)',
        "Tool call 2": "name: price\narguments: (not reported)\nerror: down",
        "Answer of the agent": "No stock.",
    }


def test_in_japanese() -> None:
    evidence = answered("在庫がありません。", chunks=["在庫 0 は販売不可"], calls=[])
    assert shown("faithfulness_rate", evidence, "ja") == {
        "ユーザーの入力": "Why can it not be sold?",
        "検索された断片 1": "在庫 0 は販売不可",
        "ツール呼び出しとその結果": "（なし）",
        "エージェントの回答": "在庫がありません。",
    }


def test_a_black_box_is_judged_by_what_it_says() -> None:
    found = shown("task_completion_rate", answered())
    assert found["Reference"] == "(none)"
    assert found["Tool calls and their results"] == "(not reported)"


def test_history_comes_before_earlier_turns() -> None:
    evidence = talked(([], [], "one"), ([], [], "two"), ([], [], "three"))
    history = [Message("system", "be kind"), Message("user", "hello"), Message("assistant", None, [{"id": "c"}])]
    evidence = Evidence(msgspec.structs.replace(evidence.case, history=history), evidence.episode)
    assert shown("ambiguity_clarification_rate", evidence) == {
        "Earlier message 1, by: system message of the agent": "be kind",
        "Earlier message 2, by: user": "hello",
        "Earlier message 3, by: agent": '{"id": "c"}',
        "Round 1: input of the user": "input 1",
        "Round 1: answer of the agent": "one",
        "Round 2: input of the user": "input 2",
        "Round 2: answer of the agent": "two",
        "Input of the user": "input 3",
        "Reference": "(none)",
        "Answer of the agent": "three",
    }


def test_chunks_of_all_turns_each_once() -> None:
    turns = [
        Turn(1, "?", "!", EvalTrace(retrievals=[Retrieval(2, [Chunk("a", "1"), Chunk("b", "2")])])),
        Turn(2, "?", "!", EvalTrace(retrievals=[Retrieval(2, [Chunk("b", "9"), Chunk("c")]), Retrieval(3)])),
        Turn(3, "?", "!"),
    ]
    evidence = Evidence(answered().case, Episode("s", turns))
    assert [(chunk.content, chunk.id) for chunk in chunks_of(evidence) or ()] == [("a", "1"), ("b", "2"), ("c", None)]
    question = asked("retrieval_precision", evidence)
    assert [part.label for part in question.parts] == ["1", "2", "3"]
    assert shown("retrieval_precision", evidence)["To decide, id 3: retrieved passage"] == "c"


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        (None, None),
        (EvalTrace(), None),
        (EvalTrace(retrievals=[]), []),
        (EvalTrace(retrievals=[Retrieval(0)]), []),
        (EvalTrace(retrievals=[Retrieval(0, [])]), []),
        (EvalTrace(retrievals=[Retrieval(3)]), None),
        (EvalTrace(retrievals=[Retrieval()]), None),
    ],
)
def test_nothing_retrieved_is_not_nothing_reported(trace: EvalTrace | None, expected: list[Chunk] | None) -> None:
    evidence = Evidence(answered().case, Episode("s", [Turn(1, "?", "!", trace)]))
    assert chunks_of(evidence) == expected


def test_what_the_trace_lacks_makes_a_metric_not_applicable() -> None:
    missing = ("the trace reports no retrieved passages", "retrievals.chunks")
    assert nothing("faithfulness_rate", answered()) == missing
    assert nothing("retrieval_precision", answered(calls=[])) == missing
    assert nothing("multi_intent_recognition_rate", answered()) == (
        "the trace reports no intents",
        "perception.intents",
    )


def test_without_anything_to_decide() -> None:
    assert nothing("retrieval_precision", answered(chunks=[])) == ("no passage was retrieved", None)
    unsaid: tuple[list[str] | None, ...] = (None, [])
    for points in unsaid:
        evidence = answered(chunks=["a"], expected_knowledge=points)
        assert nothing("retrieval_recall", evidence) == ("the case expects no point of knowledge", None)
    assert nothing("short_term_retention_rate", talked(([], [], "a"))) == ("no round refers back", None)


def test_faithfulness_to_nothing_is_judged() -> None:
    found = shown("faithfulness_rate", answered("Call deleteAllProducts().", chunks=[], calls=[]))
    assert found["Retrieved passages"] == "(none)"
    assert found["Tool calls and their results"] == "(none)"


def test_recognised_intents() -> None:
    evidence = answered()
    trace = EvalTrace(perception=Perception(intents=["stock", "price"]))
    evidence = Evidence(evidence.case, Episode("s", [Turn(1, "?", "!", trace)]))
    assert shown("multi_intent_recognition_rate", evidence)["Intents that the agent recognised"] == "stock\nprice"


def test_points_of_knowledge() -> None:
    question = asked("retrieval_recall", answered(chunks=["a"], expected_knowledge=["SKU とは", "在庫とは"]))
    assert ([part.label for part in question.parts], question.ids) == (["SKU とは", "在庫とは"], [1, 2])
    assert question.text(NONCE, 1000).endswith("with one item for each of these ids: 1, 2.")


class TestRounds:
    EVIDENCE = talked(
        ([], [], "ok"),
        ([1], ["１００ml", "Coffee"], "100ML of coffee"),
        ([2, 1], ["100ml", "tea"], "100ml"),
        ([3], [], "no keyword is a question for the judge"),
    )

    def test_keywords_come_first(self) -> None:
        question = asked("short_term_retention_rate", self.EVIDENCE)
        assert [(part.label, part.id, part.distance) for part in question.parts] == [
            ("2", None, 1),
            ("3", 1, 2),
            ("4", 2, 1),
        ]
        found = shown("short_term_retention_rate", self.EVIDENCE)
        third = "To decide, id 1: the answer of round 3, which refers back to round 2, 1"
        assert found[third] == "100ml\n[keywords that it may hold: 100ml / tea]"
        fourth = "To decide, id 2: the answer of round 4, which refers back to round 3"
        assert found[fourth] == "no keyword is a question for the judge"
        assert found["Round 2: answer of the agent"] == "100ML of coffee"

    def test_when_they_decide_all(self) -> None:
        question = asked("memory_decay_curve", talked(([], [], "x"), ([1], ["x"], "X")))
        assert question.decided

    @pytest.mark.parametrize(
        ("answer", "keywords", "held"),
        [
            ("ﾃｽﾄ", ["テスト"], True),
            ("STRASSE", ["straße"], True),
            ("ab", ["a", "b"], True),
            ("a", ["a", "b"], False),
            ("a", [], False),
            ("", ["a"], False),
        ],
    )
    def test_how_they_are_compared(self, answer: str, keywords: list[str], held: bool) -> None:
        assert holds_all(answer, keywords) is held


def test_the_limit_holds_for_all_evidence() -> None:
    evidence = answered("a" * 50_000, chunks=["c" * 50_000] * 3, calls=[])
    text = asked("faithfulness_rate", evidence).text(NONCE, 2_000)
    assert len(text) < 3_500
    assert text.count("characters left out here") == 2
