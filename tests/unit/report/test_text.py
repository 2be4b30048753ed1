"""The report as people and scripts read it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from one_trial import HIT, MISS, call, called, routed, tool
from reports import a_case, decided, report_of, result_of

from liftbay.domain.episode import FaultKind
from liftbay.domain.spans import SpanCounts
from liftbay.domain.trace import ToolCallRecord
from liftbay.domain.vocabulary import DatasetType
from liftbay.language import use_language
from liftbay.report.report import ProbeReport, Report
from liftbay.report.table import table
from liftbay.scoring.percentiles import distribution

BF = DatasetType.BASIC_FUNCTION
RATE = {"value", "low", "high", "n"}


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    use_language("en")
    yield
    use_language("en")


def a_report(trials: int = 1) -> Report:
    """One with something of everything."""
    results = [
        result_of(a_case("lucky", BF, expected_route=HIT, user_input="find\nit"), routed(MISS), reward=1.0),
        result_of(a_case("bad", BF, expected_route=HIT, scene_code="s"), routed(MISS), answer="y" * 200, reward=0.0),
        result_of(a_case("late", BF, expected_route=HIT), fault=FaultKind.TIMEOUT),
    ]
    return report_of("END_TO_END", results, trials=trials)


def of_tools() -> Report:
    """One of tool calls."""
    expected = [tool("search")]
    results = [
        result_of(a_case("1", expected_tools=expected), called(call("search"))),
        result_of(a_case("2", expected_tools=expected), called()),
    ]
    return report_of("TOOL_CALL", results)


def test_english() -> None:
    text = str(a_report())
    for line in (
        "50.0 % of the decided cases pass (0.2–99.8).",
        "No cases of these dataset types of the scope: KNOWLEDGE_QA, MULTI_TURN, ABNORMAL_INPUT",
        "3 trials: 1 passed ●, 1 failed ✕, 1 undecided ◌ (the trial did not finish: timeout: 1)",
        "Lucky passes (passed although a module metric failed): 1",
        "  BASIC_FUNCTION lucky #1: routing_accuracy: another route was taken",
        "    user: find it",
        "Failed cases: 1",
    ):
        assert line in text.splitlines()
    assert "a:b · END_TO_END · run-1" in text
    assert re.search(r"task_completion_rate \* +J +50\.0", text)
    assert re.search(r"input_tokens +tokens +not reported +0\n", text)
    assert re.search(r"response_latency +ms +100\.0 +100\.0", text)
    assert "  instruction_adherence_rate: ERROR: no judge configured: 2" in text
    assert f"    agent: {'y' * 72}…" in text
    assert "pass^k" not in text
    assert max(map(len, text.splitlines())) < 200


def test_spans_notes_and_unmocked_calls() -> None:
    unmocked = ToolCallRecord("pay\x1b[2J", {}, False, error="unmocked call", unmocked=True)
    report = msgspec.structs.replace(
        report_of("TOOL_CALL", [result_of(a_case("1", expected_tools=[]), called(unmocked))]),
        warnings=["the agent changed"],
        spans=SpanCounts(received=9, used=4, late=2, foreign=1, repeated=1, dropped=1),
    )
    lines = str(report).splitlines()
    assert lines[3] == "Note: the agent changed"
    assert "Unmocked calls in 1 trials: no mock answers them, and the real tool was not asked" in lines
    assert "Spans: 9 received, 4 used; late: 2, of no trial: 1, repeated: 1, dropped: 1" in lines
    assert "\x1b" not in str(report)
    for absent in ("Note:", "Unmocked", "Spans:"):
        assert absent not in str(of_tools())


def test_money_has_more_digits_than_milliseconds() -> None:
    values = distribution([0.00042, 0.0012])
    probes = {
        "cost": ProbeReport("money", values, None),
        "response_latency": ProbeReport("ms", distribution([1.26]), None),
    }
    text = str(msgspec.structs.replace(of_tools(), probes=probes))
    assert re.search(r"cost +money +0\.00081 +0\.00081 +0\.001122", text)
    assert re.search(r"response_latency +ms +1\.3 +1\.3", text)


def test_trials_are_shown_where_there_are_several() -> None:
    text = str(report_of("BASIC_FUNCTION", [*decided("a", [True, False]), *decided("b", [True, True])], trials=2))
    (rows,) = re.findall(r"pass@k \(%\) +pass\^k \(%\)\n(.*)\n(.*)\n", text)
    assert [row.split() for row in rows] == [["1", "75.0", "75.0"], ["2", "100.0", "50.0"]]


def test_no_case_decided() -> None:
    text = str(report_of("MULTI_TURN", []))
    assert "No case could be decided." in text
    assert "–" in text


def test_japanese() -> None:
    use_language("ja")
    text = str(a_report())
    for shown in ("品質", "コストとパフォーマンス", "まぐれ合格", "不合格のケース: 1 件", "タスク完了率 *", "指標"):
        assert shown in text
    for english in ("Quality", "Cost and", "Lucky", "trials:", "main metric", "not reported", "conditional", "passed"):
        assert english not in text, english
    assert str(a_report()) == text


def test_a_notebook_shows_the_same_text() -> None:
    report = a_report()
    shown = report._repr_html_()
    assert shown.startswith("<pre>")
    assert "<script" not in shown
    assert report_of("TOOL", [])._repr_html_().count("<") == 2


def keys_of(value: Any, path: str = "") -> Iterator[str]:
    """Every key below a value with its path; keys that are data (ids, labels, reasons) are shown as *."""
    data = {"metrics", "probes", "byScene", "byDataset", "tools", "excluded", "errors", "notApplicable"}
    data |= {"confusion", "beside", "undecidedByReason", "undecidedExamples", "failures", "marks", "decay", "prompts"}
    data |= {"sceneNames"}
    if isinstance(value, dict):
        for key, inner in value.items():
            last = path.rpartition(".")[2]
            inside_confusion = ".confusion." in f"{path}."
            name = "*" if last in data or inside_confusion or path.endswith(("byDataset.*", "marks.*")) else key
            yield f"{path}.{name}".lstrip(".")
            yield from keys_of(inner, f"{path}.{name}")
    if isinstance(value, list):
        for inner in value:
            yield from keys_of(inner, path)


@pytest.mark.parametrize("report", [a_report(), of_tools(), report_of("ALL", [])], ids=["all", "tools", "empty"])
def test_keys_are_camel_case(report: Report) -> None:
    found = json.loads(msgspec.json.encode(report))
    for path in keys_of(found):
        key = path.rpartition(".")[2]
        assert key == "*" or re.fullmatch(r"[a-z][a-zA-Z0-9]*", key), path


def test_what_scripts_may_rely_on() -> None:
    found = json.loads(msgspec.json.encode(a_report(trials=2)))
    assert {"run", "scope", "passRate", "main", "metrics", "probes", "cases", "passAtK", "passHatK"} <= set(found)
    assert (found["run"], found["scope"]) == ("run-1", "END_TO_END")
    assert set(found["passRate"]) == RATE
    main = found["main"]
    assert {"metric", "conditional", "allCases", "coverage"} <= set(main)
    assert main["metric"] == "task_completion_rate"
    assert set(main["conditional"]) == set(main["allCases"]) == set(main["coverage"]) == RATE
    assert main["conditional"]["value"] == found["passRate"]["value"] == 0.5
    for metric in found["metrics"].values():
        for name in ("conditional", "allCases", "coverage"):
            assert set(metric[name]) == RATE
    for probe in found["probes"].values():
        assert set(probe["values"]) == {"mean", "p50", "p90", "p95", "p99", "n"}
    cases = found["cases"]
    assert (cases["total"], cases["passed"], cases["failed"], cases["undecided"]) == (3, 1, 1, 1)
    assert isinstance(found["passAtK"], list)
    assert isinstance(found["passHatK"], list)
    assert json.loads(msgspec.json.encode(a_report()))["passHatK"] is None


def test_what_acts_on_a_terminal_is_not_printed() -> None:
    shown = table(("name", "n"), [("a\x1b[31m\x00\u202eb\nc", "1")])
    assert shown.splitlines()[1] == "a\ufffd[31m\ufffd\ufffdb\ufffdc  1"
    assert len(shown.splitlines()) == 2
