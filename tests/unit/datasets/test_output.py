"""Files that come to be whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from liftbay.datasets.output import make_folder, write_atomically
from liftbay.errors import InputError, StoreError


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    write_atomically(path, [b"old"])
    write_atomically(path, [b"new ", b"content"])
    assert path.read_bytes() == b"new content"
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o400


def test_what_fails_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    with pytest.raises(StoreError, match="No space left") as caught:
        write_atomically(path, pieces())
    assert caught.value.place == str(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_where_no_file_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="Not a directory"):
        make_folder(tmp_path / "file" / "folder")
    with pytest.raises(InputError, match="No such file"):
        write_atomically(tmp_path / "none" / "out.json", [])
