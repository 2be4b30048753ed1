"""Ends a process group when the process that started this one has gone, however it went.

    process_guard.py GROUP SECONDS

It reads from a pipe that only its parent writes to. The end of the pipe without a word means that the parent has
gone; a word before it means that there is nothing left to do. It is run as a file, and imports nothing of liftbay.
"""

import contextlib
import os
import signal
import sys
import time


def end_group(group: int, grace: float) -> None:
    """Ask a process group to end, and end it where it does not within `grace` seconds."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: permission, where only zombies are left
        os.killpg(group, signal.SIGTERM)
        until = time.monotonic() + grace
        while time.monotonic() < until:
            os.killpg(group, 0)
            time.sleep(0.05)
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__" and not sys.stdin.buffer.read():
    end_group(int(sys.argv[1]), float(sys.argv[2]))
