"""Two result files side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from liftbay.benchmarks.jmultiwoz_tc.compare import Comparison, compare
from liftbay.datasets.data_file import DataFile
from liftbay.errors import InputError

CALL = {"name": "f", "arguments": {"a": 1}}


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def result(path: Path, right: set[int], ids: range, errors: set[int] = frozenset()) -> Path:  # type: ignore[assignment]
    """Records of which those in `right` make the right call and the others none."""
    return write(
        path,
        [
            {"data_id": str(number), "dialogue_id": "d", "tool_calls": [CALL] if number in right else []}
            | ({"error": "TimeoutError"} if number in errors else {})
            for number in ids
        ],
    )


@pytest.fixture
def ground(tmp_path: Path) -> DataFile:
    """A hundred records with a call each, five to a dialogue."""
    records = [
        {"data_id": str(number), "dialogue_id": f"c{number // 5}", "ground_truth": [CALL]} for number in range(100)
    ]
    return DataFile(write(tmp_path / "ground.jsonl", records))


def run(tmp_path: Path, ground: DataFile, a: set[int], b: set[int]) -> Comparison:
    return compare(
        result(tmp_path / "result_a.jsonl", a, range(100)), result(tmp_path / "result_b.jsonl", b, range(100)), ground
    )


def test_a_clear_difference_is_told_from_noise(tmp_path: Path, ground: DataFile) -> None:
    found = run(tmp_path, ground, set(range(40)), set(range(0, 100, 2)) | set(range(40)))
    overall = found.measures["全体"]
    assert (overall.a, overall.b) == (0.4, 0.7)
    assert (overall.only_a, overall.only_b) == (0, 30)
    assert overall.difference.value == pytest.approx(0.3)
    assert overall.distinguishable
    assert found.only_b_correct == [str(number) for number in range(40, 100, 2)]
    assert found.only_a_correct == []
    assert (found.a, found.b) == ("a", "b")


def test_a_few_flips_are_noise(tmp_path: Path, ground: DataFile) -> None:
    found = run(tmp_path, ground, set(range(50)), set(range(2, 53)))
    overall = found.measures["全体"]
    assert (overall.only_a, overall.only_b) == (2, 3)
    assert not overall.distinguishable


def test_flips_within_one_dialogue_are_not_many_witnesses(tmp_path: Path, ground: DataFile) -> None:
    """Fifteen flips would convince McNemar, but they come from three dialogues."""
    found = run(tmp_path, ground, set(), set(range(15)))
    overall = found.measures["全体"]
    assert overall.p_value < 0.001
    assert not overall.distinguishable


def test_only_records_that_both_answered_are_compared(tmp_path: Path, ground: DataFile) -> None:
    a = result(tmp_path / "result_a.jsonl", {1, 2}, range(50), errors={0, 3})
    b = result(tmp_path / "result_b.jsonl", {1}, range(20, 120))
    found = compare(a, b, ground)
    assert (found.shared, found.compared, found.only_in_a, found.only_in_b) == (30, 30, 20, 70)
    found = compare(a, result(tmp_path / "result_b.jsonl", {1}, range(50), errors={3, 4}), ground)
    assert (found.shared, found.compared, found.errors_a, found.errors_b) == (50, 47, 2, 2)


def test_a_line_that_is_over_no_record_has_no_rate(tmp_path: Path, ground: DataFile) -> None:
    no_use = run(tmp_path, ground, {1}, {1}).measures["ツール不使用判断"]
    assert (no_use.a, no_use.b, no_use.difference.value, no_use.distinguishable) == (None, None, None, False)


def test_files_that_share_nothing_cannot_be_compared(tmp_path: Path, ground: DataFile) -> None:
    a = result(tmp_path / "result_a.jsonl", {1}, range(10))
    b = result(tmp_path / "result_b.jsonl", {1}, range(50, 60))
    with pytest.raises(InputError, match="share no data_id"):
        compare(a, b, ground)
