"""JSON Lines of every kind."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from liftbay.datasets import json_lines
from liftbay.datasets.data_file import DataFile
from liftbay.datasets.json_lines import lines, records
from liftbay.errors import InputError


class Pair(msgspec.Struct):
    """A record."""

    name: str
    inner: dict[str, int] = {}


def read(path: Path, content: bytes) -> list[tuple[int, Pair]]:
    path.write_bytes(content)
    return list(records(DataFile(path), msgspec.json.Decoder(Pair)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test writes its file."""
    return tmp_path / "records.jsonl"


def test_mark_line_ends_and_blank_lines(path: Path) -> None:
    found = read(path, b'\xef\xbb\xbf{"name":"a"}\r\n\r\n  \n{"name":"b"}\n\n{"name":"c"}')
    assert [(number, pair.name) for number, pair in found] == [(1, "a"), (4, "b"), (6, "c")]


@example([b"\xef\xbb\xbf"], 1)
@given(st.lists(st.binary(max_size=40).filter(lambda line: b"\n" not in line)), st.integers(1, 50))
def test_lines_are_those_of_the_file_however_it_is_cut(content: list[bytes], chunk: int) -> None:
    digest = hashlib.sha256()
    with tempfile.NamedTemporaryFile() as file, pytest.MonkeyPatch.context() as patched:
        Path(file.name).write_bytes(b"\n".join(content))
        patched.setattr(json_lines, "CHUNK_BYTES", chunk)
        found = list(lines(DataFile(Path(file.name)), digest))
    unmarked = [line.removeprefix(b"\xef\xbb\xbf") for line in content[:1]] + content[1:]
    assert found == [(number, line) for number, line in enumerate(unmarked, start=1) if line and not line.isspace()]
    assert digest.digest() == hashlib.sha256(b"\n".join(content)).digest()


def test_a_line_of_several_megabytes(path: Path) -> None:
    found = read(path, b'{"name":"' + b"x" * 5_000_000 + b'"}\n{"name":"b"}\n')
    assert len(found[0][1].name) == 5_000_000
    assert found[1][1].name == "b"


def test_a_line_without_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "MAX_LINE_BYTES", 2 << 20)
    with pytest.raises(InputError, match="longer than 2 MiB"):
        read(path, b"x" * 5_000_000)


@pytest.mark.parametrize(
    ("line", "says", "field"),
    [
        (b'{"name": ', "invalid JSON", None),
        (b'{"name": "\x83\x5c"}', "looks like CP932", None),
        ('{"name": "東京"}'.encode("cp932"), "looks like CP932", None),
        (b'{"name": "\xff\xff"}', "not UTF-8", None),
        (b'{"name": 1}', "expected str, found int", "name"),
        (b'{"inner": {}}', "the field is missing", "name"),
        (b'{"name": "x", "inner": {"k": "v"}}', "expected int, found str", "inner[...]"),
        (b"[]", "expected object, found array", None),
        (b'{"name": "x", "inner": {"k": NaN}}', "strict JSON", None),
        (b'{"name": "\\ud800"}', "strict JSON", None),
        (b"[" * 100_000, "nested more than 200 deep", None),
        (b'{"name": "x", "inner": ' + b"[" * 300 + b"]" * 300 + b"}", "expected object, found array", "inner"),
        (b'{"name": "x", "other": ' + b"[" * 300 + b"]" * 300 + b"}", "nested more than 200 deep", None),
    ],
)
def test_a_bad_line_is_named_with_its_field(path: Path, line: bytes, says: str, field: str | None) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read(path, b'{"name": "good"}\n' + line + b"\n")
    assert caught.value.place == f"{path}:2" + (f": {field}" if field else "")


def test_one_value_over_several_lines_is_said_to_be_one(path: Path) -> None:
    with pytest.raises(InputError, match="one JSON value over several lines"):
        read(path, b'[\n {"name": "a"}\n]\n')


def test_an_archive_is_said_to_be_one(path: Path) -> None:
    with pytest.raises(InputError, match="zip archive"):
        read(path, b"PK\x03\x04\x14\x00\xff\xfe\n")
