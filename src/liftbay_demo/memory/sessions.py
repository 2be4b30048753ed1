"""Short-term memory: the last turns and the profile of each session, in a SQLite file."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec

from liftbay_demo.domain import Dialogue

WINDOW = 6
_CACHED = 5000  # sessions; others are read again
_TABLE = "CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, dialogue BLOB NOT NULL)"
_UPSERT = "INSERT INTO sessions VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET dialogue = excluded.dialogue"
_AGAIN_SECONDS = 1.0

Result = TypeVar("Result")


class SessionStore:
    """Gives back what was said in a session, and writes it to disk behind the answer."""

    def __init__(self, file: Path, window: int = WINDOW) -> None:
        self._window = window
        self._file = file
        # SQLite is used in this one thread only
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sessions")
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._cache: OrderedDict[str, Dialogue] = OrderedDict()
        self._unwritten: dict[str, Dialogue] = {}
        self._writing: dict[str, Dialogue] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._busy: defaultdict[str, int] = defaultdict(int)
        self._wake = asyncio.Event()
        self._closing = False
        self._writer: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open the file and start to write."""
        await self._in_thread(self._connect)
        self._writer = asyncio.create_task(self._write_behind())

    async def close(self) -> None:
        """Write what is not written yet, and close the file."""
        self._closing = True
        self._wake.set()
        if self._writer is not None:
            await self._writer
        await self._in_thread(self._connection.close)
        self._thread.shutdown()

    @contextlib.asynccontextmanager
    async def turn_of(self, session: str) -> AsyncIterator[None]:
        """One turn of a session at a time."""
        self._busy[session] += 1
        try:
            async with self._locks[session]:
                yield
        finally:
            self._busy[session] -= 1
            if not self._busy[session]:
                del self._busy[session]
                del self._locks[session]

    async def recall(self, session: str) -> Dialogue:
        """What was said in the session, as far as the window reaches."""
        found = self._cache.get(session)
        if found is None:
            found = await self._in_thread(lambda: self._read(session))
        return self._windowed(found or Dialogue())

    async def remember(self, session: str, dialogue: Dialogue) -> None:
        """Keep the session as it is now."""
        dialogue = self._windowed(dialogue)
        self._cache[session] = self._unwritten[session] = dialogue
        self._cache.move_to_end(session)
        self._wake.set()
        while len(self._cache) > _CACHED:
            oldest = next(iter(self._cache))
            if oldest in self._unwritten or oldest in self._writing:
                break
            del self._cache[oldest]

    async def settled(self, session: str) -> bool | None:
        """Whether all of the session is on disk; None where there is no such session."""
        if session in self._busy or session in self._unwritten or session in self._writing:
            return False
        if session in self._cache or await self._in_thread(lambda: self._read(session)) is not None:
            return True
        return None

    def _windowed(self, dialogue: Dialogue) -> Dialogue:
        return msgspec.structs.replace(dialogue, turns=dialogue.turns[-self._window :] if self._window else ())

    async def _write_behind(self) -> None:
        while not (self._closing and not self._unwritten):
            await self._wake.wait()
            self._wake.clear()
            self._writing, self._unwritten = self._unwritten, {}
            try:
                await self._in_thread(self._write)
            except sqlite3.Error:
                self._unwritten = self._writing | self._unwritten
                if self._closing:
                    raise
                await asyncio.sleep(_AGAIN_SECONDS)
                self._wake.set()
            self._writing = {}

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _connect(self) -> None:
        self._connection.close()
        self._connection = sqlite3.connect(self._file, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute(_TABLE)

    def _read(self, session: str) -> Dialogue | None:
        row = self._connection.execute("SELECT dialogue FROM sessions WHERE id = ?", (session,)).fetchone()
        return None if row is None else msgspec.json.decode(row[0], type=Dialogue)

    def _write(self) -> None:
        rows = [(session, msgspec.json.encode(dialogue)) for session, dialogue in self._writing.items()]
        self._connection.execute("BEGIN")
        try:
            self._connection.executemany(_UPSERT, rows)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
