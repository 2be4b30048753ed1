"""The process of an agent that liftbay starts: its output, its end, and waiting until it is ready."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from liftbay.agents import process_guard
from liftbay.errors import AgentCrash, AgentUnreachable, InputError, Phrase

GRACE = 5.0  # seconds between asking a process group to end and ending it
_KEPT_LINES = 20
_KEPT_OF_A_LINE = 2_000  # bytes
_POLL = 0.05


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on; somebody else may take it before it is used."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class AgentProcess:
    """A process in a group of its own, which ends with liftbay, even where liftbay is killed.

    What it prints is read at once and only the last lines are kept, in memory.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path, place: str) -> None:
        """Start `command` in `folder`. Raises `InputError` where that cannot be."""
        try:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env=os.environ | environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise InputError(
                "the agent cannot be started: {why}", place=place, remedy="check [start] command", why=error
            ) from None
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", process_guard.__file__, str(self._process.pid), str(GRACE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in a terminal is not for it
        )
        self._lines: deque[bytes] = deque(maxlen=_KEPT_LINES)
        self._reader = threading.Thread(target=self._read, name="liftbay-agent-output", daemon=True)
        self._reader.start()

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.poll()

    def last_words(self) -> str:
        """The last lines that it printed."""
        if self.exit_code is not None:
            self._reader.join(0.5)  # what it printed last may be on its way
        return b"".join(list(self._lines)).decode("utf-8", "replace").rstrip()

    async def stop(self) -> None:
        """Ask the whole group to end, and end it where it does not within 5 s."""
        await asyncio.to_thread(self._stop)

    def _stop(self) -> None:
        if self._guard.returncode is not None:
            return  # it was stopped before
        group = self._process.pid
        until = time.monotonic() + GRACE
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGTERM)
            while time.monotonic() < until:
                self._process.poll()  # else it stays in its group for ever
                os.killpg(group, 0)
                time.sleep(_POLL)
            os.killpg(group, signal.SIGKILL)
        self._process.wait()
        with contextlib.suppress(OSError):
            self._guard.communicate(b"done")
        self._reader.join(1.0)

    def _read(self) -> None:
        with self._process.stdout or contextlib.nullcontext() as output:
            while output and (line := output.readline(_KEPT_OF_A_LINE)):
                self._lines.append(line)


async def wait_until_ready(
    probe: Callable[[], Awaitable[str | None]],
    process: AgentProcess | None,
    *,
    seconds: float,
    place: str,
    hide: Callable[[str], str],
) -> None:
    """Ask `probe` until it says None, and not why the agent is not ready.

    Raises `AgentCrash` where the process ends first, and `AgentUnreachable` after `seconds`.
    """
    until = time.monotonic() + seconds
    why: str = Phrase("no answer")
    while (left := until - time.monotonic()) > 0:
        try:
            async with asyncio.timeout(left):
                answer = await probe()
        except TimeoutError:
            break
        if answer is None:
            return
        why = answer
        if process is not None and process.exit_code is not None:
            raise ended(process, place, hide)
        await asyncio.sleep(min(_POLL, left))
    if process is None:
        raise AgentUnreachable(
            "the agent is not ready after {seconds:g} s: {why}",
            place=place,
            remedy="start the agent, or let liftbay start it with [start] command",
            seconds=seconds,
            why=why,
        )
    raise AgentUnreachable(
        "the agent is not ready after {seconds:g} s: {why}; it printed: {log}",
        place=place,
        remedy="raise timeout under [ready], or see why it does not listen there",
        seconds=seconds,
        why=why,
        log=hide(process.last_words()) or "-",
    )


def ended(process: AgentProcess, place: str, hide: Callable[[str], str]) -> AgentCrash:
    """The error that an ended process is; no other try helps, since nobody starts it again."""
    error = AgentCrash(
        "the agent's process has ended with exit code {code}; it printed: {log}",
        place=place,
        remedy="check [start] command and [start.env]",
        code=process.exit_code,
        log=hide(process.last_words()) or "-",
    )
    error.retry_may_help = False
    return error
