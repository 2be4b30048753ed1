"""Why two runs differ, as people read it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from paired_results import FAILED, PASSED, Pairs, candidate, result_of

from liftbay.diagnosis.explanation import Explained, RunName
from liftbay.domain.blame import Culprit
from liftbay.language import use_language
from liftbay.report.explain_markdown import explain_markdown
from liftbay.report.explain_text import explain_text
from liftbay.report.explain_wording import summary, whole_sentence


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    use_language("en")
    yield
    use_language("en")


def the_example() -> Pairs:
    """From 85 to 60 of 100: 17 points are routing, 6 lost memory, 2 nobody's."""
    pairs = Pairs()
    for number in range(100):
        base = result_of(number, FAILED if number >= 85 else PASSED, scene="trace" if number < 17 else "shop")
        head = result_of(number, FAILED if number < 25 or number >= 85 else PASSED, scene=base.case.scene_code)
        culprit = Culprit.PLANNING if number < 17 else Culprit.MEMORY
        pairs.add(base, head, head_blame=[] if 23 <= number < 25 else [candidate(culprit)])
    return pairs


def explained(pairs: Pairs, *notes: str) -> Explained:
    """With the names of two runs."""
    base, head = (RunName(id_, "shop|bot", version) for id_, version in (("run-a", "1"), ("run-b", "2")))
    return Explained(
        base=base, head=head, scope="END_TO_END", notes=list(notes), currency=None, explanation=pairs.explained()
    )


def test_the_sentence() -> None:
    said = whole_sentence(the_example().explained())
    assert said.startswith("Task completion rate fell from 85 % to 60 %: 17 of the 25 points are routing (")
    assert ", 6 are lost memory (" in said
    assert said.endswith("), 2 unexplained.")


def test_the_sentence_in_japanese() -> None:
    use_language("ja")
    said = whole_sentence(the_example().explained())
    assert said.startswith("タスク完了率は 85 % から 60 % に下がりました。内訳: 25 ポイントのうちルーティングが 17（")
    assert "記憶の喪失が 6（" in said
    assert said.endswith("原因不明が 2。")


def test_the_other_way() -> None:
    pairs = Pairs()
    for number in range(100):
        if number < 30:
            pairs.add(result_of(number, PASSED), result_of(number, FAILED), head_blame=[candidate(Culprit.TOOL)])
        else:
            base = FAILED if number < 35 else PASSED
            pairs.add(result_of(number, base), result_of(number, PASSED), base_blame=[candidate(Culprit.PERCEPTION)])
    said = whole_sentence(pairs.explained())
    assert said.startswith("Task completion rate fell from 95 % to 70 %: 30 of the 25 points are tool calls (")
    assert said.endswith("intent recognition goes the other way by 5.")


def test_a_rise_and_a_swing_and_nothing() -> None:
    rise, swing, same, none = Pairs(), Pairs(), Pairs(), Pairs()
    for number in range(40):
        rise.add(result_of(number, FAILED), result_of(number, PASSED), base_blame=[candidate(Culprit.GENERATION)])
        outcomes = (PASSED, FAILED) if number % 2 else (FAILED, PASSED)
        swing.add(result_of(number, outcomes[0]), result_of(number, outcomes[1]))
        same.add(result_of(number, PASSED), result_of(number, PASSED, metric="faithfulness_rate"))
    assert "rose from 0 % to 100 %: all 100 points are made-up answers (" in summary(rise.explained())
    assert "merely oscillates between 50.0 % and 50.0 %" in summary(swing.explained())
    assert summary(same.explained()) == "The pass rate stayed at 100.0 %: not one of 40 trials flipped."
    assert summary(none.explained()).startswith("Nothing can be compared")


def test_the_text() -> None:
    text = explain_text(explained(the_example(), "the runs have different evaluation modes"))
    lines = text.splitlines()
    assert lines[0] == "run-a (shop|bot 1) → run-b (shop|bot 2) · END_TO_END"
    assert "Note: the runs have different evaluation modes" in lines
    rows = {line.split()[0]: line.split() for line in lines if line.startswith(("planning", "memory", "together"))}
    assert rows["planning"][:3] == ["planning", "routing_accuracy", "-17.0"]
    assert rows["together"] == ["together", "-25.0", "25", "0"]
    assert "Flipped trials: 25" in lines
    assert "What the lost trials have in common:" in lines
    assert "  … and 15 more" in lines


def test_markdown_lets_no_cell_break_the_table() -> None:
    markdown = explain_markdown(explained(the_example()))
    assert "| planning | Routing accuracy | -17.0 (" in markdown
    assert "| **together** |  | -25.0 | 25 | 0 |" in markdown
    assert r"`run-a (shop\|bot 1)`" in markdown
    assert "<details><summary>Flipped trials: 25</summary>" in markdown
