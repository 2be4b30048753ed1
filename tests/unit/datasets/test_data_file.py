"""Files and archives."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from liftbay.datasets.data_file import DataFile, files_in, read_json
from liftbay.errors import InputError

NAMES = ("a.json", "b.jsonl")


def archive(path: Path, *members: str) -> Path:
    with zipfile.ZipFile(path, "w") as opened:
        for member in members:
            opened.writestr(member, f"content of {member}")
    return path


def content(file: DataFile) -> bytes:
    with file.open() as stream:
        return stream.read()


def test_a_file_in_an_archive_is_read_in_place(tmp_path: Path) -> None:
    found = files_in(archive(tmp_path / "d.zip", "a.json", "b.jsonl", "other"), NAMES)
    assert content(found["b.jsonl"]) == b"content of b.jsonl"
    assert str(found["b.jsonl"]) == f"{tmp_path / 'd.zip'}!b.jsonl"
    assert list(tmp_path.iterdir()) == [tmp_path / "d.zip"]


def test_files_may_lie_in_a_folder_of_the_archive(tmp_path: Path) -> None:
    path = archive(tmp_path / "d.zip", "top/a.json", "top/b.jsonl", "__MACOSX/top/a.json")
    assert content(files_in(path, NAMES)["a.json"]) == b"content of top/a.json"


@pytest.mark.parametrize("entry", ["../a.json", "x/../../y", "/etc/passwd", "C:/x", "..\\x", "\\\\host\\x"])
def test_an_archive_with_a_path_that_leaves_is_refused(tmp_path: Path, entry: str) -> None:
    with pytest.raises(InputError, match="leaves the folder"):
        files_in(archive(tmp_path / "d.zip", "a.json", "b.jsonl", entry), NAMES)


def test_an_archive_without_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"does not hold b\.jsonl"):
        files_in(archive(tmp_path / "d.zip", "a.json"), NAMES)


def test_an_archive_with_a_file_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="twice"):
        files_in(archive(tmp_path / "d.zip", "a.json", "b.jsonl", "x/a.json"), NAMES)


def test_a_damaged_archive(tmp_path: Path) -> None:
    path = archive(tmp_path / "d.zip", "a.json", "b.jsonl")
    data = bytearray(path.read_bytes())
    data[data.index(b"content")] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="cannot be read as a zip archive"):
        content(files_in(path, NAMES)["a.json"])
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match="cannot be read as a zip archive"):
        files_in(path, NAMES)


def test_neither_folder_nor_archive(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        files_in(tmp_path / "nothing", NAMES)
    with pytest.raises(InputError, match="is a folder"):
        content(DataFile(tmp_path))


def test_json_errors_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{\n "a": 1,\n b\n}')
    with pytest.raises(InputError, match="invalid JSON") as caught:
        read_json(DataFile(path))
    assert caught.value.place == f"{path}:3"
    path.write_bytes("\ufeff[1]".encode())
    assert read_json(DataFile(path)) == [1]
    path.write_bytes("[1]".encode("utf-16"))
    with pytest.raises(InputError, match="looks like UTF-16"):
        read_json(DataFile(path))
