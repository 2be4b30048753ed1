"""`liftbay report` as a user meets it; the page is opened in Chromium where there is one."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from command import liftbay, write_lines

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = '<script>document.title="owned"</script><img src=x onerror="document.title=1">'
AGENT = f"""
def answer(text, biz_code):
    called = [{{"name": "search", "arguments": {{"q": biz_code}}, "success": True}}] if biz_code != "bad" else []
    return {{"text": {HOSTILE!r} + "在庫", "trace": {{"toolCalls": called}}}}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a run of three cases, one of which fails."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "liftbay.toml").write_text("")
    (folder / "shop.py").write_text(AGENT)
    (folder / "datasets").mkdir()
    expected = [{"name": "search", "arguments": {"q": ""}, "matchers": {"q": {"ignore": True}}}]
    cases = [
        {
            "id": id_,
            "bizCode": id_,
            "datasetType": "TOOL_CALL",
            "userInput": f"{id_} {HOSTILE}",
            "expectedTools": expected,
        }
        for id_ in ("good", "bad", "fine")
    ]
    write_lines(folder / "datasets" / "cases.jsonl", cases)
    ran = liftbay("run", "--scope", "TOOL_CALL", "--agent", "python:shop:answer", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    return folder


def test_every_form(project: Path) -> None:
    texts = {
        form: liftbay("report", "last", "--format", form, cwd=project).stdout
        for form in ("text", "json", "html", "markdown", "junit", "csv")
    }
    report = json.loads(texts["json"])
    assert report["cases"]["failed"] == 1
    assert texts["text"].splitlines()[0].startswith("shop:answer · TOOL_CALL · ")
    assert texts["html"].startswith("<!doctype html>")
    assert texts["markdown"].startswith("## 66.7 % of the decided cases pass")
    assert len(list(ElementTree.fromstring(texts["junit"]).iter("testcase"))) == 3
    assert len(list(csv.DictReader(io.StringIO(texts["csv"].removeprefix("\ufeff"))))) == 3
    assert liftbay("report", "last", cwd=project).stdout == texts["text"]


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("r.html", "<!doctype html>"),
        ("r.json", "{"),
        ("r.md", "## "),
        ("r.xml", "<?xml"),
        ("r.csv", "\ufeff"),
        ("r.txt", "shop:answer"),
        ("r", "shop:answer"),
    ],
)
def test_the_name_of_the_file_says_the_form(project: Path, tmp_path: Path, name: str, begins: str) -> None:
    done = liftbay("report", "last", "--output", tmp_path / name, cwd=project)
    assert (done.returncode, done.stdout) == (0, f"written: {tmp_path / name}\n")
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)


def test_what_cannot_be(project: Path, tmp_path: Path) -> None:
    refused = liftbay("report", "last", "--format", "pdf", cwd=project)
    assert refused.returncode == 2
    assert "there is no pdf" in refused.stderr
    assert "markdown" in refused.stderr
    assert liftbay("report", "no-such-run", cwd=project).returncode == 2
    nowhere = liftbay("report", "last", "--output", tmp_path / "no" / "r.html", cwd=project)
    assert nowhere.returncode == 2
    assert "--output" in nowhere.stderr


def test_the_run_of_another_store(project: Path, tmp_path: Path) -> None:
    (store,) = (project / ".liftbay").glob("*.db")
    done = liftbay("report", "last", "--format", "json", "--store", f"sqlite:///{store}", cwd=tmp_path)
    assert json.loads(done.stdout)["cases"]["total"] == 3


@pytest.fixture(scope="module")
def page(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the run."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium to open the page with: apt-get install chromium")
    path = tmp_path_factory.mktemp("page") / "report.html"
    assert liftbay("report", "last", "--output", path, cwd=project).returncode == 0
    return path


def opened(page: Path, fragment: str) -> str:
    """The page as Chromium has it once its script has run."""
    assert CHROMIUM is not None
    quiet = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
    done = subprocess.run(
        [
            CHROMIUM,
            *quiet,
            f"--user-data-dir={page.parent / 'profile'}",
            "--virtual-time-budget=10000",
            "--dump-dom",
            f"file://{page}#{fragment}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def shown(dom: str) -> str:
    """The text of the list of cases."""
    (explorer,) = re.findall(r'<div id="explorer">(.*)</div>\s*</section>\s*<section id="about"', dom, re.S)
    return html.unescape(re.sub("<[^>]*>", " ", explorer))


def test_a_figure_opens_its_cases_and_a_case_its_verdicts(page: Path) -> None:
    listed = shown(opened(page, "cases?metric=tool_call_accuracy&verdict=failed"))
    assert "1 trials" in listed
    assert "bad #1" in listed
    assert "good #1" not in listed
    case = shown(opened(page, f"cases?mark=failed&open={quote('TOOL_CALL/bad/1', safe='')}"))
    for text in ("Conversation", "What happened", "Verdicts", "an expected tool was not called", "not called"):
        assert text in case


def test_hostile_texts_are_shown_and_do_nothing(page: Path) -> None:
    dom = opened(page, f"cases?open={quote('TOOL_CALL/bad/1', safe='')}")
    assert re.findall("<title>(.*?)</title>", dom) == ["shop:answer · TOOL_CALL · liftbay"]
    assert "<img" not in dom
    assert HOSTILE + "在庫" in shown(dom)
