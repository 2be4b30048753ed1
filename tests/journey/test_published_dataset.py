"""The published data: gold against itself, whole."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from command import DATASET, liftbay

pytestmark = pytest.mark.skipif(
    not DATASET.exists(), reason="the published dataset is optional: ../shared/data/jmultiwoz_tc/dataset.zip"
)


@pytest.fixture(scope="module")
def gold_as_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result file that answers every record rightly."""
    path = tmp_path_factory.mktemp("gold") / "result_gold.jsonl"
    with zipfile.ZipFile(DATASET) as archive, archive.open("jmultiwoz_tc_ground.jsonl") as gold, path.open("wb") as out:
        out.writelines(line.replace(b'"ground_truth"', b'"tool_calls"') for line in gold)
    return path


def test_gold_against_itself(gold_as_result: Path) -> None:
    folder = gold_as_result.parent
    result = liftbay(
        *("jmultiwoz", "evaluate", "--data", DATASET, "--result", gold_as_result, "--output-dir", folder),
        "--json",
        "--breakdown",
    )
    assert result.returncode == 0, result.stderr
    lines = json.loads(result.stdout)
    assert [line["全体の正答率(%)"] for line in lines] == [100] * 5
    assert [line["評価対象数"] for line in lines] == [31303, 16510, 14793, 31303, 16510]
    assert [line["正解数"] for line in lines] == [31303, 16510, 14793, 31303, 16510]
    assert {(line["総データ数"], line["不正解数"], line["出力ミスのデータ数"]) for line in lines} == {(31303, 0, 0)}
    assert (folder / "incorrect_gold.json").read_bytes() == b""
    breakdown = json.loads((folder / "breakdown_gold.json").read_text())
    assert sum(tool["correct"] for tool in breakdown["tools"].values()) == 16523
    arguments = [counts for tool in breakdown["tools"].values() for counts in tool["arguments"].values()]
    assert sum(counts["correct"] for counts in arguments) == 60227
    assert set(breakdown["argumentFaults"].values()) == {0}
    assert breakdown["dialogues"] == 4246
    assert max(depth["turns"] for depth in breakdown["byDepth"]) == 22


def test_gold_compared_with_itself(gold_as_result: Path) -> None:
    result = liftbay("jmultiwoz", "compare", gold_as_result, gold_as_result, "--data", DATASET, "--json")
    found = json.loads(result.stdout)
    assert found["compared"] == 31303
    assert {measure["pValue"] for measure in found["measures"].values()} == {1.0}
    assert not any(measure["distinguishable"] for measure in found["measures"].values())
