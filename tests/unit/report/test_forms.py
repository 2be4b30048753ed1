"""Markdown, JUnit XML and CSV, read back by what reads them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from forms import form_of
from full_run import HOSTILE, a_record, results
from places import synchronous
from reports import a_case, decided, report_of, result_of

from liftbay.domain.episode import FaultKind
from liftbay.domain.vocabulary import DatasetType
from liftbay.jobs.reporting import Form
from liftbay.language import use_language
from liftbay.report.csv_rows import BYTE_ORDER_MARK, line
from liftbay.report.markdown import code, report_markdown

CASES = 160


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    use_language("en")
    yield
    use_language("en")


@synchronous
async def test_junit_counts_every_trial_once() -> None:
    record, kept = a_record(CASES), list(results(CASES))
    report = json.loads(await form_of(record, kept, Form.JSON))
    root = ElementTree.fromstring(await form_of(record, kept, Form.JUNIT))
    counts: Counter[str] = Counter()
    for suite in root:
        inside = [child.tag for case in suite for child in case if child.tag != "system-out"]
        assert int(suite.attrib["tests"]) == len(suite)
        for tag, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.attrib[name]) == inside.count(tag)
            counts[name] += inside.count(tag)
        counts["tests"] += len(suite)
    assert {name: int(root.attrib[name]) for name in counts} == counts
    assert (counts["tests"], counts["failures"]) == (CASES, report["cases"]["failed"])
    assert counts["errors"] + counts["skipped"] == report["cases"]["undecided"]
    assert all(failure.attrib["message"] for failure in root.iter("failure"))
    said = "".join(output.text or "" for output in root.iter("system-out"))
    assert HOSTILE.replace("\x1b", "\ufffd") in said


@synchronous
async def test_junit_says_what_kind_of_undecided() -> None:
    kept = [
        result_of(a_case("late", expected_tools=[]), fault=FaultKind.TIMEOUT),
        result_of(a_case("none")),
    ]
    root = ElementTree.fromstring(await form_of(a_record(2, "TOOL_CALL"), kept, Form.JUNIT))
    late, none = root.iter("testcase")
    assert [(child.tag, child.attrib["type"]) for child in late] == [("error", "timeout")]
    assert [child.tag for child in none] == ["skipped", "system-out"]


@synchronous
async def test_csv_is_what_a_spreadsheet_reads() -> None:
    record, kept = a_record(CASES), list(results(CASES))
    written = await form_of(record, kept, Form.CSV)
    assert written.startswith(BYTE_ORDER_MARK)
    rows = list(csv.DictReader(io.StringIO(written.removeprefix(BYTE_ORDER_MARK))))
    assert [row["case"] for row in rows] == [result.case.id for result in kept]
    report = json.loads(await form_of(record, kept, Form.JSON))
    counts = Counter(row["outcome"] for row in rows)
    assert (counts["passed"], counts["failed"]) == (report["cases"]["passed"], report["cases"]["failed"])
    for id_, metric in report["metrics"].items():
        assert sum(row[id_] == "FAIL" for row in rows) == metric["failed"]
    assert any(row["agent"] == HOSTILE for row in rows)
    assert {len(row) for row in rows} == {len(rows[0])}


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("=1+1", "'=1+1"),
        ("+81", "'+81"),
        ("-1", "'-1"),
        ("@sum", "'@sum"),
        ("\t=1", "'\t=1"),
        ("  =1", "'  =1"),
        ("a=1", "a=1"),
        ("在庫", "在庫"),
        ('a,"b"', '"a,""b"""'),
        (-1.5, "-1.5"),
        (3.0, "3"),
        (None, ""),
        ("", ""),
    ],
)
def test_no_cell_is_a_formula(cell: str | float | None, expected: str) -> None:
    assert line([cell]) == expected + "\r\n"


@synchronous
async def test_markdown_for_a_pull_request() -> None:
    record, kept = a_record(CASES), list(results(CASES))
    text = await form_of(record, kept, Form.MARKDOWN)
    report = json.loads(await form_of(record, kept, Form.JSON))
    assert text.startswith(f"## {report['passRate']['value'] * 100:.1f} % of the decided cases pass (")
    rows = [row for row in text.splitlines() if row.startswith("| ")]
    assert {row.replace(r"\|", "").count("|") for row in rows} == {9}
    assert len(rows) - 1 == sum(metric["allCases"]["n"] > 0 for metric in report["metrics"].values())
    assert text.count("<details>") == text.count("</details>") == 1
    assert f"Failed cases: {report['cases']['failed']}" in text
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    for markup in ("<script", "<img", "@team"):
        assert markup in text
        assert markup not in outside
    assert len(text) < 60_000  # GitHub takes 65,536 characters


def test_markdown_of_little() -> None:
    assert "Too little was decided" in report_markdown(report_of("ALL", []))
    text = report_markdown(report_of("BASIC_FUNCTION", decided("a|b", [False])))
    assert r"`a\|b` #1" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`x`", "`` `x` ``"), ("a\nb", "`a b`"), ("", "–"), ("x" * 10, "`xxxxx…`")],
)
def test_code_spans(text: str, expected: str) -> None:
    assert code(text, 5) == expected


@synchronous
async def test_the_judge_is_heard_in_the_text() -> None:
    kept = list(results(CASES))
    text = await form_of(a_record(CASES), kept, Form.TEXT)
    assert re.search(r"^Judge qwen2.5-1.5b: \d+ verdicts, \d+ of them replayed", text, re.M)
    assert "\nWhat to fix:\n  1. " in text
    assert re.search(r"^memory_decay_curve +round +\d", text, re.M)
    failed = next(
        one for one in kept if one.outcome.value == "failed" and one.case.dataset_type is DatasetType.ABNORMAL_INPUT
    )
    verdict = next(one for one in failed.verdicts if one.metric == failed.main_metric)
    assert verdict.judgement is not None
    assert verdict.judgement.reasoning[:40] in text
