"""`evaluate` against a second implementation, on files of every shape."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_evaluation import naive_evaluation, read_lines

from liftbay.benchmarks.jmultiwoz_tc.evaluate import Evaluation, evaluate
from liftbay.datasets.jmultiwoz_tc_files import find_files

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-1, 2)
    | st.integers()
    | st.sampled_from([0.0, -0.0, 1.0, 2.5, 1e22])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["1", "true", "東京", "ﾄｳｷｮｳ", "", '"', "\\", "\n", "\u2028"])
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "y", "z"]), inner, max_size=3),
    max_leaves=5,
)
calls = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(["Search", "Book"]),
            "arguments": st.dictionaries(st.sampled_from(["a", "b", "街"]), values, max_size=2),
        }
    ),
    max_size=3,
)


@st.composite
def datasets(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Right answers, and results of which many are right, some repeat calls, some are errors, some unknown."""
    gold, results = [], []
    for number in range(draw(st.integers(1, 6))):
        ids = {"data_id": f"d_{number}", "dialogue_id": f"c_{number % 2}"}
        right = draw(calls)
        gold.append(ids | {"ground_truth": right})
        kind = draw(st.sampled_from(["right", "shuffled", "other", "none", "error", "missing", "unknown"]))
        made = {
            "right": right,
            "shuffled": [*reversed(right), *right[:1]],
            "other": draw(calls),
            "none": [],
            "error": [],
            "missing": [],
            "unknown": right,
        }[kind]
        if kind == "missing":
            continue
        record = ids | {"tool_calls": made}
        if kind == "error":
            record["error"] = "TimeoutError"
        if kind == "unknown":
            record["data_id"] = f"u_{number}"
        results.append(record)
    return gold, draw(st.permutations(results)) or [gold[0] | {"tool_calls": []}]


def write(path: Path, records: list[dict[str, Any]], *, ascii_only: bool = False) -> None:
    path.write_text("".join(json.dumps(record, ensure_ascii=ascii_only) + "\n" for record in records), encoding="utf-8")


def run(folder: Path, name: str = "result_some_model.jsonl") -> Evaluation:
    return evaluate(folder / name, find_files(folder), folder)


@settings(max_examples=300, deadline=None)
@given(datasets(), st.booleans())
def test_evaluate_agrees_with_the_naive_implementation(
    dataset: tuple[list[dict[str, Any]], list[dict[str, Any]]], ascii_only: bool
) -> None:
    gold, results = dataset
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs = [{**one, "question": [{"role": "user", "content": f"「{one['data_id']}」"}]} for one in gold]
        for one in inputs:
            del one["ground_truth"]
        (folder / "tools.json").write_text("[]")
        write(folder / "jmultiwoz_tc_ground.jsonl", gold, ascii_only=ascii_only)
        write(folder / "jmultiwoz_tc_input.jsonl", inputs, ascii_only=ascii_only)
        write(folder / "result_some_model.jsonl", results, ascii_only=ascii_only)
        evaluation = run(folder)
        lines, log = naive_evaluation(
            folder / "result_some_model.jsonl",
            folder / "jmultiwoz_tc_ground.jsonl",
            folder / "jmultiwoz_tc_input.jsonl",
        )
        assert read_lines(evaluation.score_path) == lines
        assert list(map(list, read_lines(evaluation.score_path))) == list(map(list, lines))  # the order of the keys
        written = [json.dumps(record, sort_keys=True) for record in read_lines(evaluation.incorrect_path)]
        assert written == [json.dumps(record, sort_keys=True) for record in log]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three right answers: one call, none, two calls."""
    (tmp_path / "tools.json").write_text("[]")
    gold: list[dict[str, Any]] = [
        {"data_id": "a", "dialogue_id": "x", "ground_truth": [{"name": "f", "arguments": {"p": 1}}]},
        {"data_id": "b", "dialogue_id": "x", "ground_truth": []},
        {
            "data_id": "c",
            "dialogue_id": "y",
            "ground_truth": [{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}],
        },
    ]
    write(tmp_path / "jmultiwoz_tc_ground.jsonl", gold)
    write(
        tmp_path / "jmultiwoz_tc_input.jsonl",
        [
            {"data_id": one["data_id"], "dialogue_id": "x", "question": [{"role": "user", "content": "こんにちは"}]}
            for one in gold
        ],
    )
    return tmp_path


def test_error_records_count_only_as_errors(folder: Path) -> None:
    write(
        folder / "result_m.jsonl",
        [
            {"data_id": "a", "dialogue_id": "x", "tool_calls": [], "error": "TimeoutError"},
            {"data_id": "b", "dialogue_id": "x", "tool_calls": []},
        ],
    )
    evaluation = run(folder, "result_m.jsonl")
    assert [(line.total, line.evaluated, line.correct, line.errors) for line in evaluation.lines] == [
        (2, 1, 1, 1),
        (2, 0, 0, 1),
        (2, 1, 1, 1),
        (2, 1, 1, 1),
        (2, 0, 0, 1),
    ]
    assert evaluation.lines[1].percent == 0
    assert evaluation.scoring.missing == ["c"]


def test_without_the_input_file_the_log_has_no_question(folder: Path) -> None:
    (folder / "jmultiwoz_tc_input.jsonl").unlink()
    write(folder / "result_m.jsonl", [{"data_id": "a", "dialogue_id": "x", "tool_calls": []}])
    evaluation = run(folder, "result_m.jsonl")
    assert not evaluation.questions_known
    assert [record["question"] for record in read_lines(evaluation.incorrect_path)] == [None, None]


@pytest.mark.parametrize(
    ("name", "model"),
    [("result_org_model.jsonl", "org_model"), ("answers.jsonl", "unknown"), ("result_.jsonl", "unknown")],
)
def test_the_model_is_read_from_the_name_of_the_result_file(folder: Path, name: str, model: str) -> None:
    write(folder / name, [{"data_id": "b", "dialogue_id": "x", "tool_calls": []}])
    evaluation = run(folder, name)
    assert evaluation.score_path.name == f"score_{model}.json"
    assert evaluation.incorrect_path.name == f"incorrect_{model}.json"
    assert len(read_lines(evaluation.score_path)) == 5


def test_percentages_are_not_rounded(folder: Path) -> None:
    write(
        folder / "result_m.jsonl",
        [
            {"data_id": "a", "dialogue_id": "x", "tool_calls": []},
            {"data_id": "b", "dialogue_id": "x", "tool_calls": []},
            {"data_id": "c", "dialogue_id": "y", "tool_calls": []},
        ],
    )
    assert read_lines(run(folder, "result_m.jsonl").score_path)[0]["全体の正答率(%)"] == 1 / 3 * 100
