"""A connection to an MCP server: shared by all who call, found again when lost, and its errors named."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_server
import pytest
from mcp import MCPError
from mcp_types import TextContent
from places import synchronous

from liftbay.errors import AgentProtocol, AgentUnreachable, MissingExtra
from liftbay.transport.mcp_connection import McpCommand, McpConnection, McpUrl

PYTHON = sys.executable
SERVER = McpCommand([PYTHON, str(mcp_server.__file__)], env={"LIFTBAY_TEST": "given"})
LIES = """
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, Tool
import asyncio
tool = Tool(name="lie", input_schema={"type": "object"}, output_schema={"type": "object", "required": ["x"]})
async def list_tools(*_): return ListToolsResult(tools=[tool])
async def call_tool(*_): return CallToolResult(content=[], structured_content={"y": 1})
server = Server("liar", on_list_tools=list_tools, on_call_tool=call_tool)
async def main():
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())
asyncio.run(main())
"""
SLEEP = "import time; time.sleep(60)"
SIGNED = "import os, pathlib, sys; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); "
MAYFLY = LIES.replace("return ListToolsResult", "import os; os._exit(0); return ListToolsResult")


class HttpServer:
    """The server's process, listening on a port that stays the same when it is started again."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self.process = subprocess.Popen([PYTHON, *SERVER.command[1:], str(self.port)], stderr=subprocess.DEVNULL)
        for _ in range(400):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.025)
        raise AssertionError("the server does not listen")

    def stop(self) -> None:
        """Stop it."""
        self.process.kill()
        self.process.wait()


@pytest.fixture
def http_server() -> Iterator[HttpServer]:
    """A server over HTTP."""
    server = HttpServer()
    yield server
    server.stop()


@asynccontextmanager
async def connection_to(server: McpCommand | McpUrl, timeout: float = 30) -> AsyncIterator[McpConnection]:  # noqa: ASYNC109
    """A connection, which is closed in the end."""
    connection = McpConnection(server, timeout=timeout)
    try:
        yield connection
    finally:
        async with asyncio.timeout(10):
            await connection.close()


async def text_of(connection: McpConnection, tool: str, /, **arguments: Any) -> str:
    """The text that a tool answers."""
    (block,) = (await connection.call(tool, arguments)).content
    assert isinstance(block, TextContent)
    return block.text


def python(source: str, *arguments: object) -> McpCommand:
    """A process that runs this source."""
    return McpCommand([PYTHON, "-c", source, *map(str, arguments)])


@synchronous
async def test_all_tasks_share_one_session_and_any_of_them_may_close_it() -> None:
    connection = McpConnection(SERVER)
    clients = await asyncio.gather(*(asyncio.create_task(connection.client()) for _ in range(5)))
    assert len(set(map(id, clients))) == 1
    assert "add" in [tool.name for tool in await connection.tools()]
    results = await asyncio.gather(*(connection.call("add", {"a": n, "b": 1}) for n in range(20)))
    assert [result.structured_content for result in results] == [{"result": n + 1} for n in range(20)]
    assert await text_of(connection, "variable", name="LIFTBAY_TEST") == "given"
    assert await text_of(connection, "variable", name="LD_LIBRARY_PATH") == "(unset)"
    await asyncio.create_task(connection.close())
    await connection.close()


@synchronous
async def test_many_calls_at_once_over_one_connection() -> None:
    async with connection_to(SERVER) as connection:
        await connection.client()
        begun = time.perf_counter()
        calls = [text_of(connection, "wait", seconds=0.2 + number / 1000) for number in range(50)]
        assert await asyncio.gather(*calls) == [f"waited {0.2 + number / 1000}" for number in range(50)]
        assert time.perf_counter() - begun < 5


@synchronous
async def test_a_call_that_is_given_up_leaves_the_connection_whole() -> None:
    async with connection_to(SERVER) as connection:
        client = await connection.client()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await connection.call("wait", {"seconds": 60})
        assert await text_of(connection, "add", a=1, b=1) == "2"
        assert await connection.client() is client


@synchronous
async def test_what_was_lost_is_connected_again_by_the_next_calls_once() -> None:
    async with connection_to(SERVER) as connection:
        lost = await connection.client()
        waiting = asyncio.create_task(connection.call("wait", {"seconds": 60}))
        await asyncio.sleep(0.1)
        for call in (connection.call("die", {}), waiting):
            with pytest.raises(AgentUnreachable, match="the connection to the MCP server was lost"):
                await call
        clients = await asyncio.gather(*(connection.client() for _ in range(5)))
        assert len(set(map(id, clients))) == 1
        assert clients[0] is not lost
        assert await text_of(connection, "add", a=1, b=1) == "2"


@synchronous
async def test_a_list_of_tools_finds_that_the_connection_is_lost() -> None:
    async with connection_to(python(MAYFLY)) as connection:
        with pytest.raises(AgentUnreachable, match="the connection to the MCP server was lost"):
            await connection.tools()
        with pytest.raises(AgentUnreachable, match="the connection to the MCP server was lost"):
            await connection.tools()  # of the next process


@synchronous
async def test_over_http_too_the_next_call_finds_the_server_again(http_server: HttpServer) -> None:
    async with connection_to(McpUrl(http_server.url)) as connection:
        assert {"add", "price"} <= {tool.name for tool in await connection.tools()}
        calls = [text_of(connection, "add", a=1, b=number) for number in range(20)]
        assert await asyncio.gather(*calls) == [str(number + 1) for number in range(20)]
        waiting = asyncio.create_task(connection.call("wait", {"seconds": 60}))
        await asyncio.sleep(0.1)
        for call in (connection.call("die", {}), waiting):
            with pytest.raises(AgentUnreachable, match="the connection to the MCP server was lost"):
                await call
        http_server.process.wait()
        with pytest.raises(AgentUnreachable, match="cannot be reached"):
            await connection.call("add", {"a": 1, "b": 1})
        http_server.start()
        assert await text_of(connection, "add", a=1, b=1) == "2"


@synchronous
async def test_a_result_that_the_tool_does_not_promise() -> None:
    async with connection_to(python(LIES)) as connection:
        with pytest.raises(AgentProtocol, match=r"the MCP server's answer is not one: .*'x' is a required property"):
            await connection.call("lie", {})
        with pytest.raises(MCPError):
            await (await connection.client()).list_prompts()


@pytest.mark.parametrize(
    ("server", "says"),
    [
        (McpCommand(["/nowhere/server"]), "No such file"),
        (python("import sys; sys.exit('no licence')"), "Connection closed: no licence$"),
        (python("print('hello', flush=True); input()"), "Connection closed"),
        (McpUrl("http://127.0.0.1:9/mcp"), "All connection attempts failed"),
    ],
)
@synchronous
async def test_servers_that_are_none(server: McpCommand | McpUrl, says: str, capfd: pytest.CaptureFixture[str]) -> None:
    async with connection_to(server) as connection:
        for _ in range(2):
            with pytest.raises(AgentUnreachable, match=f"^the MCP server cannot be reached: .*{says}"):
                await connection.tools()
    assert capfd.readouterr() == ("", "")


@synchronous
async def test_what_a_process_writes_to_stderr_stays_off_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    async with connection_to(SERVER) as connection:
        assert len(await text_of(connection, "long", length=3_000_000)) == 3_000_000
    assert capfd.readouterr() == ("", "")


@synchronous
async def test_a_process_that_says_nothing_is_not_waited_for_for_ever() -> None:
    async with connection_to(python(SLEEP), timeout=0.3) as connection:
        with pytest.raises(AgentUnreachable, match=r"^no connection to the MCP server within 0.3 s$") as raised:
            await connection.client()
        assert raised.value.place == PYTHON


@synchronous
async def test_the_last_words_of_a_process_that_is_not_waited_for() -> None:
    talks = python(f"import sys; print('loading', file=sys.stderr, flush=True); {SLEEP}")
    async with connection_to(talks, timeout=2) as connection:
        with pytest.raises(AgentUnreachable, match=r"^no connection to the MCP server within 2 s: loading$"):
            await connection.client()


@synchronous
async def test_who_stops_waiting_leaves_no_process_behind(tmp_path: Path) -> None:
    async with connection_to(python(SIGNED + SLEEP, tmp_path / "pid")) as connection:
        waiting = asyncio.create_task(connection.client())
        process = await pid_in(tmp_path / "pid")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert not is_running(process)


@synchronous
async def test_to_close_ends_what_still_connects(tmp_path: Path) -> None:
    async with connection_to(python(SIGNED + SLEEP, tmp_path / "pid")) as connection:
        waiting = asyncio.create_task(connection.client())
        process = await pid_in(tmp_path / "pid")
        closing = asyncio.create_task(connection.close())
        await asyncio.sleep(0.1)
        waiting.cancel()  # does not break off the stopping of the process
        async with asyncio.timeout(10):
            await closing
    assert waiting.cancelled()
    assert not is_running(process)


@synchronous
async def test_to_close_ends_what_has_not_begun_to_connect() -> None:
    async with connection_to(python(SLEEP)) as connection, asyncio.timeout(10):
        waiting, _ = await asyncio.gather(connection.client(), connection.close(), return_exceptions=True)
    assert isinstance(waiting, AgentUnreachable)
    assert str(waiting) == "the connection to the MCP server was closed"


@synchronous
async def test_who_gives_up_does_so_for_nobody_else() -> None:
    async with connection_to(SERVER) as connection:
        first, second = (asyncio.create_task(connection.client()) for _ in range(2))
        await asyncio.sleep(0.05)
        first.cancel()
        assert (await second).server_info is not None


@synchronous
async def test_a_secret_in_a_header_is_in_no_error() -> None:
    async with connection_to(McpUrl("http://127.0.0.1:9/mcp", {"Authorization": "Bearer very-secret"})) as connection:
        with pytest.raises(AgentUnreachable) as raised:
            await connection.client()
        assert "very-secret" not in f"{raised.value!r} {raised.value} {raised.value.place}"


@synchronous
async def test_without_the_extra() -> None:
    async with connection_to(SERVER) as connection:
        with pytest.MonkeyPatch.context() as patched:
            patched.setitem(sys.modules, "mcp", None)
            with pytest.raises(MissingExtra):
                await connection.client()


async def pid_in(file: Path) -> int:
    """The id of the process that signs in this file."""
    async with asyncio.timeout(10):
        while not (file.exists() and file.read_text()):  # noqa: ASYNC110, ASYNC240 - a process tells in no other way
            await asyncio.sleep(0.01)
    return int(file.read_text())  # noqa: ASYNC240


def is_running(process: int) -> bool:
    """Whether there is such a process; one that ended and was waited for is none."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
