"""JSON Lines, read in bounded memory and typed, with errors that name the file, the line and the field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Protocol, TypeVar

import msgspec

from liftbay.datasets.data_file import DataFile, not_utf8
from liftbay.errors import InputError, at

CHUNK_BYTES = 1 << 20
MAX_LINE_BYTES = 64 << 20
MAX_DEPTH = 200
UTF8_BOM = b"\xef\xbb\xbf"

Record = TypeVar("Record")


class Digest(Protocol):
    """What `hashlib` makes: takes the bytes as they pass."""

    def update(self, data: bytes, /) -> None:
        """Take more bytes."""


def lines(file: DataFile, digest: Digest | None = None) -> Iterator[tuple[int, bytes]]:
    """The lines of `file` that are not blank, with their numbers from 1, without the byte order mark."""
    for first, block in _blocks(file, digest):
        for number, line in enumerate(block, first):
            if line and not line.isspace():
                yield number, line


def _blocks(file: DataFile, digest: Digest | None) -> Iterator[tuple[int, list[bytes]]]:
    """The lines in blocks, each with the number of its first line."""
    with file.open() as stream:
        first = 1
        for block in _split(file, stream, digest):
            if first == 1 and block:
                block[0] = block[0].removeprefix(UTF8_BOM)
            yield first, block
            first += len(block)


def _split(file: DataFile, stream: BinaryIO, digest: Digest | None) -> Iterator[list[bytes]]:
    rest = b""
    while chunk := stream.read(CHUNK_BYTES):
        if digest is not None:
            digest.update(chunk)
        *whole, rest = (rest + chunk).split(b"\n")
        yield whole
        if len(rest) > MAX_LINE_BYTES:
            raise InputError(
                "a line is longer than {limit} MiB",
                place=at(file),
                remedy="check that the file is JSON Lines: one record a line",
                limit=MAX_LINE_BYTES >> 20,
            )
    yield [rest]


def records(
    file: DataFile,
    decoder: msgspec.json.Decoder[Record],
    *,
    explain: Callable[[Any], InputError | None] = lambda value: None,
    digest: Digest | None = None,
    nested: bool = True,
) -> Iterator[tuple[int, Record]]:
    """The records of `file` with their line numbers.

    `explain` may say what a line is that is JSON but not a record of this kind. `nested` says that records hold
    values of any depth, which is then bounded. Raises `InputError` at the first line that is not a record.
    """
    decode = decoder.decode
    for first, block in _blocks(file, digest):
        for number, line in enumerate(block, first):
            if not line or line.isspace():
                continue
            try:
                record = decode(line)
            except (msgspec.DecodeError, RecursionError) as error:
                raise line_error(file, number, line, error, explain) from None
            if nested and is_too_deep(line):
                raise _too_deep(file, number)
            yield number, record


def _no_json(file: DataFile, number: int, line: bytes, why: json.JSONDecodeError) -> InputError:
    if number == 1 and line.strip() in (b"[", b"{"):
        return InputError(
            "this is one JSON value over several lines, not JSON Lines",
            place=at(file),
            remedy="give a file with one record a line",
        )
    return InputError(
        "invalid JSON: {why}",
        place=at(file, number),
        remedy="mend or remove the line; a file must have one whole JSON object a line",
        why=f"{why.msg} (column {why.colno})",
    )


def is_too_deep(text: bytes, limit: int = MAX_DEPTH) -> bool:
    """Whether JSON text is nested deeper than `limit`: a comparison would run out of stack."""
    if text.count(b"[") + text.count(b"{") <= limit:
        return False
    try:
        waiting = [(msgspec.json.decode(text), 1)]
    except RecursionError:
        return True
    while waiting:
        value, depth = waiting.pop()
        if depth > limit:
            return True
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        waiting.extend((item, depth + 1) for item in inner if isinstance(item, dict | list))
    return False


def _too_deep(file: DataFile, number: int) -> InputError:
    return InputError(
        "the values are nested more than {limit} deep",
        place=at(file, number),
        remedy="mend or remove the line",
        limit=MAX_DEPTH,
    )


def line_error(
    file: DataFile,
    number: int,
    line: bytes,
    error: msgspec.DecodeError | RecursionError,
    explain: Callable[[Any], InputError | None] = lambda value: None,
) -> InputError:
    """What is wrong with a line that `msgspec` could not decode."""
    place = at(file, number)
    if isinstance(error, RecursionError):
        return _too_deep(file, number)
    try:
        value = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return not_utf8(line, place)
    except RecursionError:
        return _too_deep(file, number)
    except json.JSONDecodeError as why:
        return _no_json(file, number, line, why)
    if not isinstance(error, msgspec.ValidationError) or "out of range" in str(error):
        return InputError(
            "a value that strict JSON does not allow: NaN, Infinity, half a surrogate pair, or a number out of range",
            place=place,
            remedy="mend or remove the line",
        )
    return explain(value) or field_error(file, number, error)


_PATH = re.compile(r" - at `\$\.?(.*)`$")
_EXPECTED = re.compile(r"Expected `(.+)`, got `(.+)`$")
_MISSING = re.compile(r"Object missing required field `(.+)`$")


def field_error(file: DataFile, number: int | None, error: msgspec.ValidationError, inside: str = "") -> InputError:
    """The error for a field of the wrong type or a missing one, with the path of the field below `inside`.

    `number` is that of the line, or None where the file is one value.
    """
    text = str(error)
    path = _PATH.search(text)
    field = inside + (path.group(1) if path else "")
    text = _PATH.sub("", text)
    if missing := _MISSING.match(text):
        place = at(file, number, f"{field}.{missing.group(1)}".removeprefix("."))
        return InputError("the field is missing", place=place)
    place = at(file, number, field or None)
    if expected := _EXPECTED.match(text):
        return InputError(
            "expected {expected}, found {found}",
            place=place,
            expected=expected.group(1),
            found=expected.group(2),
        )
    return InputError("{why}", place=place, why=text)
