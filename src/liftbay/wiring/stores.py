"""Stores by their address."""

from __future__ import annotations

from pathlib import Path

from liftbay.datasets.project import find_project
from liftbay.stores.answers import Store


async def store_of(url: str | None, *, create: bool = True) -> Store:
    """The store at `url`, or the project's; without `create` it must be there."""
    from liftbay.stores.open import open_store  # noqa: PLC0415 - SQLAlchemy takes its time to load

    return await open_store(url or find_project(Path.cwd()).store_url, create=create)
