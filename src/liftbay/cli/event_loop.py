"""Runs asynchronous work so that Ctrl-C and SIGTERM stop it cleanly."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import uvloop

from liftbay.cli.main import Terminated

Result = TypeVar("Result")
_NEW_OBJECTS = 20_000  # between two collections; those of many trials are alive at once, and none is garbage


def run_to_end(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """The result of `work()`.

    On SIGTERM and SIGHUP it is cancelled and `Terminated` is raised, on Ctrl-C `KeyboardInterrupt`.
    """
    terminated = False

    async def stoppable() -> Result:
        task = asyncio.current_task()
        assert task is not None

        def terminate() -> None:
            nonlocal terminated
            terminated = True
            task.cancel()

        for ending in (signal.SIGTERM, signal.SIGHUP):  # the latter where a terminal is closed
            asyncio.get_running_loop().add_signal_handler(ending, terminate)
        return await work()

    gc.freeze()  # what is loaded stays: the collector need not look at it again
    gc.set_threshold(_NEW_OBJECTS)
    gc.enable()
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(stoppable())
    except asyncio.CancelledError:
        if terminated:
            raise Terminated from None
        raise
