"""Sets of ids that stay small in memory however many there are."""

from __future__ import annotations

from liftbay.datasets.private_database import open_private_database


class IdIndex:
    """A set of ids in a private database."""

    def __init__(self) -> None:
        self._database = open_private_database()
        self._database.execute("CREATE TABLE ids (id TEXT PRIMARY KEY) WITHOUT ROWID")
        self._database.execute("BEGIN")

    def close(self) -> None:
        """Give the memory and the disk space back."""
        self._database.close()

    def add(self, id_: str) -> bool:
        """Add an id; False where it was there already."""
        return self._database.execute("INSERT OR IGNORE INTO ids VALUES (?)", (id_,)).rowcount == 1

    def discard(self, id_: str) -> bool:
        """Take an id out; False where it was not there."""
        return self._database.execute("DELETE FROM ids WHERE id = ?", (id_,)).rowcount == 1

    def __contains__(self, id_: str) -> bool:
        return self._database.execute("SELECT 1 FROM ids WHERE id = ?", (id_,)).fetchone() is not None
