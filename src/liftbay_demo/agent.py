"""Builds the agent out of its parts, and starts and stops them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from liftbay_demo import __version__, places
from liftbay_demo.domain import Dialogue, Message
from liftbay_demo.generation.offline import OfflineGeneration
from liftbay_demo.memory.knowledge import KnowledgeBase
from liftbay_demo.memory.replay import replayed
from liftbay_demo.memory.sessions import WINDOW, SessionStore
from liftbay_demo.model.client import ModelClient
from liftbay_demo.model.generation import ModelGeneration
from liftbay_demo.model.perception import ModelPerception
from liftbay_demo.model.planning import ModelPlanning
from liftbay_demo.perception.offline import OfflinePerception
from liftbay_demo.pipeline import Load, Pipeline, Surroundings
from liftbay_demo.planning.offline import OfflinePlanning
from liftbay_demo.stages import Stages
from liftbay_demo.tools.calling import ToolCalling
from liftbay_demo.tools.catalogue import tools_in
from liftbay_demo.tools.servers import SERVERS, McpServer
from liftbay_demo.tools.skills import Skill, SkillFolder
from liftbay_demo.words import Words


class Settings(NamedTuple):
    """How an agent is to be built."""

    data: Path
    skills: Path = places.SKILLS
    version: str = __version__
    model_url: str | None = None
    model: str | None = None
    window: int = WINDOW


class Agent:
    """The product-centre assistant. Between `start` and `close` its pipeline answers."""

    def __init__(self, settings: Settings) -> None:
        self.version = settings.version
        self.ready = False
        self.servers = {name: McpServer(name) for name in SERVERS}
        self._settings = settings
        self._catalogue = tools_in(places.TOOLS)
        self._tools = ToolCalling(self._catalogue, self.servers)
        asking = settings.model_url is not None and settings.model is not None
        self._model = ModelClient(settings.model_url or "", settings.model or "") if asking else None
        self._watcher: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the MCP servers, load the Skills, build the index; returns when messages can be answered."""
        for server in self.servers.values():
            server.start()
        self._settings.data.mkdir(parents=True, exist_ok=True)
        await self._tools.open()
        if self._model is not None:
            await self._model.open()
        self.sessions = SessionStore(self._settings.data / "sessions.db", self._settings.window)
        await self.sessions.open()
        await asyncio.to_thread(self._load)  # meanwhile the servers come up
        for server in self.servers.values():
            await server.tried()
        self._watcher = asyncio.create_task(self.skills.watch())
        self.ready = True

    async def close(self) -> None:
        """Stop all of it."""
        self.ready = False
        if self._watcher is not None:
            self._watcher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watcher
        await asyncio.gather(*(server.close() for server in self.servers.values()))
        if hasattr(self, "sessions"):
            await self.sessions.close()
        await self._tools.close()
        if self._model is not None:
            await self._model.close()

    def loads(self) -> list[Load]:
        """What is loaded of servers and Skills, and what could not be."""
        skills = self.skills
        return [
            *(Load("mcp", name, server.error) for name, server in self.servers.items()),
            *(Load("skill", name, skills.failures.get(name)) for name in sorted({*skills.current, *skills.failures})),
        ]

    def _load(self) -> None:
        words = Words()
        self.knowledge = KnowledgeBase(places.KNOWLEDGE, words)
        self._perception = OfflinePerception(words, self.knowledge)
        self._planning = OfflinePlanning(self._catalogue, words)
        self.skills = SkillFolder(self._settings.data / "skills", self._use)
        self.skills.copy_from(self._settings.skills)
        self.skills.load()
        around = Surroundings(self.version, lambda: self.skills.current, self.loads, self._replayed, self._planning)
        self.pipeline = Pipeline(self._stages(words), around)

    def _stages(self, words: Words) -> Stages:
        generation = OfflineGeneration(words)
        model = self._model
        if model is None:
            return Stages(self._perception, self._planning, self.sessions, self.knowledge, self._tools, generation)
        return Stages(
            ModelPerception(self._perception, model, lambda: self.skills.current),
            ModelPlanning(self._planning, model, self._catalogue),
            self.sessions,
            self.knowledge,
            self._tools,
            ModelGeneration(generation, model),
        )

    def _use(self, skills: Mapping[str, Skill]) -> None:
        self._perception.use(skills)
        self._planning.use(skills)

    def _replayed(self, messages: Sequence[Message]) -> Dialogue:
        return replayed(messages, self._perception, self._planning)
