"""`liftbay catalog`: tables and details in both languages, JSON, and names that do not exist."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from command import liftbay

from liftbay.catalog.rows import tables
from liftbay.cli.main import main
from liftbay.language import use_language


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command that succeeds prints."""
    try:
        assert main(["catalog", *arguments]) == 0
    finally:
        use_language("en")
    return capsys.readouterr().out


def test_scopes_for_scripts() -> None:
    result = liftbay("catalog", "scopes", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    rows = {row["id"]: row for row in json.loads(result.stdout)}
    assert len(rows) == 15
    planning = rows["PLANNING"]
    assert planning["name"] == {"en": "Planning module", "ja": "計画モジュール"}
    assert planning["datasets"] == ["BASIC_FUNCTION", "KNOWLEDGE_QA", "TOOL_CALL"]
    assert planning["probes"] == ["planning_latency"]
    assert planning["mainMetric"] == "routing_accuracy"
    assert planning["mainMetricByDataset"] == {
        "BASIC_FUNCTION": "routing_accuracy",
        "KNOWLEDGE_QA": "routing_accuracy",
        "TOOL_CALL": "tool_decision_accuracy",
    }
    assert set(planning["reason"]) == {"en", "ja"}
    assert planning["decidedBy"]["TOOL_CALL"]["chosenBy"] == "module"


@pytest.mark.parametrize(("table", "count"), [("scopes", 15), ("metrics", 24), ("datasets", 8), ("probes", 13)])
def test_every_table_as_json_and_as_text(capsys: pytest.CaptureFixture[str], table: str, count: int) -> None:
    rows = json.loads(printed(capsys, table, "--json"))
    assert len(rows) == count
    for row in rows:
        assert all("_" not in key for key in row)
        assert json.loads(printed(capsys, table, row["id"], "--json")) == row
    for language in ("en", "ja"):
        text = printed(capsys, table, "--lang", language)
        assert len(text.splitlines()) == count + 3
        for row in rows:
            assert row["id"] in text
            assert row["name"][language] in text


@pytest.mark.parametrize(
    ("arguments", "english", "japanese"),
    [
        (("scopes", "MEMORY"), "where it is not applicable: task_completion_rate", "この指標が対象外の場合"),
        (("metrics", "retrieval_recall"), "needs: the trial finished, ", "前提条件: 試行が完了した"),
        (("metrics", "user_satisfaction"), "none: collected from real use", "実際の利用から収集"),
        (("metrics", "tool_load_success_rate"), "any whose trace reports", "トレースにあるもの"),
        (("datasets", "MULTI_TURN"), "10 cases or more", "10 件以上"),
        (("probes", "tool_call_latency"), "in E2E_REAL only", "E2E_REAL でのみ"),
    ],
)
def test_a_row_with_all_that_is_known(
    capsys: pytest.CaptureFixture[str], arguments: Sequence[str], english: str, japanese: str
) -> None:
    assert english in printed(capsys, *arguments)
    assert japanese in printed(capsys, *arguments, "--lang", "ja")


def test_every_row_can_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for table, rows in tables().items():
        for name in rows:
            assert printed(capsys, table, name).startswith(f"{name}: ")


def test_without_a_table_all_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(json.loads(printed(capsys, "--json"))) == ["scopes", "metrics", "datasets", "probes"]
    text = printed(capsys)
    assert all(name in text for name in ("CORE_MODULE", "plan_path_score", "KNOWLEDGE_QA", "hot_update_latency"))


@pytest.mark.parametrize(
    ("arguments", "place", "names"),
    [
        (("planets",), "planets", "datasets"),
        (("scopes", "{x}"), "{x}", "PLANNING"),
        (("metrics", "f1"), "f1", "routing"),
    ],
)
def test_an_unknown_name_is_told_with_those_that_exist(arguments: Sequence[str], place: str, names: str) -> None:
    for language, remedy in (("en", "give one of: "), ("ja", "次のいずれか")):
        result = liftbay("catalog", *arguments, "--lang", language)
        assert result.returncode == 2
        assert f"{place}: " in result.stderr
        assert remedy in result.stderr
        assert names in result.stderr
