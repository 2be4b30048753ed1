"""Skills: folders with a SKILL.md, in a folder of the agent's own, loaded again as soon as they change."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

_FILE = "SKILL.md"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_FRONT_MATTER = re.compile(r"---\n(?P<head>.*?)\n---\n(?P<body>.*)", re.DOTALL)
_VERSION_LINE = re.compile(r"^version:.*$", re.MULTILINE)
_POLL_SECONDS = 0.1


class Skill(msgspec.Struct, frozen=True):
    """A Skill as its SKILL.md describes it."""

    name: str
    title: str
    description: str
    version: str
    tools: tuple[str, ...]
    output: tuple[str, ...]  # the headings of an answer
    body: str


class SkillError(Exception):
    """A Skill cannot be read, or not be published."""


class SkillFolder:
    """The Skills of a folder. `current` is replaced as a whole, so that a turn sees one state of it."""

    def __init__(self, folder: Path, changed: Callable[[dict[str, Skill]], None]) -> None:
        self.current: dict[str, Skill] = {}
        self.failures: dict[str, str] = {}
        self._folder = folder
        self._changed = changed
        self._seen: dict[str, tuple[int, int, int]] = {}

    def copy_from(self, source: Path) -> None:
        """Take over the Skills of another folder that are not here yet."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for folder in sorted(source.iterdir()):
            if (folder / _FILE).is_file() and not (self._folder / folder.name).exists():
                shutil.copytree(folder, self._folder / folder.name)

    def load(self) -> None:
        """Load what is new or has changed, and drop what is gone."""
        there = self._there()
        if there == self._seen:
            return
        skills = {name: skill for name, skill in self.current.items() if name in there}
        failures = {name: why for name, why in self.failures.items() if name in there}
        for name in sorted(there):
            if there[name] == self._seen.get(name):
                continue
            failures.pop(name, None)
            try:
                skills[name] = read(self._folder / name / _FILE)
            except (SkillError, OSError, ValueError) as error:
                failures[name] = str(error)  # what was loaded of it before stays in use
        self._seen = there
        self.failures = failures
        self.current = dict(sorted(skills.items()))
        self._changed(self.current)

    async def watch(self) -> None:
        """Keep the Skills up to date until cancelled."""
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            self.load()

    def publish(self, name: str, version: str, content: str | None) -> None:
        """Write a Skill in a new version. Raises `SkillError` where that cannot be done."""
        if not _NAME.fullmatch(name):
            raise SkillError(f"no name of a Skill: {name}")
        file = self._folder / name / _FILE
        if content is None:
            if not file.is_file():
                raise SkillError(f"there is no Skill {name}; give its content")
            content = file.read_text(encoding="utf-8")
        content = content.replace("\r\n", "\n")
        front = _FRONT_MATTER.fullmatch(content)
        if front is None:
            raise SkillError("the content has no front matter")
        line = f"version: {json.dumps(version, ensure_ascii=False)}"
        head, found = _VERSION_LINE.subn(lambda _: line, front["head"])
        content = f"---\n{head if found else head + chr(10) + line}\n---\n{front['body']}"
        parsed(name, content)
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".tmp")
        draft.write_text(content, encoding="utf-8")
        draft.replace(file)  # the watcher never sees half of it

    def _there(self) -> dict[str, tuple[int, int, int]]:
        found = {}
        with os.scandir(self._folder) as entries:
            for entry in entries:
                try:
                    state = (Path(entry.path) / _FILE).stat()
                except OSError:
                    continue
                found[entry.name] = (state.st_mtime_ns, state.st_size, state.st_ino)
        return found


def read(file: Path) -> Skill:
    """The Skill of a SKILL.md. Raises `SkillError`."""
    return parsed(file.parent.name, file.read_text(encoding="utf-8"))


def parsed(name: str, text: str) -> Skill:
    """The Skill that the text of a SKILL.md describes. Raises `SkillError`."""
    front = _FRONT_MATTER.fullmatch(text)
    if front is None:
        raise SkillError("no front matter")
    head = dict(_entry(line) for line in front["head"].splitlines() if line.strip())
    try:
        skill = msgspec.convert(head | {"body": front["body"].strip()}, Skill)
    except msgspec.ValidationError as error:
        raise SkillError(str(error)) from None
    if skill.name != name:
        raise SkillError(f"its name is {skill.name}, and that of its folder {name}")
    return skill


def _entry(line: str) -> tuple[str, object]:
    """A line of the front matter: the values are JSON, or text as it stands."""
    key, _, value = line.partition(":")
    value = value.strip()
    if value[:1] in ('"', "["):
        try:
            return key.strip(), json.loads(value)
        except ValueError:
            raise SkillError(f"cannot be read: {line}") from None
    return key.strip(), value
