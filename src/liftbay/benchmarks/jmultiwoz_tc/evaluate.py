"""Score a result file: the score file, the log of incorrect answers."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from liftbay.benchmarks.jmultiwoz_tc.files import model_of_result
from liftbay.benchmarks.jmultiwoz_tc.score import Scored, Scoring, score
from liftbay.datasets.data_file import DataFile, not_utf8
from liftbay.datasets.jmultiwoz_tc_files import BenchmarkFiles
from liftbay.datasets.jmultiwoz_tc_records import (
    GoldRecord,
    InputRecord,
    ResultRecord,
    duplicated_ids,
    read,
    read_by_id,
)
from liftbay.datasets.output import make_folder, write_atomically
from liftbay.domain.toolcall import ToolCall
from liftbay.errors import at
from liftbay.scoring.jmultiwoz_tc import CALLS, DECISIONS, NO_USE, USE, ScoreLine, score_lines

LOGGED = (CALLS, USE, NO_USE)
_LOGGED_DECISIONS = frozenset(
    decision
    for decision in DECISIONS.values()
    if any(measure.over(decision) and not measure.correct(decision) for measure in LOGGED)
)


class Evaluation(msgspec.Struct, frozen=True):
    """What `evaluate` found and wrote."""

    model: str  # in the form that it has in file names
    lines: list[ScoreLine]
    scoring: Scoring
    score_path: Path
    incorrect_path: Path
    questions_known: bool  # False where there is no input file, so that the log has no questions


class IncorrectAnswer(msgspec.Struct, frozen=True):
    """A line of the log of incorrect answers."""

    data_id: str
    dialogue_id: str
    incorrect_genre: str
    question: msgspec.Raw
    output: list[ToolCall]
    ground_truth: list[ToolCall]


def evaluate(result: Path, files: BenchmarkFiles, output_dir: Path) -> Evaluation:
    """Score the result file and write both files; where anything is wrong with the input nothing is written.

    Raises `InputError` for bad input and `StoreError` where the files cannot be written.
    """
    model = model_of_result(result)
    with _collector_off():
        gold = read_by_id(files.ground, GoldRecord)
        scoring = score(gold, read_by_id(DataFile(result), ResultRecord))
        wrong = [scored for scored in scoring.scored if _is_logged(scored)]
        questions = _questions(files.input, {scored.gold.data_id for scored in wrong})
        lines = score_lines(scored.decision for scored in scoring.scored)
        make_folder(output_dir)
        score_path = output_dir / f"score_{model}.json"
        incorrect_path = output_dir / f"incorrect_{model}.json"
        write_atomically(incorrect_path, _log(wrong, questions or {}))
        write_atomically(score_path, map(_score_text, lines))
    return Evaluation(model, lines, scoring, score_path, incorrect_path, questions is not None)


@contextmanager
def _collector_off() -> Iterator[None]:
    """Keep the cyclic collector from walking hundreds of thousands of fresh records that hold no cycle."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _is_logged(scored: Scored) -> bool:
    return scored.decision in _LOGGED_DECISIONS


def _questions(file: DataFile, wanted: set[str]) -> dict[str, msgspec.Raw] | None:
    """The questions of the wanted ids as they stand in the input file, or None where there is no such file."""
    if not file.exists():
        return None
    found: dict[str, msgspec.Raw] = {}
    seen: set[str] = set()
    for number, record in read(file, InputRecord):
        if record.data_id in seen:
            raise duplicated_ids(file, record.data_id, number, 1)
        seen.add(record.data_id)
        if record.data_id in wanted:
            text = bytes(record.question)
            try:
                text.decode("utf-8")
            except UnicodeDecodeError:
                raise not_utf8(text, at(file, number, "question")) from None
            found[record.data_id] = msgspec.Raw(text)
    return found


def _score_text(line: ScoreLine) -> bytes:
    return (json.dumps(msgspec.to_builtins(line), ensure_ascii=False) + "\n").encode()


def _log(wrong: list[Scored], questions: dict[str, msgspec.Raw]) -> Iterator[bytes]:
    encoder = msgspec.json.Encoder()
    unknown = msgspec.Raw(b"null")
    for measure in LOGGED:
        for scored in wrong:
            decision = scored.decision
            assert decision is not None
            if not measure.over(decision) or measure.correct(decision):
                continue
            gold = scored.gold
            answer = IncorrectAnswer(
                gold.data_id,
                gold.dialogue_id,
                measure.name,
                questions.get(gold.data_id, unknown),
                scored.result.tool_calls,
                gold.ground_truth,
            )
            yield encoder.encode(answer) + b"\n"
