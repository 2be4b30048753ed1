"""The result file while it grows: one writer, no torn line, no answer lost.

Each record is one `write` call that ends in a line feed, so a process that is killed leaves at most one torn line
at the end; opening the file repairs it. The lock is the kernel's `flock` on the file itself: it dies with the
process and leaves nothing behind.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from liftbay.datasets.data_file import DataFile
from liftbay.datasets.jmultiwoz_tc_records import ResultRecord, read
from liftbay.datasets.output import part_file, sweep, write_error, writing
from liftbay.errors import StoreError, at

_TAIL_BYTES = 1 << 20


class ResultFile:
    """A result file that this process alone appends to; used as a context manager.

    Raises `StoreError` where another process has it, `InputError` where a line (other than a torn last one) is
    not a result.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._encoder = msgspec.json.Encoder()

    def __enter__(self) -> Self:
        with writing(self.path):
            self._handle = _open_and_lock(self.path)
        try:
            sweep(self.path)
            self._repair()
            self._size = os.fstat(self._handle).st_size
        except BaseException:
            os.close(self._handle)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._handle)

    @property
    def size(self) -> int:
        """Bytes of whole records in the file."""
        return self._size

    def append(self, record: ResultRecord) -> None:
        """Write a record; it is in the file for good when this returns, or the file is as it was before."""
        line = self._encoder.encode(record) + b"\n"
        try:
            written = os.write(self._handle, line)
            while written < len(line):
                written += os.write(self._handle, line[written:])
        except OSError as error:
            self.cut(self._size)
            raise write_error(self.path, error) from None
        self._size += len(line)

    def cut(self, size: int) -> None:
        """Take back what was appended beyond `size` bytes."""
        os.ftruncate(self._handle, size)
        self._size = size

    def records(self) -> Iterator[ResultRecord]:
        """The records in the file."""
        return (record for _, record in read(DataFile(self.path), ResultRecord))

    def drop_errors(self) -> int:
        """Replace the file, at once and whole, by one without its error records; returns how many there were."""
        dropped = 0
        with writing(self.path):
            handle, name = part_file(self.path)
            try:
                with os.fdopen(os.dup(handle), "wb", buffering=1 << 20) as stream:
                    for record in self.records():
                        if record.failed:
                            dropped += 1
                        else:
                            stream.write(self._encoder.encode(record) + b"\n")
                    stream.flush()
                    os.fsync(stream.fileno())
                fcntl.flock(handle, fcntl.LOCK_EX)  # before the new file has the name, so no other gets between
                os.fchmod(handle, os.fstat(self._handle).st_mode & 0o777)
                Path(name).replace(self.path)
            except BaseException:
                os.close(handle)
                Path(name).unlink(missing_ok=True)
                raise
        os.close(self._handle)
        self._handle = handle
        fcntl.fcntl(handle, fcntl.F_SETFL, os.O_APPEND)
        self._size = os.fstat(handle).st_size
        return dropped

    def _repair(self) -> None:
        """Complete a last line that only lacks its line feed; remove one that is torn."""
        size = os.fstat(self._handle).st_size
        start = size
        tail = b""
        while start and b"\n" not in tail:
            start = max(0, start - _TAIL_BYTES)
            tail = os.pread(self._handle, size - start, start)
        last = tail.rpartition(b"\n")[2]
        if not last:
            return
        try:
            msgspec.json.decode(last, type=ResultRecord)
        except (msgspec.DecodeError, UnicodeDecodeError):
            with writing(self.path):
                if size == len(last) and _is_json(last):
                    return  # a whole file of another kind: reading it says so, and nothing of it is lost
                os.ftruncate(self._handle, size - len(last))
        else:
            with writing(self.path):
                os.write(self._handle, b"\n")


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _open_and_lock(path: Path) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise StoreError(
                "another process is generating into this file",
                place=at(path),
                remedy="wait until it ends, or choose another --output-dir",
            ) from None
        try:
            if os.fstat(handle).st_ino == path.stat().st_ino:
                return handle
        except FileNotFoundError:
            pass
        os.close(handle)  # the file was replaced between opening and locking: take the new one
