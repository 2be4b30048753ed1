"""The plain way to evaluate: the standard library's json over three whole files. What `evaluate.py` compares with."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

Record = dict[str, Any]


class Answer(NamedTuple):
    """A right answer, the result, and what the result comes to."""

    gold: Record
    result: Record
    due: bool
    used: bool
    exact: bool


Test = Callable[[Answer], bool]
MEASURES: list[tuple[str, Test, Test]] = [
    ("全体", lambda a: True, lambda a: a.exact),
    ("ツール使用判断", lambda a: a.due, lambda a: a.used),
    ("ツール不使用判断", lambda a: not a.due, lambda a: not a.used),
    ("ツール使用・不使用判断", lambda a: True, lambda a: a.used == a.due),
    ("tool call精度", lambda a: a.due, lambda a: a.exact),
]
LOGGED = [MEASURES[4], MEASURES[1], MEASURES[2]]


def read(path: Path) -> dict[str, Record]:
    """The records of a file by their id."""
    with path.open(encoding="utf-8") as lines:
        return {record["data_id"]: record for record in map(json.loads, lines)}


def canonical(calls: list[Record]) -> set[str]:
    """The set of calls, each as its JSON text with sorted keys."""
    return {json.dumps(call, sort_keys=True, ensure_ascii=False) for call in calls}


def decide(gold: Record, result: Record) -> Answer:
    """Set a result beside its right answer."""
    expected, made = gold["ground_truth"], result["tool_calls"]
    return Answer(gold, result, bool(expected), bool(made), canonical(expected) == canonical(made))


def score_line(name: str, errors: int, over: list[Answer], correct: int, total: int) -> Record:
    """One line of the score file."""
    return {
        "評価項目": name,
        "総データ数": total,
        "評価対象数": len(over),
        "正解数": correct,
        "不正解数": len(over) - correct,
        "出力ミスのデータ数": errors,
        "全体の正答率(%)": correct / len(over) * 100 if over else 0,
    }


def incorrect_line(genre: str, answer: Answer, question: Any) -> Record:
    """One line of the log of incorrect answers."""
    return {
        "data_id": answer.gold["data_id"],
        "dialogue_id": answer.gold["dialogue_id"],
        "incorrect_genre": genre,
        "question": question,
        "output": answer.result["tool_calls"],
        "ground_truth": answer.gold["ground_truth"],
    }


def write(path: Path, records: list[Record]) -> None:
    """Write JSON Lines."""
    with path.open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def main() -> None:
    """Read the three files, write the score and the log."""
    parser = argparse.ArgumentParser()
    for name in ("--result", "--ground", "--input", "--output-dir"):
        parser.add_argument(name, type=Path, required=True)
    options = parser.parse_args()
    ground, results, inputs = read(options.ground), read(options.result), read(options.input)

    known = [(ground[id_], result) for id_, result in results.items() if id_ in ground]
    answers = [decide(gold, result) for gold, result in known if "error" not in result]
    scores = []
    for name, over, correct in MEASURES:
        counted = [answer for answer in answers if over(answer)]
        right = sum(map(correct, counted))
        scores.append(score_line(name, len(known) - len(answers), counted, right, len(known)))
    incorrect = [
        incorrect_line(name, answer, inputs[answer.gold["data_id"]]["question"])
        for name, over, correct in LOGGED
        for answer in answers
        if over(answer) and not correct(answer)
    ]
    model = options.result.stem.removeprefix("result_")
    write(options.output_dir / f"score_{model}.json", scores)
    write(options.output_dir / f"incorrect_{model}.json", incorrect)


if __name__ == "__main__":
    main()
