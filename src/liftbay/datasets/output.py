"""Files that come to be whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from liftbay.errors import InputError, LiftbayError, StoreError, at

_USERS_MISTAKES = {
    errno.EACCES,
    errno.EEXIST,
    errno.EPERM,
    errno.EROFS,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.ENOENT,
    errno.ENAMETOOLONG,
}


_ELSEWHERE = "choose another place with --output-dir"


def write_error(path: Path, error: OSError, elsewhere: str = _ELSEWHERE) -> LiftbayError:
    """What to say when `path` cannot be written; `elsewhere` is the remedy where no file can be there."""
    if error.errno in _USERS_MISTAKES:
        return InputError(
            "no file can be written there: {why}",
            place=at(path),
            remedy=elsewhere,
            why=error.strerror,
        )
    return StoreError(
        "writing failed: {why}",
        place=at(path),
        remedy="make room on the disk and run the same command again",
        why=error.strerror,
    )


@contextmanager
def writing(path: Path, elsewhere: str = _ELSEWHERE) -> Iterator[None]:
    """Turn what writing to `path` can raise into an error of liftbay's."""
    try:
        yield
    except OSError as error:
        raise write_error(path, error, elsewhere) from None


def make_folder(path: Path, elsewhere: str = _ELSEWHERE) -> None:
    """Make the folder and those above it where they are missing."""
    with writing(path, elsewhere):
        path.mkdir(parents=True, exist_ok=True)


def write_atomically(path: Path, pieces: Iterable[bytes], elsewhere: str = _ELSEWHERE) -> None:
    """Write the pieces to `path`, which then holds all of them or is as it was before.

    `elsewhere` is the remedy where no file can be there.
    """
    with writing(path, elsewhere):
        handle, name = part_file(path)
        try:
            with os.fdopen(handle, "wb", buffering=1 << 20) as stream:
                stream.writelines(pieces)
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).chmod(0o666 & ~_umask())
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise


def part_file(path: Path) -> tuple[int, str]:
    """A new file beside `path` that is to take its name: its handle and its name."""
    return tempfile.mkstemp(dir=path.parent, prefix=_part_prefix(path), suffix=_PART)


def sweep(path: Path) -> None:
    """Remove what a killed process left of files that were to become `path`; nobody else may be writing it."""
    for left in path.parent.iterdir():
        if left.name.startswith(_part_prefix(path)) and left.name.endswith(_PART):
            with writing(left):
                left.unlink(missing_ok=True)


_PART = ".part"


def _part_prefix(path: Path) -> str:
    """Hidden, and short enough for any name."""
    return f".{path.name[:64]}."


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
