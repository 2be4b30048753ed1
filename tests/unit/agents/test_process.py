"""The process of an agent: it is waited for, its output is kept in part, and it ends with liftbay however that ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from places import synchronous

from liftbay.agents import process as agent_process
from liftbay.agents.process import AgentProcess, free_port, wait_until_ready
from liftbay.errors import AgentCrash, AgentUnreachable, InputError

PLACE = "a.toml: start.command"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
FAMILY = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {STUBBORN!r}], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(60)
"""


@asynccontextmanager
async def running(code: str, **environment: str) -> AsyncIterator[AgentProcess]:
    """A Python process, ended at the end."""
    process = AgentProcess([sys.executable, "-c", code], environment, Path.cwd(), PLACE)
    try:
        yield process
    finally:
        await process.stop()


async def until(condition: Callable[[], object]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


@synchronous
async def test_it_gets_its_environment_and_its_output_is_kept() -> None:
    code = "import os, sys; print(os.environ['SHOP'], flush=True); print('wrong', file=sys.stderr); sys.exit(3)"
    async with running(code, SHOP="open") as process:
        await until(lambda: process.exit_code is not None)
        assert process.exit_code == 3
        assert process.last_words() == "open\nwrong"


@synchronous
async def test_of_much_output_the_end_is_kept_and_nothing_waits() -> None:
    code = "for n in range(50_000): print(f'line {n} ' + 'x' * 100)\nprint('y' * 10_000_000)\nprint('end')"
    async with running(code) as process:
        await until(lambda: process.exit_code is not None)
        assert process.exit_code == 0
        words = process.last_words()
    assert words.endswith("y\nend")
    assert len(words) < 50_000


@pytest.mark.parametrize("command", [["liftbay-no-such-command"], ["/"], ["a\0b"]])
def test_what_cannot_be_started(command: list[str]) -> None:
    with pytest.raises(InputError, match="the agent cannot be started: ") as caught:
        AgentProcess(command, {}, Path.cwd(), PLACE)
    assert (caught.value.place, caught.value.remedy) == (PLACE, "check [start] command")


@synchronous
async def test_it_is_asked_to_end() -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('bye', flush=True), sys.exit(0)))\n"
        "print('up', flush=True); time.sleep(60)"
    )
    async with running(code) as process:
        await until(process.last_words)
        begun = time.perf_counter()
        await process.stop()
        assert time.perf_counter() - begun < 2
        assert (process.exit_code, process.last_words()) == (0, "up\nbye")


@synchronous
async def test_the_whole_group_ends_even_what_does_not_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_process, "GRACE", 0.3)
    async with running(FAMILY) as process:
        await until(process.last_words)
        child = int(process.last_words())
        assert is_alive(child)
        await process.stop()
        assert process.exit_code == -signal.SIGTERM
    await until(lambda: not is_alive(child))


OWNER = f"""
import os, sys, time
from pathlib import Path
from liftbay.agents import process
process.GRACE = 0.3
agent = process.AgentProcess([sys.executable, "-c", {FAMILY!r}], {{}}, Path.cwd(), "place")
while not (child := agent.last_words()):
    time.sleep(0.01)
print(agent._process.pid, child, flush=True)
ENDING
"""


@pytest.mark.parametrize("ending", ["time.sleep(60)", "sys.exit(0)", "os._exit(1)"])
@synchronous
async def test_it_ends_when_liftbay_does(ending: str) -> None:
    """Killed outright, at the end of its program, or in a crash: the whole group goes, the stubborn child too."""
    owner = subprocess.Popen(  # noqa: ASYNC220 - it takes a moment only
        [sys.executable, "-c", OWNER.replace("ENDING", ending)], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    with owner, owner.stdout:
        processes = [int(number) for number in (await asyncio.to_thread(owner.stdout.readline)).split()]
        assert len(processes) == 2
        if ending == "time.sleep(60)":
            assert all(map(is_alive, processes))
            os.kill(owner.pid, signal.SIGKILL)
        owner.wait()
    await until(lambda: not any(map(is_alive, processes)))


def test_a_free_port_is_free() -> None:
    assert len({free_port() for _ in range(10)}) > 1


async def waited(process: AgentProcess | None, answers: list[str | None], *, seconds: float = 5) -> list[str | None]:
    """Wait for the probe to give each of `answers`; what is left of them."""

    async def probe() -> str | None:
        return answers.pop(0) if len(answers) > 1 else answers[0]

    await wait_until_ready(probe, process, seconds=seconds, place="http://h", hide=lambda text: text)
    return answers


@synchronous
async def test_waiting_ends_when_it_is_ready() -> None:
    assert await waited(None, ["no", "no", None]) == [None]


@synchronous
async def test_waiting_ends_with_the_process() -> None:
    async with running("print('no module named shop'); raise SystemExit(4)") as process:
        with pytest.raises(AgentCrash) as caught:
            await waited(process, ["refused"])
    assert str(caught.value) == "the agent's process has ended with exit code 4; it printed: no module named shop"
    assert caught.value.retry_may_help is False


@synchronous
async def test_waiting_ends_with_its_time() -> None:
    async with running("import time; print('loading', flush=True); time.sleep(60)") as process:
        await until(process.last_words)
        with pytest.raises(AgentUnreachable) as caught:
            await waited(process, ["refused"], seconds=0.1)
    assert str(caught.value) == "the agent is not ready after 0.1 s: refused; it printed: loading"
    with pytest.raises(AgentUnreachable, match=r"not ready after 0\.1 s: refused$"):
        await waited(None, ["refused"], seconds=0.1)
