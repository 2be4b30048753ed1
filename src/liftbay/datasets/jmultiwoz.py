"""JMultiWOZ-TC as a dataset of the type TOOL_CALL."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from liftbay.datasets.data_file import DataFile
from liftbay.datasets.jmultiwoz_tc_files import find_files, read_tools
from liftbay.datasets.jmultiwoz_tc_records import GoldRecord, InputRecord, duplicated_ids, read
from liftbay.datasets.json_lines import field_error
from liftbay.datasets.problem import Report
from liftbay.domain.case import Case, ExpectedTool, Message
from liftbay.domain.toolcall import ToolCall
from liftbay.domain.vocabulary import DatasetType
from liftbay.errors import InputError, at

PREFIX = "jmultiwoz:"


class Jmultiwoz:
    """The cases of a folder or zip that holds JMultiWOZ-TC, streamed."""

    def __init__(self, data: Path) -> None:
        """Raises `InputError` where the files are not there, or there are no tool definitions."""
        self.name = f"{PREFIX}{data}"
        self._files = find_files(data)
        self._tools, _ = read_tools(self._files.tools)

    def read(self, report: Report, skip: Collection[int] = ()) -> Iterator[tuple[int, Case]]:
        """The cases with the numbers of their lines in the input file; all share one list of tool definitions.

        Raises `InputError` at the first record that is wrong: the data is published, so it is whole or it is not
        this data.
        """
        file = self._files.input
        gold = _Gold(self._files.ground)
        for number, record in read(file, InputRecord):
            if number in skip:
                continue
            calls = gold.calls_of(record.data_id)
            if calls is None:
                raise InputError(
                    "there is no right answer for {id} in {file}, or the id stands twice",
                    place=at(file, number),
                    remedy="fetch the dataset again from its source",
                    id=record.data_id,
                    file=self._files.ground,
                )
            yield number, _case(record, _messages(file, number, record.question), calls, self._tools)


class _Gold:
    """The right answers by id, read only as far as they are asked for: mostly they come in the same order."""

    def __init__(self, file: DataFile) -> None:
        self._file = file
        self._records = read(file, GoldRecord)
        self._waiting: dict[str, list[ToolCall]] = {}

    def calls_of(self, id_: str) -> list[ToolCall] | None:
        """The right calls, once; None where there is no answer."""
        if id_ in self._waiting:
            return self._waiting.pop(id_)
        for number, record in self._records:
            if record.data_id == id_:
                return record.ground_truth
            if record.data_id in self._waiting:
                raise duplicated_ids(self._file, record.data_id, number, 1)
            self._waiting[record.data_id] = record.ground_truth
        return None


_MESSAGES = msgspec.json.Decoder(list[Message])


def _messages(file: DataFile, number: int, question: msgspec.Raw) -> list[Message]:
    try:
        messages = _MESSAGES.decode(question)
    except msgspec.ValidationError as error:
        raise field_error(file, number, error, "question") from None
    if not messages or messages[-1].role != "user":
        raise InputError("the last message is not the user's", place=at(file, number, "question"))
    return messages


def _case(record: InputRecord, messages: list[Message], calls: list[ToolCall], tools: list[dict[str, Any]]) -> Case:
    return Case(
        id=record.data_id,
        dataset_type=DatasetType.TOOL_CALL,
        user_input=messages[-1].content or "",
        history=messages[:-1],
        expected_tools=[ExpectedTool(call.name, call.arguments) for call in calls],
        tools=tools,
        extra={"dialogueId": record.dialogue_id},
    )
