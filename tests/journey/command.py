"""Run the command as a user does: in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

LIFTBAY = (sys.executable, "-m", "liftbay")
ROOT = Path(__file__).resolve().parents[2]
# Optional data beside the project; tests that need it skip where it is absent.
DATASET = ROOT.parent / "shared" / "data" / "jmultiwoz_tc" / "dataset.zip"


def environment(**changes: str) -> dict[str, str]:
    """The environment without what would change messages or routes, with `changes`."""
    dropped = ("LANG", "LC_ALL", "LC_MESSAGES", "HTTP_PROXY", "http_proxy", "LIFTBAY_OPENAI_API_KEY")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return kept | {"PYTHONWARNINGS": "error"} | changes


def printed_by(script: Path, timeout: float = 60) -> str:
    """What a script of this working copy prints, which has to end well."""
    result = subprocess.run(
        [sys.executable, script], env=environment(), capture_output=True, text=True, timeout=timeout, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def liftbay(
    *arguments: object, cwd: Path | None = None, timeout: float = 60, prefix: tuple[str, ...] = (), **changes: str
) -> subprocess.CompletedProcess[str]:
    """Run `liftbay` to its end; `prefix` is a command that runs it."""
    return subprocess.run(
        [*prefix, *LIFTBAY, *map(str, arguments)],
        cwd=cwd,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def write_lines(path: Path, records: list[dict[str, Any]]) -> Path:
    """Write JSON Lines."""
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
