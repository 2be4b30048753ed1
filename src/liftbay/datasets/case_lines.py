"""A case as a line of JSON Lines.

Keys that this format does not know are kept in the case's `extra`: those of the line under their name, those inside
a round, an expected tool or a message under their path, `conversationChain[0].note`. `null` is the same as absent.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from liftbay.datasets.data_file import DataFile
from liftbay.datasets.did_you_mean import nearest
from liftbay.datasets.json_lines import field_error, line_error, lines
from liftbay.datasets.problem import Report, problem, problem_of
from liftbay.domain.case import Case, ConversationRound, ExpectedTool, Message
from liftbay.domain.vocabulary import DatasetType, EvalMode, Route
from liftbay.errors import InputError, at


def _keys(kind: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(kind))


_KEYS = _keys(Case) - {"extra"}
_KEYS_INSIDE = {
    "conversationChain": _keys(ConversationRound),
    "expectedTools": _keys(ExpectedTool),
    "history": _keys(Message),
}
_SEPARATORS = re.compile("[,，、]")
_VALUES = {
    "datasetType": ", ".join(DatasetType),
    "evalMode": ", ".join(EvalMode),
    "expectedRoute": ", ".join(Route),
}
_OBJECT = msgspec.json.Decoder(dict[str, Any])


def cases_of_file(file: DataFile, report: Report, skip: Collection[int] = ()) -> Iterator[tuple[int, Case]]:
    """The cases of a file with their line numbers, but for the lines in `skip`.

    A line that is no case is reported and passed over. Raises `InputError` where the file cannot be read.
    """
    first = True
    for number, line in lines(file):
        if number in skip:
            continue
        if first and (line.lstrip().startswith(b"[") or line.strip() == b"{"):
            report(problem(file, number, None, _not_json_lines()))
            return
        first = False
        try:
            case = _case_of_line(file, number, line)
        except InputError as error:
            report(problem_of(error, file))
            continue
        for field in case.extra:
            if known := _meant(field):
                report(problem(file, number, field, _misspelt(known), warning=True))
        yield number, case


def _not_json_lines() -> InputError:
    return InputError(
        "the file is not JSON Lines: a value goes over several lines, or is a list",
        remedy="write one case a line: jq -c 'if type == \"array\" then .[] else . end' FILE > NEW.jsonl",
    )


def _misspelt(known: str) -> InputError:
    return InputError(
        "unknown key, kept in `extra`; did you mean {known}?", remedy="rename it, if that is meant", known=known
    )


def _case_of_line(file: DataFile, number: int, line: bytes) -> Case:
    try:
        value = _OBJECT.decode(line)
    except msgspec.DecodeError as error:
        raise line_error(file, number, line, error) from None
    if "mockDataId" in value and "tools" in value and "datasetType" not in value:
        raise InputError(
            "this is mock data, where a case is needed",
            place=at(file, number),
            remedy="put the file into the folder mocks/",
        )
    try:
        return case_of(value)
    except msgspec.ValidationError as error:
        raise _case_error(file, number, error) from None


_WRONG_VALUE = re.compile(r"Invalid enum value '(.*)' - at `\$\.(\w+)`$", re.DOTALL)


def _case_error(file: DataFile, number: int, error: msgspec.ValidationError) -> InputError:
    if found := _WRONG_VALUE.match(str(error)):
        value, field = found.groups()
        return InputError(
            "there is no {field} {value}",
            place=at(file, number, field),
            remedy="give one of {values}",
            field=field,
            value=value,
            values=_VALUES[field],
        )
    return field_error(file, number, error)


def case_of(value: dict[str, Any]) -> Case:
    """The case that a JSON object is. Raises `msgspec.ValidationError` where it is none."""
    fields: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, item in value.items():
        if key not in _KEYS:
            extra[key] = item
        elif item is not None:
            fields[key] = item
    for key, known in _KEYS_INSIDE.items():
        if isinstance(items := fields.get(key), list):
            fields[key] = [_known_part(item, known, f"{key}[{place}]", extra) for place, item in enumerate(items)]
    if isinstance(keywords := fields.get("keywords"), str):
        fields["keywords"] = [word.strip() for word in _SEPARATORS.split(keywords) if word.strip()]
    fields["extra"] = extra
    return msgspec.convert(fields, Case)


def _known_part(item: Any, known: frozenset[str], place: str, extra: dict[str, Any]) -> Any:
    """`item` without what is null or unknown; what is unknown goes to `extra` under its path."""
    if not isinstance(item, dict):
        return item
    for key in item.keys() - known:
        extra[f"{place}.{key}"] = item[key]
    return {key: value for key, value in item.items() if key in known and value is not None}


@functools.lru_cache(maxsize=1024)
def _meant(field: str) -> str | None:
    """The known key that an unknown one may be a misspelling of."""
    path, _, key = field.rpartition("].")
    known = _KEYS_INSIDE.get(path.partition("[")[0], _KEYS) if path else _KEYS
    return nearest(key, known)


def line_of(case: Case) -> bytes:
    """The line that `case` is in a file, with its end; reading it gives an equal case."""
    value = msgspec.to_builtins(case)
    extra = value.pop("extra", {})
    return msgspec.json.encode(value | extra) + b"\n"


class CaseDigest:
    """SHA-256 of a case's canonical JSON: keys sorted, defaults and `null` left out.

    The tool definitions enter by a digest of their own, which is kept while cases share the list.
    """

    def __init__(self) -> None:
        self._encode = msgspec.json.Encoder(order="sorted").encode
        self._tools: list[dict[str, Any]] | None = None
        self._tools_digest = b""

    def __call__(self, case: Case) -> bytes:
        if case.tools is None:
            return hashlib.sha256(self._encode(case)).digest()
        if case.tools is not self._tools:
            self._tools = case.tools
            self._tools_digest = hashlib.sha256(self._encode(case.tools)).digest()
        rest = self._encode(msgspec.structs.replace(case, tools=None))
        return hashlib.sha256(rest + self._tools_digest).digest()
