"""Call plain functions without holding up the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any


async def in_daemon_thread(call: Callable[[], Any]) -> Any:
    """What the call returns or raises.

    The thread is a daemon of its own: a call that hangs keeps neither another call waiting nor the process from
    ending.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(returned: Any, error: BaseException | None) -> None:
        if future.done():  # nobody waits any more
            return
        if error is None:
            future.set_result(returned)
        else:
            future.set_exception(error)

    def work() -> None:
        returned: Any = None
        raised: BaseException | None = None
        try:
            returned = context.run(call)
        except StopIteration as error:  # a future cannot hold it
            raised = RuntimeError(f"StopIteration: {error}")
        except BaseException as error:
            raised = error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, returned, raised)

    threading.Thread(target=work, name="liftbay-agent", daemon=True).start()
    return await future
