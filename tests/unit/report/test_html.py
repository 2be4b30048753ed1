"""The HTML report: one file that asks nobody, says the figures of the JSON, and takes no text for markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import msgspec
import pytest
from forms import form_of, index_of, trials_of
from full_run import HOSTILE, a_record, results
from places import synchronous
from reports import a_case, decided, report_of, result_of

from liftbay.diagnosis.first_fault import blame_of
from liftbay.domain.result import Outcome
from liftbay.domain.vocabulary import DatasetType
from liftbay.jobs.reporting import Form
from liftbay.language import use_language
from liftbay.report.case_view import Cutter, case_view
from liftbay.report.html.packed import Blocks
from liftbay.report.html.page import MOST_TRIALS, Page
from liftbay.report.report import Report

CASES = 160
VOID = {"meta", "br", "hr", "link"}


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    use_language("en")
    yield
    use_language("en")


class Parsed(HTMLParser):
    """Checks that elements close in order, and collects tags, attributes and text outside style and script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.text += data


@synchronous
async def test_figures_are_those_of_the_json() -> None:
    kept = list(results(CASES))
    record = a_record(CASES)
    page = Parsed(await form_of(record, kept, Form.HTML))
    report = json.loads(await form_of(record, kept, Form.JSON))
    assert not page.open
    rate = report["passRate"]
    shown = [f"{rate[name] * 100:.1f}" for name in ("value", "low", "high")]
    assert f"{shown[0]}\u00a0% of the decided cases pass ({shown[1]}–{shown[2]})." in page.text
    for metric in report["metrics"].values():
        conditional = metric["conditional"]
        if conditional["n"]:
            low, high = (f"{conditional[name] * 100:.1f}" for name in ("low", "high"))
            assert f"{conditional['value'] * 100:.1f} ({low}–{high})" in page.text
    for count in report["cases"]["marks"].values():
        assert set(count) <= {"passed", "failed", "excluded", "error"}
    assert sum(sum(by.values()) for by in report["cases"]["marks"].values()) == CASES
    for finding in report["conclusion"]["findings"]:
        assert f"metric={finding['metric']}&verdict=failed" in str(page.attributes)


@synchronous
async def test_every_figure_opens_as_many_cases() -> None:
    kept = list(results(CASES))
    record = a_record(CASES)
    index = index_of(await form_of(record, kept, Form.HTML))
    report = json.loads(await form_of(record, kept, Form.JSON))
    letters = {"passed": "pS", "failed": "fs", "excluded": "x", "errors": "e", "notApplicable": "n"}
    for id_, metric in report["metrics"].items():
        place = index["metrics"].index(id_)
        found = [one[1] for row in index["rows"] for one in row["v"] if one[0] == place]
        counts = {name: sum(letter in some for letter in found) for name, some in letters.items()}
        if not metric["scored"]:
            assert (counts["passed"], counts["failed"]) == (metric["passed"], metric["failed"]), id_
        assert counts["passed"] + counts["failed"] == metric["passed"] + metric["failed"] + metric["scored"]
        for name in ("excluded", "errors", "notApplicable"):
            assert counts[name] == sum(metric[name].values()), (id_, name)
    for curve in report["decay"].values():
        for point in curve["byRound"]:
            hits = {row["i"] for row in index["rows"] for one in row.get("d", ()) if one[1] == point["at"]}
            assert len(hits) >= point["rate"]["n"]
    marks = {"pa": "passed", "fa": "failed", "ex": "excluded", "er": "error"}
    for mark in set(marks.values()):
        rows = sum(marks[row["m"]] == mark for row in index["rows"])
        assert rows == sum(by.get(mark, 0) for by in report["cases"]["marks"].values())
    assert sum(row.get("l", 0) for row in index["rows"]) == report["luckyPassesTotal"]


@synchronous
async def test_what_was_written_is_text_and_nothing_else() -> None:
    kept = list(results(CASES))
    assert any(HOSTILE in turn.answer for result in kept for turn in result.episode.turns if turn.answer)
    raw = await form_of(a_record(CASES), kept, Form.HTML)
    page = Parsed(raw)
    assert "onerror=alert" not in raw.replace("&lt;img src=x onerror=alert", "")
    assert not {"img", "iframe", "form", "object", "embed", "base"} & set(page.tags)
    assert page.tags.count("script") == raw.count("<script") == 2 + raw.count('class="block"')
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name in ("style", "srcdoc")]
    for tag, name, value in page.attributes:
        if name in ("href", "src"):
            assert value is not None
            assert value.startswith("#") or (tag, value) == ("link", "data:,")
    assert trials_of(raw)[0]["id"] == kept[0].case.id
    assert len(trials_of(raw)) == CASES


@synchronous
async def test_the_policy_allows_its_own_style_and_script_only() -> None:
    raw = await form_of(a_record(3), list(results(3)), Form.HTML)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', raw)
    policy = policy.replace("&#x27;", "'")
    for element in ("style", "script"):
        (text,) = re.findall(f"<{element}>(.*?)</{element}>", raw, re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert not re.findall(r"https?://(?!www\.w3\.org)", re.sub(r"<script type.*?</script>", "", raw, flags=re.S))


@synchronous
async def test_japanese() -> None:
    use_language("ja")
    raw = await form_of(a_record(CASES), list(results(CASES)), Form.HTML)
    page = Parsed(raw)
    assert raw.startswith('<!doctype html>\n<html lang="ja">')
    assert "条件付き" in page.text or "エンドツーエンド" in page.text
    assert "タスク完了率" in page.text
    assert "italic" not in raw


@pytest.mark.parametrize(
    "report",
    [
        report_of("ALL", []),
        report_of("TOOL", []),
        report_of("BASIC_FUNCTION", [*decided("a", [True, False]), *decided("b", [None, True])], trials=2),
        report_of("KNOWLEDGE_QA", [result_of(a_case("1", DatasetType.KNOWLEDGE_QA))]),
    ],
    ids=["nothing", "nothing of tools", "trials", "no judge"],
)
def test_little_or_nothing_was_run(report: Report) -> None:
    page = Page(report, a_record(0))
    raw = "".join((*page.head(), *page.tail()))
    assert not Parsed(raw).open
    assert "Too little was decided to say what to fix." in raw


def test_long_texts_are_cut_and_counted() -> None:
    result = result_of(a_case("1", user_input="x" * 300), answer="長" * 250)
    cut = Cutter(100)
    view = case_view(result, blame_of(result), cut)
    assert view["turns"][0]["answer"] == "長" * 100 + "… (+150)"
    assert view["turns"][0]["user"] == "x" * 100 + "… (+200)"
    assert (cut.characters, view["cut"]) == (350, [350, 0])


def test_a_page_stays_within_its_budget() -> None:
    many = list(results(60, words=400, seed=1))
    budget = 90_000
    blocks = Blocks(len(many), budget)
    texts = [block for result in many for block in blocks.add(result, blame_of(result))]
    texts += blocks.rest()
    assert sum(map(len, texts)) <= budget
    assert blocks.characters > 0
    roomy = Blocks(len(many))
    for result in many:
        list(roomy.add(result, blame_of(result)))
    list(roomy.rest())
    assert roomy.characters == 0


def test_of_too_many_trials_those_that_did_not_pass_are_kept_first() -> None:
    base = report_of("TOOL_CALL", [])
    total, passed = MOST_TRIALS * 3, MOST_TRIALS * 3 - 500
    counts = msgspec.structs.replace(base.cases, total=total, passed=passed, failed=500)
    page = Page(msgspec.structs.replace(base, cases=counts), a_record(total))
    one = result_of(a_case("1", expected_tools=[]))
    for number in range(total):
        outcome = Outcome.FAILED if number % 36 == 0 else Outcome.PASSED
        list(page.trial(msgspec.structs.replace(one, outcome=outcome)))
    index = index_of("".join(page.tail()))
    kept = [row["m"] for row in index["rows"]]
    assert kept.count("fa") == 500
    assert MOST_TRIALS * 0.8 < len(kept) == index["kept"] <= MOST_TRIALS
    assert index["total"] == total
