"""Runs asynchronous work so that Ctrl-C and SIGTERM stop it cleanly."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import uvloop

from liftbay.cli.main import Terminated

Result = TypeVar("Result")
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SIGNALLED = 128  # what a shell adds to the number of the signal that ended a process
_NEW_OBJECTS = 3_000  # between two collections; those of many trials are alive at once, and none is garbage


def run_to_end(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """The result of `work()`.

    On SIGTERM and SIGHUP (a terminal that is closed) it is cancelled and `Terminated` is raised, on Ctrl-C
    `KeyboardInterrupt`. A second signal ends the process at once: an agent may not let itself be cancelled.
    """
    received: list[int] = []

    async def stoppable() -> Result:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def end(number: int, _frame: object) -> None:
            received.append(number)
            if len(received) > 1:
                os._exit(_SIGNALLED + number)
            loop.call_soon_threadsafe(task.cancel)

        for number in _ENDING:
            signal.signal(number, end)
        return await work()

    gc.freeze()  # what is loaded stays: the collector need not look at it again
    gc.set_threshold(_NEW_OBJECTS)
    gc.enable()
    before = {number: signal.getsignal(number) for number in _ENDING}
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(stoppable())
    except (asyncio.CancelledError, KeyboardInterrupt):
        if received and received[0] != signal.SIGINT:
            raise Terminated from None
        raise KeyboardInterrupt from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
