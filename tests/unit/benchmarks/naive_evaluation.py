"""The five lines and the log again, written the slow and obvious way from the spec, with nothing of liftbay's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def naive_evaluation(result: Path, ground: Path, inputs: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The lines of the score file and of the log."""
    gold = {record["data_id"]: record for record in read_lines(ground)}
    questions = {record["data_id"]: record["question"] for record in read_lines(inputs)}
    results = [record for record in read_lines(result) if record["data_id"] in gold]
    answered = [record for record in results if record.get("error") is None]

    def texts(calls: list[dict[str, Any]]) -> set[str]:
        return {json.dumps([call["name"], call["arguments"]], sort_keys=True) for call in calls}

    def wanted(record: dict[str, Any]) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = gold[record["data_id"]]["ground_truth"]
        return calls

    def exact(record: dict[str, Any]) -> bool:
        return texts(record["tool_calls"]) == texts(wanted(record))

    def used(record: dict[str, Any]) -> bool:
        return len(record["tool_calls"]) > 0

    due = [record for record in answered if wanted(record)]
    not_due = [record for record in answered if not wanted(record)]
    outcomes = {
        "全体": {record["data_id"]: exact(record) for record in answered},
        "ツール使用判断": {record["data_id"]: used(record) for record in due},
        "ツール不使用判断": {record["data_id"]: not used(record) for record in not_due},
        "ツール使用・不使用判断": {record["data_id"]: used(record) == bool(wanted(record)) for record in answered},
        "tool call精度": {record["data_id"]: exact(record) for record in due},
    }
    lines = []
    for name, correct in outcomes.items():
        right = sum(correct.values())
        lines.append(
            {
                "評価項目": name,
                "総データ数": len(results),
                "評価対象数": len(correct),
                "正解数": right,
                "不正解数": len(correct) - right,
                "出力ミスのデータ数": len(results) - len(answered),
                "全体の正答率(%)": right / len(correct) * 100 if correct else 0,
            }
        )
    log = []
    for genre in ("tool call精度", "ツール使用判断", "ツール不使用判断"):
        for record in answered:
            id_ = record["data_id"]
            if outcomes[genre].get(id_) is False:
                log.append(
                    {
                        "data_id": id_,
                        "dialogue_id": gold[id_]["dialogue_id"],
                        "incorrect_genre": genre,
                        "question": questions.get(id_),
                        "output": record["tool_calls"],
                        "ground_truth": wanted(record),
                    }
                )
    return lines, log
