"""Agents by their specification: an agent file, a function, a record, the name of an installed package's agent."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import msgspec

from liftbay.agents.http import HttpAgent
from liftbay.agents.http_file import HttpFile
from liftbay.agents.openai_chat import OpenAIChatAgent, OpenAIChatFile
from liftbay.agents.process import free_port
from liftbay.agents.python import PythonAgent, PythonFile, find_modules_in, python_agent, python_agent_of
from liftbay.agents.replay import ReplayAgent, ReplayFile, replay_agent_of
from liftbay.datasets.data_file import DataFile
from liftbay.datasets.project import Listening, find_project
from liftbay.datasets.toml_file import read_toml
from liftbay.errors import InputError, at
from liftbay.mocks.interceptor import MockTools
from liftbay.ports import Agent

AgentLike = str | Callable[..., Any] | Agent
AgentFile = OpenAIChatFile | HttpFile | PythonFile | ReplayFile

SUFFIX = ".toml"
ENTRY_POINTS = "liftbay.agents"  # a name, and a function that returns the path of an agent file


class Wired(msgspec.Struct, frozen=True):
    """An agent, and what is known of how it wants to be run; `surroundings.started` runs it."""

    agent: Agent
    listening: Listening
    file: AgentFile | None = None
    path: Path | None = None  # of the file
    tools: MockTools | None = None
    opened: contextlib.ExitStack = msgspec.field(default_factory=contextlib.ExitStack)  # ends with the run

    @property
    def fingerprint(self) -> str | None:
        """The SHA-256 of the file, in hexadecimal."""
        return None if self.path is None else hashlib.sha256(self.path.read_bytes()).hexdigest()

    @property
    def folder(self) -> Path:
        """The folder of the file: paths in it are relative to it."""
        return Path() if self.path is None else self.path.absolute().parent


def agent_of(specification: AgentLike, *, connections: int = 3, listening: Listening | None = None) -> Wired:
    """The agent of an agent file, of `python:module:callable` or `replay:FILE`, of a callable, or the agent itself.

    At most `connections` are open to an endpoint. Raises `InputError` where the specification names no agent.
    """
    where = _with_port(listening or find_project(Path.cwd()).listening)
    if isinstance(specification, str):
        return _named(specification, connections, where)
    if hasattr(specification, "answer"):
        return Wired(specification, where)  # type: ignore[arg-type]  # it has `answer`: an agent
    if callable(specification):
        return Wired(PythonAgent(specification, getattr(specification, "__qualname__", repr(specification))), where)
    raise InputError("this is no agent", place=repr(specification)[:80], remedy="give a function or a specification")


def lasting(specification: str, folder: Path) -> str:
    """The specification, whose paths are relative to `folder`, as it can be used from another one."""
    kind, _, rest = specification.partition(":")
    if kind == "replay" and rest:
        return f"replay:{folder / rest}"
    return str(folder / specification) if specification.endswith(SUFFIX) else specification


def _with_port(listening: Listening) -> Listening:
    """Port 0 is any that is free; agents are told it before anything listens."""
    return listening if listening.port else msgspec.structs.replace(listening, port=free_port())


def _python_agent(file: PythonFile, path: Path, listening: Listening) -> Wired:
    """The functions to mock are replaced before the agent is imported: it may take hold of them then."""
    folder, tools = path.absolute().parent, MockTools({})
    with contextlib.ExitStack() as opened:
        if file.mocked:
            from liftbay.mocks.python_functions import intercepting  # noqa: PLC0415

            find_modules_in(folder)
            with _placed(path, "mocked"):
                opened.enter_context(intercepting(tools, file.mocked))
        with _placed(path, "function"):
            agent = python_agent_of(file, folder)
        return Wired(agent, listening, file, path, tools, opened.pop_all())


@contextlib.contextmanager
def _placed(path: Path, key: str) -> Iterator[None]:
    """Mistakes that are found meanwhile are in this key of the file."""
    try:
        yield
    except InputError as error:
        error.place = at(path, None, key)
        raise


def _reachable(host: str) -> str:
    """The address at which a process of this machine reaches a server that listens at `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 - nothing is bound here


def _named(specification: str, connections: int, listening: Listening) -> Wired:
    kind, _, rest = specification.partition(":")
    if kind == "python":
        return Wired(python_agent(rest, find_project(Path.cwd()).root), listening)
    if kind == "replay" and rest:
        return Wired(ReplayAgent(Path(rest)), listening)
    if specification.endswith(SUFFIX):
        return _of_file(Path(specification), connections, listening)
    installed = {found.name: found for found in entry_points(group=ENTRY_POINTS)}
    if specification in installed:
        return _of_file(Path(installed[specification].load()()), connections, listening)
    raise InputError(
        "this names no agent",
        place=f"--agent {specification}",
        remedy="give an agent file such as agent.toml, python:module:callable or replay:FILE"
        if not installed
        else "give an agent file such as agent.toml, python:module:callable, replay:FILE, or one of: {names}",
        names=", ".join(sorted(installed)),
    )


def _of_file(path: Path, connections: int, listening: Listening) -> Wired:
    file: AgentFile = read_toml(DataFile(path), AgentFile)
    folder = path.absolute().parent
    agent: Agent
    match file:
        case OpenAIChatFile():
            agent = OpenAIChatAgent(file, folder, connections=connections, place=str(path))
        case HttpFile():
            endpoint = f"http://{_reachable(listening.host)}:{listening.port}"
            agent = HttpAgent(file, str(path), folder, connections=connections, otlp_endpoint=endpoint)
        case PythonFile():
            return _python_agent(file, path, listening)
        case ReplayFile():
            agent = replay_agent_of(file, folder)
    return Wired(agent, listening, file, path, MockTools({}))
