"""A file to read: on the disk, or an entry of a zip archive that is read in place and never unpacked."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import msgspec

from liftbay.errors import InputError, at


class DataFile(msgspec.Struct, frozen=True):
    """A file, or the entry `member` of the archive `path`."""

    path: Path
    member: str | None = None

    def __str__(self) -> str:
        return str(self.path) if self.member is None else f"{self.path}!{self.member}"

    def exists(self) -> bool:
        """Whether there is a file to read (an entry was found in its archive already)."""
        return self.member is not None or self.path.exists()

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The bytes of the file. Raises `InputError` where it cannot be opened or read."""
        with _reading(self):
            if self.member is None:
                with self.path.open("rb") as stream:
                    yield stream
            else:
                with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as entry:
                    yield io.BufferedReader(entry, 1 << 20)  # type: ignore[type-var]


@contextmanager
def _reading(place: object) -> Iterator[None]:
    """Turn what reading a file or an archive can raise into `InputError`."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(
            "there is no such file", place=at(place), remedy="check the path; --data takes the dataset's folder or zip"
        ) from None
    except IsADirectoryError:
        raise InputError(
            "this is a folder, not a file",
            place=at(place),
            remedy="check the path; --data takes the dataset's folder or zip",
        ) from None
    except PermissionError:
        raise InputError("no permission to read the file", place=at(place)) from None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise InputError(
            "this cannot be read as a zip archive: {why}",
            place=at(place),
            remedy="give the dataset.zip as it was published, or the folder that it was unpacked into",
            why=error,
        ) from None
    except OSError as error:
        raise InputError("the file cannot be read: {why}", place=at(place), why=error.strerror) from None


def files_in(data: Path, names: tuple[str, ...]) -> dict[str, DataFile]:
    """The files called `names` in `data`, a folder or a zip archive.

    In a folder a file may be missing: who needs it finds out on opening it. Raises `InputError` where `data` is
    neither folder nor archive, where the archive lacks a file or has it twice, or where an entry's path leaves the
    folder that it would be unpacked into.
    """
    if data.is_dir():
        return {name: DataFile(data / name) for name in names}
    found = _files_in_archive(data, names)
    if missing := [name for name in names if name not in found]:
        raise InputError(
            "it does not hold {missing}",
            place=at(data),
            remedy="--data takes the folder or the zip that holds {names}",
            missing=", ".join(missing),
            names=", ".join(names),
        )
    return found


def _files_in_archive(data: Path, names: tuple[str, ...]) -> dict[str, DataFile]:
    with _reading(data), zipfile.ZipFile(data) as archive:
        members = archive.namelist()
    found: dict[str, DataFile] = {}
    for member in members:
        if _leaves_the_folder(member):
            raise InputError(
                "the archive has an entry whose path leaves the folder: {entry}",
                place=at(data),
                remedy="do not use this archive; fetch it again from its source",
                entry=json.dumps(member, ensure_ascii=False),
            )
        path = PurePosixPath(member)
        if path.name not in names or path.parts[0] == "__MACOSX":
            continue
        if path.name in found:
            raise InputError(
                "the archive holds {name} twice: {one} and {other}",
                place=at(data),
                remedy="unpack it and give the folder that you mean",
                name=path.name,
                one=found[path.name].member,
                other=member,
            )
        found[path.name] = DataFile(data, member)
    return found


_DRIVE = re.compile(r"[A-Za-z]:")


def _leaves_the_folder(member: str) -> bool:
    path = member.replace("\\", "/")
    return path.startswith("/") or bool(_DRIVE.match(path)) or ".." in path.split("/")


def read_json(file: DataFile) -> Any:
    """The JSON value that the whole file holds. Raises `InputError` with the line where it is not JSON."""
    with file.open() as stream:
        content = stream.read()
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise not_utf8(content, at(file)) from None
    except json.JSONDecodeError as error:
        raise InputError("invalid JSON: {why}", place=at(file, error.lineno), why=error.msg) from None


def not_utf8(content: bytes, place: str) -> InputError:
    """The error for text that is not UTF-8, with the encoding that it seems to have."""
    if content.startswith(b"PK\x03\x04"):
        return InputError("this is a zip archive", place=place, remedy="--data takes the zip of the dataset")
    encoding = "UTF-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else None
    if encoding is None:
        try:
            content.decode("cp932")
            encoding = "CP932"
        except UnicodeDecodeError:
            return InputError("the text is not UTF-8", place=place, remedy="save the file as UTF-8")
    return InputError(
        "the text is not UTF-8; it looks like {encoding}",
        place=place,
        remedy="convert the file: iconv -f {encoding} -t UTF-8 FILE > NEW_FILE",
        encoding=encoding,
    )
