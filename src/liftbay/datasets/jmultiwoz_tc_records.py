"""The records of the benchmark's files, and how to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from liftbay.datasets.data_file import DataFile
from liftbay.datasets.json_lines import Digest, records
from liftbay.domain.toolcall import ToolCall
from liftbay.errors import InputError, Phrase, at


class InputRecord(msgspec.Struct, frozen=True):
    """Messages to send; `question` stays the text that it is in the file, a JSON array."""

    data_id: str
    dialogue_id: str
    question: msgspec.Raw


class GoldRecord(msgspec.Struct, frozen=True):
    """The calls that are right for one utterance; empty where none is."""

    data_id: str
    dialogue_id: str
    ground_truth: list[ToolCall]


class ResultRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model answered, or why there is no answer (`error`)."""

    data_id: str
    dialogue_id: str
    tool_calls: list[ToolCall]
    error: Any = None

    @property
    def failed(self) -> bool:
        """Whether there is no answer to score."""
        return self.error is not None


Record = TypeVar("Record", InputRecord, GoldRecord, ResultRecord)

# What a line is, by a key that only this kind of file has; looked up where a line is not what it should be.
_KINDS = {
    "評価項目": Phrase("a score file (score_*.json)"),
    "incorrect_genre": Phrase("a log of incorrect answers (incorrect_*.json)"),
    "ground_truth": Phrase("a file of right answers (jmultiwoz_tc_ground.jsonl)"),
    "question": Phrase("a file of inputs (jmultiwoz_tc_input.jsonl)"),
    "tool_calls": Phrase("a result file (result_*.jsonl)"),
}
_KIND_OF_RECORD = {InputRecord: "question", GoldRecord: "ground_truth", ResultRecord: "tool_calls"}


def read(file: DataFile, kind: type[Record], digest: Digest | None = None) -> Iterator[tuple[int, Record]]:
    """The records of `file` with their line numbers. Raises `InputError` at the first that is not of this kind."""
    return records(
        file,
        msgspec.json.Decoder(kind),
        explain=_another_kind(file, kind),
        digest=digest,
        nested=kind is not InputRecord,  # its questions stay text
    )


def read_by_id(file: DataFile, kind: type[Record]) -> dict[str, Record]:
    """All records of `file` by their id, in order. Raises `InputError` where ids repeat or there is no record."""
    found: dict[str, Record] = {}
    repeated: list[tuple[str, int]] = []
    for number, record in read(file, kind):
        if record.data_id in found:
            repeated.append((record.data_id, number))
        found[record.data_id] = record
    if repeated:
        raise duplicated_ids(file, *repeated[0], len(repeated))
    if not found:
        raise no_records(file)
    return found


def duplicated_ids(file: DataFile, example: str, line: int, count: int) -> InputError:
    """The error for a file in which ids repeat."""
    return InputError(
        "{count} duplicated data_id, for example {example}",
        place=at(file, line),
        remedy="keep one record for each data_id; nothing was written",
        count=count,
        example=example,
    )


def no_records(file: DataFile) -> InputError:
    """The error for a file without a record."""
    return InputError("the file holds no record", place=at(file), remedy="check that this is the file you mean")


def _another_kind(file: DataFile, kind: type[Record]) -> Callable[[Any], InputError | None]:
    own = _KIND_OF_RECORD[kind]

    def explain(value: Any) -> InputError | None:
        if not isinstance(value, dict) or own in value:
            return None
        for key, found in _KINDS.items():
            if key in value:
                return InputError(
                    "this is {found}, where {expected} is needed",
                    place=at(file),
                    remedy="check which file each option names",
                    found=found,
                    expected=_KINDS[own],
                )
        return None

    return explain
