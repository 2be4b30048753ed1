"""Lead a store to the newest version of its schema.

Importing Alembic and SQLAlchemy takes 0.3 s, so it is left until a store of an older version is opened: a new SQLite
file is made from `migrations/new_sqlite.sql`, which is what the versions come to. `python -m liftbay.stores.migrate`
prints it; a test holds that it is fresh.
"""

from __future__ import annotations

import io
import sqlite3
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from liftbay.errors import StoreError
from liftbay.stores import statements

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

NEWEST = "0005"
VERSION_TABLE = "liftbay_version"
_PACKAGE = "liftbay.stores.migrations"


def migrate_sqlite(connection: sqlite3.Connection, path: Path) -> None:
    """Lead the file behind `connection` to the newest version; raises `StoreError` where it is of a newer liftbay."""
    if _version(connection) == NEWEST:
        return
    with statements.writing(connection):
        version = _version(connection)  # another process may have been faster
        if version is None:
            _make_tables(connection, path)
    if version not in (None, NEWEST):
        _upgrade_sqlite(path)


def _version(connection: sqlite3.Connection) -> str | None:
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (VERSION_TABLE,)).fetchone()
    if found is None:
        return None
    row: tuple[str] | None = connection.execute(statements.VERSION).fetchone()
    return None if row is None else row[0]


def _make_tables(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise StoreError(
            "this is a database of another program", place=str(path), remedy="name another file with --store"
        )
    script = resources.files(_PACKAGE).joinpath("new_sqlite.sql").read_text(encoding="utf-8")
    for statement in script.split(";\n"):
        connection.execute(statement)


def _upgrade_sqlite(path: Path) -> None:
    import sqlalchemy as sa  # noqa: PLC0415

    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(path)), isolation_level=None, connect_args={"isolation_level": None}
    )
    sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    try:
        with engine.begin() as connection:
            upgrade(connection, str(path))
    except sa.exc.DBAPIError as error:
        raise error.orig or error from None
    finally:
        engine.dispose()


def upgrade(connection: Connection, place: str) -> None:
    """Run the versions that the database behind `connection` lacks, in the transaction that it is in."""
    from alembic import command  # noqa: PLC0415
    from alembic.migration import MigrationContext  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    config = _config()
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    if not known.issuperset(context.get_current_heads()):
        raise StoreError(
            "this store was written by a newer liftbay",
            place=place,
            remedy="upgrade liftbay, or name another store with --store",
        )
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def sqlite_script() -> str:
    """The statements that make a new SQLite file, as the versions give them."""
    from alembic import command  # noqa: PLC0415

    config = _config()
    config.output_buffer = io.StringIO()
    config.attributes["dialect"] = "sqlite"
    command.upgrade(config, "head", sql=True)
    lines = config.output_buffer.getvalue().splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines if line.strip() and not line.startswith("--"))


def _config() -> Config:
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", "liftbay.stores:migrations")
    return config


if __name__ == "__main__":
    print(sqlite_script(), end="")  # noqa: T201 - what this module does as a command
