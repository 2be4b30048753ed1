"""A database that only this process sees, for what may grow beyond memory."""

from __future__ import annotations

import sqlite3

_CACHE_KIB = 2048


def open_private_database() -> sqlite3.Connection:
    """A temporary SQLite database, which spills to the disk and is gone when closed."""
    database = sqlite3.connect("", isolation_level=None)
    database.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    database.execute("PRAGMA synchronous = OFF")
    database.execute("PRAGMA journal_mode = OFF")
    return database
