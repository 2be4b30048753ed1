"""Which cases were seen, and the versions of the datasets that they make."""

from __future__ import annotations

import hashlib

from liftbay.datasets.case_lines import CaseDigest
from liftbay.datasets.private_database import open_private_database
from liftbay.domain.case import Case
from liftbay.domain.result import DatasetVersion
from liftbay.domain.vocabulary import DatasetType


class CaseIndex:
    """The ids and digests of cases by dataset type; memory does not grow with them."""

    def __init__(self) -> None:
        self._digest = CaseDigest()
        self._database = open_private_database()
        self._database.execute(
            "CREATE TABLE cases (type TEXT, id TEXT, digest BLOB, source INTEGER, line INTEGER,"
            " PRIMARY KEY (type, id)) WITHOUT ROWID"
        )
        self._database.execute("BEGIN")

    def close(self) -> None:
        """Give the memory and the disk space back."""
        self._database.close()

    def add(self, case: Case, source: int, line: int) -> tuple[int, int] | None:
        """Add a case; where its id is there already: the source and the line of that, which stays."""
        row = (case.dataset_type.value, case.id, self._digest(case), source, line)
        if self._database.execute("INSERT OR IGNORE INTO cases VALUES (?, ?, ?, ?, ?)", row).rowcount == 1:
            return None
        found: tuple[int, int] = self._database.execute(
            "SELECT source, line FROM cases WHERE type = ? AND id = ?", row[:2]
        ).fetchone()
        return found

    def sources(self, type_: DatasetType) -> list[int]:
        """The sources that hold cases of a type."""
        query = "SELECT DISTINCT source FROM cases WHERE type = ? ORDER BY source"
        return [source for (source,) in self._database.execute(query, (type_.value,))]

    def versions(self, names: list[str]) -> list[DatasetVersion]:
        """The datasets that there are; `names` are those of the sources.

        A version is the SHA-256 over the digests of the cases in the order of their ids, so that neither the order
        of lines and files nor white space or the order of keys changes it.
        """
        versions = []
        for type_ in DatasetType:
            whole, count = hashlib.sha256(), 0
            for (digest,) in self._database.execute(
                "SELECT digest FROM cases WHERE type = ? ORDER BY id", (type_.value,)
            ):
                whole.update(digest)
                count += 1
            if count:
                sources = [names[source] for source in self.sources(type_)]
                versions.append(DatasetVersion(type_, whole.hexdigest(), count, sources))
        return versions
