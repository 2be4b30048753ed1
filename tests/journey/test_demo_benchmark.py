"""`make demo-benchmark`: what it prints, and that the scripted mistakes come out in their classes."""

from __future__ import annotations

import json

import pytest
from command import ROOT, printed_by, read_lines

FOLDER = ROOT / "demo" / "output" / "benchmark"


@pytest.fixture(scope="module")
def printed() -> str:
    """What the demo prints."""
    return printed_by(ROOT / "demo" / "benchmark.py")


def test_it_says_that_the_endpoint_is_scripted_and_where_the_files_are(printed: str) -> None:
    assert "SCRIPTED" in printed
    assert "demo/output/benchmark/" in printed
    for name in ("result", "manifest", "score", "incorrect", "breakdown"):
        assert len(list(FOLDER.glob(f"{name}_demo_scripted-model.json*"))) == 1


def test_the_scores_are_those_of_the_script(printed: str) -> None:
    lines = read_lines(FOLDER / "score_demo_scripted-model.json")
    assert [(line["正解数"], line["評価対象数"]) for line in lines] == [
        (37, 59),
        (31, 33),
        (23, 26),
        (54, 59),
        (14, 33),
    ]
    assert {line["出力ミスのデータ数"] for line in lines} == {1}


def test_every_class_of_mistake_is_there_as_often_as_it_was_scripted(printed: str) -> None:
    answers = read_lines(ROOT / "demo" / "dataset" / "answers.jsonl")
    scripted = [answer["fault"] for answer in answers]
    found = json.loads((FOLDER / "breakdown_demo_scripted-model.json").read_text())
    assert found["missedCalls"] == scripted.count("missed_call") > 0
    assert found["superfluousCalls"] == scripted.count("superfluous_call") > 0
    assert found["wrongTools"] == scripted.count("wrong_tool") > 0
    faults = found["argumentFaults"]
    for counted, fault in (
        ("missing", "missing_argument"),
        ("superfluous", "superfluous_argument"),
        ("wrongValue", "wrong_value"),
        ("wrongType", "wrong_type"),
        ("unicodeForm", "unicode_form"),
        ("kanaOrWidth", "kana_or_width"),
    ):
        assert faults[counted] == scripted.count(fault) > 0, fault
    assert found["errorsByReason"] == {"AgentProtocol": 1}


def test_the_busy_and_the_broken_answer_were_asked_for_again(printed: str) -> None:
    manifest = json.loads((FOLDER / "manifest_demo_scripted-model.json").read_text())
    assert manifest["sessions"][0]["retries"] == 2
    assert manifest["sessions"][0]["outcome"] == "finished"
