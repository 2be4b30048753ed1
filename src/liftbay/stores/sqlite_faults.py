"""What SQLite raises, as errors of liftbay's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from liftbay.errors import StoreError

_CAUSES = {
    sqlite3.SQLITE_BUSY: "the store is locked by another process",
    sqlite3.SQLITE_LOCKED: "the store is locked by another process",
    sqlite3.SQLITE_FULL: "the store cannot grow: the disk is full",
    sqlite3.SQLITE_IOERR: "the store cannot be read or written: {why}",
    sqlite3.SQLITE_CANTOPEN: "the store cannot be opened: {why}",
    sqlite3.SQLITE_READONLY: "the store cannot be written: {why}",
    sqlite3.SQLITE_NOTADB: "this is not an SQLite file",
    sqlite3.SQLITE_CORRUPT: "the store is damaged: {why}",
}
_REMEDIES = {
    sqlite3.SQLITE_BUSY: "end the process that holds it and run the same command again",
    sqlite3.SQLITE_LOCKED: "end the process that holds it and run the same command again",
    sqlite3.SQLITE_FULL: "make room on the disk and run the same command again",
    sqlite3.SQLITE_IOERR: "make room on the disk, check that it is sound, and run the same command again",
    sqlite3.SQLITE_CANTOPEN: "check that the folder may be written, or name another file with --store",
    sqlite3.SQLITE_READONLY: "check that the file and its folder may be written, or name another file with --store",
    sqlite3.SQLITE_NOTADB: "name another file with --store",
    sqlite3.SQLITE_CORRUPT: "restore the file from a copy, or name another file with --store",
}


@contextmanager
def errors(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into an error of liftbay's."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code not in _CAUSES:
            raise StoreError("the store failed: {why}", place=str(path), why=error) from error
        raise StoreError(_CAUSES[code], place=str(path), remedy=_REMEDIES[code], why=error) from None
