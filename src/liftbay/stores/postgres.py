"""Runs, results and answers of judges in a PostgreSQL database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from liftbay.domain.result import CaseResult, RunRecord
from liftbay.errors import MissingExtra, StoreError
from liftbay.ports import ResultPage
from liftbay.stores import statements
from liftbay.stores.addresses import bad_address, without_secrets
from liftbay.stores.coding import (
    BEFORE_ALL,
    Key,
    Row,
    listed,
    numbered,
    result_of,
    result_with_spans,
    rows_of,
    run_of,
    text_of,
)
from liftbay.stores.faults import no_run, run_exists
from liftbay.stores.migrate import NEWEST, VERSION_TABLE, upgrade

try:
    import asyncpg
except ModuleNotFoundError:
    raise MissingExtra(extra="postgres") from None

_CHUNK_ROWS = 32
_CONNECTIONS = 4
_SECONDS_TO_CONNECT = 10.0
_SECONDS_TO_CLOSE = 5.0
_KEEP_ANSWERS = (
    "INSERT INTO judge_answers (key, content) SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT (key) DO NOTHING"
)
_MIGRATING = 0x6C696674  # the key of the lock that lets one process at a time change the tables


class PostgresStore:
    """A `Store` in a database. Several processes may use it at once."""

    def __init__(self, url: str, *, seconds_for_statement: float = 60.0) -> None:
        self._url = url
        self._place = without_secrets(url)
        self._seconds = seconds_for_statement
        self._pool: Any = None

    async def open(self) -> None:
        """Connect, and lead the tables to the newest version."""
        with self._errors():
            try:
                # None are kept open at the least, since asyncpg logs a traceback where it cannot have them.
                self._pool = await asyncpg.create_pool(
                    self._url,
                    min_size=0,
                    max_size=_CONNECTIONS,
                    timeout=_SECONDS_TO_CONNECT,
                    command_timeout=self._seconds,
                )
                if await self._version() != NEWEST:
                    await self._migrate()
            except BaseException:
                await self.close()
                raise

    async def add_run(self, run: RunRecord) -> None:
        """Keep a new run."""
        values = (run.id, run.state.value, run.submitted, text_of(run))
        with self._errors():
            try:
                await self._pool.execute(statements.ADD_RUN, *values)
            except asyncpg.UniqueViolationError:
                raise run_exists(run.id) from None

    async def update_run(self, run: RunRecord) -> None:
        """Replace what is kept of a run."""
        values = (run.state.value, run.submitted, text_of(run), run.id)
        with self._errors():
            if await self._pool.execute(statements.UPDATE_RUN, *values) != "UPDATE 1":
                raise no_run(run.id)

    async def run(self, run_id: str) -> RunRecord | None:
        """A run, or None."""
        rows = await self._read(statements.RUN, run_id)
        return run_of(rows[0][0]) if rows else None

    async def runs(self, *, limit: int = 50, offset: int = 0) -> list[RunRecord]:
        """Runs, the newest first."""
        return [run_of(text) for (text,) in await self._read(statements.RUNS, limit, offset)]

    async def remove_run(self, run_id: str) -> bool:
        """Forget a run and its results; False where there was none."""
        with self._errors():
            return bool(await self._pool.execute(statements.REMOVE_RUN, run_id) == "DELETE 1")

    async def add_results(self, run_id: str, results: Iterable[CaseResult]) -> None:
        """Keep finished trials, all or none; a trial that is kept already is left as it is."""
        rows = await asyncio.to_thread(rows_of, results)
        with self._errors():
            async with self._pool.acquire() as connection, connection.transaction():
                # The run is locked, so that no other process numbers its results meanwhile.
                found = await connection.fetchrow(f"{statements.NUMBER_AND_COUNT} FOR UPDATE", run_id)
                if found is None:
                    raise no_run(run_id)
                number, count = found
                try:
                    async with connection.transaction():
                        await _insert(connection, rows, number, count)
                except asyncpg.UniqueViolationError:
                    kept = {tuple(key) for key in await connection.fetch(statements.KEYS, run_id)}
                    rows = [row for row in rows if row.key not in kept]
                    await _insert(connection, rows, number, count)
                await connection.execute(statements.SET_COUNT, count + len(rows), number)

    async def done(self, run_id: str) -> set[Key]:
        """The keys of the trials that are kept."""
        return {(kind, case_id, trial) for kind, case_id, trial in await self._read(statements.KEYS, run_id)}

    async def results(self, run_id: str) -> AsyncIterator[CaseResult]:
        """All results of a run with their traces but without spans, streamed, ordered by type, case and trial."""
        after = BEFORE_ALL
        while rows := await self._read(statements.RESULTS_AFTER, run_id, *after, _CHUNK_ROWS):
            for *_, content in rows:
                yield result_of(content)
            after = (rows[-1][0], rows[-1][1], rows[-1][2])

    async def page(self, run_id: str, *, limit: int = 50, offset: int = 0) -> ResultPage:
        """A page of results."""
        found = await self._read(statements.NUMBER_AND_COUNT, run_id)
        if not found:
            return ResultPage([], 0)
        number, total = found[0]
        rows = await self._read(statements.PAGE, number, offset, min(offset + limit, total))
        return ResultPage([listed(row) for row in rows], total)

    async def result(self, run_id: str, dataset_type: str, case_id: str, trial: int) -> CaseResult | None:
        """One result with its trace and its spans, or None."""
        rows = await self._read(statements.RESULT, run_id, dataset_type, case_id, trial)
        return result_with_spans(*rows[0]) if rows else None

    async def set_baseline(self, name: str, run_id: str) -> None:
        """Let a name mean a run, in place of what it meant; the run must be there."""
        with self._errors():
            if await self._pool.execute(statements.SET_BASELINE, name, run_id) != "INSERT 0 1":
                raise no_run(run_id)

    async def remove_baseline(self, name: str) -> bool:
        """Forget a name; False where there was none. The run stays."""
        with self._errors():
            return bool(await self._pool.execute(statements.REMOVE_BASELINE, name) == "DELETE 1")

    async def baseline(self, name: str) -> str | None:
        """The id of the run that a name means, or None."""
        rows = await self._read(statements.BASELINE, name)
        return rows[0][0] if rows else None

    async def baselines(self) -> list[tuple[str, str]]:
        """All names with the ids of their runs, ordered by name."""
        return [(name, run) for name, run in await self._read(statements.BASELINES)]

    async def cached(self, key: str) -> str | None:
        """The answer of a judge that was kept under the key, or None."""
        rows = await self._read(statements.ANSWER, key)
        return rows[0][0] if rows else None

    async def keep(self, key: str, answer: str) -> None:
        """Keep an answer of a judge; what is there already stays."""
        with self._errors():
            await self._pool.execute(statements.KEEP_ANSWER, key, answer)

    async def answers(self) -> AsyncIterator[tuple[str, str]]:
        """All keys with their answers, streamed, ordered by key."""
        after = ""
        while rows := await self._read(statements.ANSWERS_AFTER, after, _CHUNK_ROWS):
            for key, answer in rows:
                yield key, answer
            after = rows[-1][0]

    async def keep_all(self, answers: Iterable[tuple[str, str]]) -> int:
        """Keep answers of judges, all or none; what is there already stays. Returns how many are new."""
        pairs = list(answers)
        with self._errors():
            done = await self._pool.execute(_KEEP_ANSWERS, *([pair[side] for pair in pairs] for side in (0, 1)))
        return int(done.rpartition(" ")[2])

    async def close(self) -> None:
        """Give back connections."""
        if self._pool is not None:
            try:
                await asyncio.wait_for(self._pool.close(), _SECONDS_TO_CLOSE)
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                self._pool.terminate()

    async def _read(self, statement: str, *values: object) -> list[Any]:
        with self._errors():
            found: list[Any] = await self._pool.fetch(statement, *values)
        return found

    async def _version(self) -> str | None:
        if await self._pool.fetchval("SELECT to_regclass($1)", VERSION_TABLE) is None:
            return None
        version: str | None = await self._pool.fetchval(statements.VERSION)
        return version

    async def _migrate(self) -> None:
        import sqlalchemy as sa  # noqa: PLC0415
        from sqlalchemy.ext.asyncio import create_async_engine  # noqa: PLC0415
        from sqlalchemy.pool import NullPool  # noqa: PLC0415

        engine = create_async_engine(
            "postgresql+asyncpg://",
            poolclass=NullPool,
            async_creator=lambda: asyncpg.connect(self._url, timeout=_SECONDS_TO_CONNECT),
        )
        try:
            async with engine.begin() as connection:
                await connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_MIGRATING})"))
                await connection.run_sync(upgrade, self._place)
        except sa.exc.DBAPIError as error:
            raise (error.orig and error.orig.__cause__) or error from None

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn what the driver raises into an error of liftbay's."""
        try:
            yield
        except asyncpg.InternalClientError as error:  # what rolling back over a lost connection makes of the loss
            raise _explained(error.__context__ or error, self._place) from None
        except asyncpg.ClientConfigurationError:  # its words may hold parts of a password
            raise bad_address(self._url) from None
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise _explained(error, self._place) from None
        except ValueError:  # a port that is no number
            raise bad_address(self._url) from None


async def _insert(connection: Any, rows: list[Row], run: int, count: int) -> None:
    results, spans = numbered(rows, run, count)
    await connection.executemany(statements.ADD_RESULT, results)
    await connection.executemany(statements.ADD_SPANS, spans)


def _explained(error: BaseException, place: str) -> StoreError:
    why = error if str(error) else type(error).__name__
    match error:
        case ValueError():  # of asyncpg's: a value that the column cannot hold
            return StoreError("the store failed: {why}", place=place, why=why)
        case asyncpg.DiskFullError():
            return StoreError(
                "the store cannot grow: the disk is full",
                place=place,
                remedy="make room on the disk and run the same command again",
            )
        case asyncpg.InvalidAuthorizationSpecificationError() | asyncpg.InvalidCatalogNameError():
            return StoreError(
                "the store lets nobody in: {why}",
                place=place,
                remedy="check user, password and database in the address of --store",
                why=why,
            )
        case asyncpg.InsufficientPrivilegeError() | asyncpg.ReadOnlySQLTransactionError():
            return StoreError(
                "the store cannot be written: {why}",
                place=place,
                remedy="name a user of the database who may write and make tables",
                why=why,
            )
        case (
            OSError()
            | asyncpg.InternalClientError()
            | asyncpg.InterfaceError()
            | asyncpg.PostgresConnectionError()
            | asyncpg.OperatorInterventionError()
            | asyncpg.TooManyConnectionsError()
        ):
            return StoreError(
                "the store cannot be reached: {why}",
                place=place,
                remedy="check that PostgreSQL runs there, and run the same command again",
                why=why,
            )
    return StoreError("the store failed: {why}", place=place, why=why)
