"""Open the store that an address names."""

from __future__ import annotations

from pathlib import Path

from liftbay.errors import InputError, StoreError
from liftbay.stores.addresses import bad_address
from liftbay.stores.answers import Store
from liftbay.stores.memory import MemoryStore

_SQLITE = "sqlite:///"


async def open_store(url: str, *, create: bool = True) -> Store:
    """The store at `sqlite:///PATH` or `postgresql://…`, at the newest version of its schema.

    `sqlite:///:memory:` is gone with the process. Without `create`, a file that is missing is an `InputError`.
    """
    if url == f"{_SQLITE}:memory:":
        return MemoryStore()
    if url.startswith(_SQLITE) and len(url) > len(_SQLITE):
        return await _open_sqlite(Path(url.removeprefix(_SQLITE)), create=create)
    if url.startswith(("postgresql://", "postgres://")):
        from liftbay.stores.postgres import PostgresStore  # noqa: PLC0415 - an extra

        store = PostgresStore(url)
        await store.open()
        return store
    raise bad_address(url)


async def _open_sqlite(path: Path, *, create: bool) -> Store:
    from liftbay.stores.sqlite import SqliteStore  # noqa: PLC0415 - only one engine is needed

    if not create and not path.exists():  # noqa: ASYNC240 - at once, and before anything runs
        raise InputError(
            "there is no store", place=str(path), remedy="run liftbay run first, or name the store with --store"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            "the store cannot be opened: {why}",
            place=str(path),
            remedy="check that the folder may be written, or name another file with --store",
            why=error.strerror,
        ) from None
    store = SqliteStore(path)
    await store.open()
    return store
