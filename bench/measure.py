"""What the benches share: a process measured, a server started, the machine named, figures held against targets."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
BENCH = PROJECT / "bench"
DATA = PROJECT.parent / "shared/data/jmultiwoz_tc/dataset.zip"
LIFTBAY = (str(Path(sys.executable).with_name("liftbay")), "jmultiwoz")
TOOLS, INPUT, GROUND = "tools.json", "jmultiwoz_tc_input.jsonl", "jmultiwoz_tc_ground.jsonl"
LIBRARIES = ("liftbay", "aiohttp", "msgspec", "uvloop", "typer")

Command = Sequence[str | Path]

os.environ["no_proxy"] = "127.0.0.1"  # the servers of a bench are never behind a proxy


@dataclass(frozen=True)
class Usage:
    """What one process took: seconds by the clock and of the processor, and its largest resident size."""

    seconds: float
    user: float
    system: float
    peak_mib: float

    @property
    def cpu(self) -> float:
        """Processor seconds, user and system."""
        return self.user + self.system


def measured(command: Command) -> Usage:
    """Run a process to its end and measure it from outside. Raises `RuntimeError` where it fails.

    The kernel counts the parent's resident size at the fork into the child's peak, so a bench keeps its own small.
    """
    with tempfile.TemporaryFile() as complaints:
        begun = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=complaints)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            complaints.seek(0)
            text = complaints.read().decode("utf-8", "replace")
            raise RuntimeError(f"{command[0]} ended with {process.returncode}: {text}")
    return Usage(seconds, used.ru_utime, used.ru_stime, used.ru_maxrss / 1024)


@contextmanager
def server(command: Command) -> Iterator[str]:
    """Run a server that prints `listening on ADDRESS`; gives the address, and stops the server at the end."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.startswith("listening on "):
            raise RuntimeError(f"the server did not start: {command}")
        yield line.split()[2]
    finally:
        process.terminate()
        process.communicate()


def data_option(parser: ArgumentParser) -> None:
    """Add `--data`."""
    parser.add_argument("--data", type=Path, default=DATA, help="the benchmark's dataset.zip")


def unpacked(options: Namespace, folder: Path) -> Path:
    """Unpack the dataset into `folder`; ends the bench with exit code 2 where there is no dataset."""
    if not options.data.is_file():
        print(f"{options.data}: there is no such file; name the dataset.zip with --data", file=sys.stderr)
        raise SystemExit(2)
    with zipfile.ZipFile(options.data) as archive:
        for member in archive.infolist():
            member.filename = Path(member.filename).name
            if member.filename in (TOOLS, INPUT, GROUND):
                archive.extract(member, folder)
    return folder


@dataclass(frozen=True)
class Target:
    """A value that must not exceed its limit."""

    name: str
    value: float
    limit: float

    @property
    def met(self) -> bool:
        """Whether it does not."""
        return self.value <= self.limit

    def __str__(self) -> str:
        return f"{self.name}: {self.value:.4g}, target at most {self.limit:g}: {'met' if self.met else 'MISSED'}"


def median_and_range(values: Sequence[float], unit: str) -> str:
    """The median with the least and the greatest, as text."""
    return f"{statistics.median(values):.3f} {unit} ({min(values):.3f} to {max(values):.3f}, n = {len(values)})"


def print_machine() -> None:
    """Say where the figures come from."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"machine: {os.cpu_count()} cores, {_processor()}, {platform.system()} {platform.release()}; load {load}")
    print(f"python {platform.python_version()}; {libraries}", flush=True)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def conclude(bench: str, targets: Sequence[Target], figures: dict[str, Any]) -> int:
    """Print the targets and the line of JSON; returns the exit code."""
    met = all(target.met for target in targets)
    for target in targets:
        print(target)
    held = [asdict(target) | {"met": target.met} for target in targets]
    print(json.dumps({"bench": bench, "met": met, "targets": held, "figures": figures}, ensure_ascii=False))
    return 0 if met else 1
