"""Runs, results and answers of judges in an SQLite file."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from liftbay.domain.result import CaseResult, RunRecord
from liftbay.ports import ResultPage
from liftbay.stores import statements
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
from liftbay.stores.migrate import migrate_sqlite
from liftbay.stores.sqlite_faults import errors
from liftbay.stores.statements import sqlite

T = TypeVar("T")

_CHUNK_ROWS = 256
_CHUNK_BYTES = 4 << 20


class _Line:
    """A connection to the file with the one thread that uses it, so that the event loop is not held up."""

    def __init__(self, path: Path, busy_timeout: float) -> None:
        self._path = path
        self._busy_timeout = busy_timeout
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="liftbay-store")

    async def open(self) -> None:
        def connect() -> None:
            self._connection = sqlite3.connect(self._path, timeout=self._busy_timeout, isolation_level=None)
            _use_wal(self._connection, self._busy_timeout)
            # As cheap as NORMAL in commits of many rows, and a row that is committed outlives a power cut.
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA foreign_keys = ON")

        await self._in_thread(connect)

    async def do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._in_thread(lambda: work(self._connection))

    async def close(self) -> None:
        if hasattr(self, "_connection"):
            await self._in_thread(self._connection.close)
            del self._connection
        self._thread.shutdown()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        with errors(self._path):
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)


class SqliteStore:
    """A `Store` in a file; one thread writes and one reads. Several processes may use the file at once."""

    def __init__(self, path: Path, *, busy_timeout: float = 10.0) -> None:
        self._path = path
        self._writer = _Line(path, busy_timeout)
        self._reader = _Line(path, busy_timeout)

    async def open(self) -> None:
        """Make the file where it is missing, and lead it to the newest version."""
        try:
            await self._writer.open()
            await self._writer.do(lambda connection: migrate_sqlite(connection, self._path))
            await self._reader.open()
        except BaseException:
            await self.close()
            raise

    async def add_run(self, run: RunRecord) -> None:
        """Keep a new run."""

        def work(connection: sqlite3.Connection) -> None:
            try:
                connection.execute(sqlite(statements.ADD_RUN), (run.id, run.state.value, run.submitted, text_of(run)))
            except sqlite3.IntegrityError:
                raise run_exists(run.id) from None

        await self._writer.do(work)

    async def update_run(self, run: RunRecord) -> None:
        """Replace what is kept of a run."""
        values = (run.state.value, run.submitted, text_of(run), run.id)
        if not await self._changed(statements.UPDATE_RUN, *values):
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
        return bool(await self._changed(statements.REMOVE_RUN, run_id))

    async def add_results(self, run_id: str, results: Iterable[CaseResult]) -> None:
        """Keep finished trials, all or none; a trial that is kept already is left as it is."""
        rows = rows_of(results)
        await self._writer.do(lambda connection: _add_results(connection, run_id, rows))

    async def done(self, run_id: str) -> set[Key]:
        """The keys of the trials that are kept."""
        return set(await self._read(statements.KEYS, run_id))

    async def results(self, run_id: str) -> AsyncIterator[CaseResult]:
        """All results of a run with their traces but without spans, streamed, ordered by type, case and trial."""
        after: Key | None = BEFORE_ALL
        while after is not None:
            contents, after = await self._reader.do(_chunk(run_id, after))
            for content in contents:
                yield result_of(content)

    async def page(self, run_id: str, *, limit: int = 50, offset: int = 0) -> ResultPage:
        """A page of results."""

        def work(connection: sqlite3.Connection) -> tuple[list[Any], int]:
            found = connection.execute(sqlite(statements.NUMBER_AND_COUNT), (run_id,)).fetchone()
            if found is None:
                return [], 0
            number, total = found
            return connection.execute(
                sqlite(statements.PAGE), (number, offset, min(offset + limit, total))
            ).fetchall(), total

        rows, total = await self._reader.do(work)
        return ResultPage([listed(row) for row in rows], total)

    async def result(self, run_id: str, dataset_type: str, case_id: str, trial: int) -> CaseResult | None:
        """One result with its trace and its spans, or None."""
        rows = await self._read(statements.RESULT, run_id, dataset_type, case_id, trial)
        return result_with_spans(*rows[0]) if rows else None

    async def set_baseline(self, name: str, run_id: str) -> None:
        """Let a name mean a run, in place of what it meant; the run must be there."""
        if not await self._changed(statements.SET_BASELINE, name, run_id):
            raise no_run(run_id)

    async def remove_baseline(self, name: str) -> bool:
        """Forget a name; False where there was none. The run stays."""
        return bool(await self._changed(statements.REMOVE_BASELINE, name))

    async def baseline(self, name: str) -> str | None:
        """The id of the run that a name means, or None."""
        rows = await self._read(statements.BASELINE, name)
        return rows[0][0] if rows else None

    async def baselines(self) -> list[tuple[str, str]]:
        """All names with the ids of their runs, ordered by name."""
        return await self._read(statements.BASELINES)

    async def cached(self, key: str) -> str | None:
        """The answer of a judge that was kept under the key, or None."""
        rows = await self._read(statements.ANSWER, key)
        return rows[0][0] if rows else None

    async def keep(self, key: str, answer: str) -> None:
        """Keep an answer of a judge; what is there already stays."""
        await self._writer.do(lambda connection: connection.execute(sqlite(statements.KEEP_ANSWER), (key, answer)))

    async def answers(self) -> AsyncIterator[tuple[str, str]]:
        """All keys with their answers, streamed, ordered by key."""
        after = ""
        while rows := await self._read(statements.ANSWERS_AFTER, after, _CHUNK_ROWS):
            for key, answer in rows:
                yield key, answer
            after = rows[-1][0]

    async def keep_all(self, answers: Iterable[tuple[str, str]]) -> int:
        """Keep answers of judges, all or none; what is there already stays. Returns how many are new."""

        def work(connection: sqlite3.Connection) -> int:
            with statements.writing(connection):
                return connection.executemany(sqlite(statements.KEEP_ANSWER), answers).rowcount

        return await self._writer.do(work)

    async def close(self) -> None:
        """Give back connections."""
        await self._reader.close()
        await self._writer.close()

    async def _changed(self, statement: str, *values: object) -> int:
        """How many rows a statement that writes has changed."""
        return await self._writer.do(lambda connection: connection.execute(sqlite(statement), values).rowcount)

    async def _read(self, statement: str, *values: object) -> list[Any]:
        return await self._reader.do(lambda connection: connection.execute(sqlite(statement), values).fetchall())


def _use_wal(connection: sqlite3.Connection, seconds: float) -> None:
    """Let readers go on beside the writer. SQLite does not wait by itself where others change the file to it too."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def _add_results(connection: sqlite3.Connection, run_id: str, rows: list[Row]) -> None:
    with statements.writing(connection):
        found = connection.execute(sqlite(statements.NUMBER_AND_COUNT), (run_id,)).fetchone()
        if found is None:
            raise no_run(run_id)
        number, count = found
        connection.execute("SAVEPOINT fresh")
        try:
            _insert(connection, rows, number, count)
        except sqlite3.IntegrityError:
            connection.execute("ROLLBACK TO fresh")
            kept = set(connection.execute(sqlite(statements.KEYS), (run_id,)))
            rows = [row for row in rows if row.key not in kept]
            _insert(connection, rows, number, count)
        connection.execute(sqlite(statements.SET_COUNT), (count + len(rows), number))


_ROWS_AT_ONCE = 64
_ADD_MANY = sqlite(statements.ADD_RESULT) + ", (?, ?, ?, ?, ?, ?, ?, ?, ?)" * (_ROWS_AT_ONCE - 1)


def _insert(connection: sqlite3.Connection, rows: list[Row], run: int, count: int) -> None:
    """Many rows a statement: each statement gives the interpreter's lock away and has to get it back."""
    results, spans = numbered(rows, run, count)
    whole = len(results) // _ROWS_AT_ONCE * _ROWS_AT_ONCE
    for first in range(0, whole, _ROWS_AT_ONCE):
        connection.execute(_ADD_MANY, tuple(itertools.chain.from_iterable(results[first : first + _ROWS_AT_ONCE])))
    connection.executemany(sqlite(statements.ADD_RESULT), results[whole:])
    connection.executemany(sqlite(statements.ADD_SPANS), spans)


def _chunk(run_id: str, after: Key) -> Callable[[sqlite3.Connection], tuple[list[bytes], Key | None]]:
    """Contents after a key, few where they are large, and the key to go on after; None at the end."""

    def work(connection: sqlite3.Connection) -> tuple[list[bytes], Key | None]:
        contents: list[bytes] = []
        size = 0
        cursor = connection.execute(sqlite(statements.RESULTS_AFTER), (run_id, *after, _CHUNK_ROWS))
        for *key, content in cursor:
            contents.append(content)
            size += len(content)
            if size >= _CHUNK_BYTES or len(contents) == _CHUNK_ROWS:
                cursor.close()
                return contents, (key[0], key[1], key[2])
        return contents, None

    return work
