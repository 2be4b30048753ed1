"""The only module that chooses implementations: agents by their specification, stores by their address."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from liftbay.agents.python import PythonAgent, python_agent
from liftbay.agents.replay import ReplayAgent
from liftbay.datasets.project import find_project
from liftbay.errors import InputError
from liftbay.ports import Agent, RunStore

AgentLike = str | Callable[..., Any] | Agent


def agent_of(specification: AgentLike) -> Agent:
    """The agent of `python:module:callable` or `replay:FILE`, of a callable, or the agent itself.

    Raises `InputError` where the specification names none.
    """
    if isinstance(specification, str):
        kind, _, rest = specification.partition(":")
        if kind == "python":
            return python_agent(rest, find_project(Path.cwd()).root)
        if kind == "replay" and rest:
            return ReplayAgent(Path(rest))
        raise InputError(
            "this names no agent",
            place=f"--agent {specification}",
            remedy="give python:module:callable or replay:FILE",
        )
    if hasattr(specification, "answer"):
        return specification  # type: ignore[return-value]  # it has `answer`: an agent
    if callable(specification):
        return PythonAgent(specification, getattr(specification, "__qualname__", repr(specification)))
    raise InputError("this is no agent", place=repr(specification)[:80], remedy="give a function or a specification")


async def store_of(url: str | None, *, create: bool = True) -> RunStore:
    """The store at `url`, or the project's; without `create` it must be there."""
    from liftbay.stores.open import open_store  # noqa: PLC0415 - SQLAlchemy takes its time to load

    return await open_store(url or find_project(Path.cwd()).store_url, create=create)
