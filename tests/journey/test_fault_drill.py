"""The drill of `bench/faults.py` in its short form."""

import subprocess
import sys
from pathlib import Path

DRILL = Path(__file__).resolve().parents[2] / "bench/faults.py"


def test_a_generator_that_is_killed_and_resumed_loses_nothing_and_asks_nothing_twice() -> None:
    command = [sys.executable, str(DRILL), "--records", "60", "--kills", "3", "--concurrency", "8"]
    drill = subprocess.run(command, capture_output=True, text=True, check=False)
    assert drill.returncode == 0, drill.stdout + drill.stderr
