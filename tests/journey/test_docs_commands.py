"""The commands that README, CONTRIBUTING and docs show are run, and what they show as output is compared.

How a page is written, so that it can be run:

- A block of commands is fenced as `console`. A line that starts with `$ ` is a command (a `\\` at its end continues
  it); the lines below it are what it prints: they must come in this order, other lines may stand between, and `…`
  stands for anything.
- A line `^C` means that Ctrl-C is pressed once the lines above it were printed.
- `console background` starts a process that runs until the end of the page; the lines below say when it is ready.
- `console exit=2` is a command that ends with this exit code.
- `console needs="dataset.zip"` runs only where the optional published dataset is there.
- `console not-run="REASON"` is not run.

The commands of a page run in order in one folder that holds `demo` and `.venv`; port 8017 becomes a free one. In
`*.ja.md` the locale is Japanese.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from command import DATASET, ROOT

PAGES = sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
PORT = "8017"
SECONDS = 30.0
NOT_COMMANDS = {"json", "text", "toml", "python", "jsonl"}
OPTION = re.compile(r'(?P<name>[a-z-]+)(?:=(?:"(?P<quoted>[^"]*)"|(?P<plain>\S+)))?\s*')


class Command(NamedTuple):
    """A command and the lines that it prints."""

    line: int
    text: str
    output: list[str]


class Block(NamedTuple):
    """A fenced block: its language, the options after it, and its lines."""

    line: int
    language: str
    options: dict[str, str]
    lines: list[str]

    def commands(self) -> list[Command]:
        """The commands of the block; fails where a line is neither command nor output."""
        found: list[Command] = []
        for number, line in enumerate(self.lines, start=self.line + 1):
            if found and found[-1].text.endswith("\\"):
                last = found.pop()
                found.append(last._replace(text=last.text.removesuffix("\\").rstrip() + " " + line.strip()))
            elif line.startswith("$ "):
                found.append(Command(number, line.removeprefix("$ "), []))
            else:
                assert found, f"line {number}: a console block begins with a command: $ …"
                found[-1].output.append(line)
        return found


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page."""
    opened: Block | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if opened is None:
            if match := re.match(r"\s*```(\S*)\s*(.*)$", line):
                options = {
                    found["name"]: found["quoted"] or found["plain"] or "" for found in OPTION.finditer(match[2])
                }
                opened = Block(number, match[1], options, [])
        elif line.strip() == "```":
            yield opened
            opened = None
        else:
            opened.lines.append(line)
    assert opened is None, "a fenced block has no end"


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return list(blocks(page.read_text(encoding="utf-8")))


def name_of(page: Path) -> str:
    """The page's path in the working copy."""
    return page.relative_to(ROOT).as_posix()


class Session:
    """Runs the commands of one page."""

    def __init__(self, folder: Path, language: str) -> None:
        self.folder = folder
        (folder / "demo").symlink_to(ROOT / "demo")
        (folder / ".venv").symlink_to(sys.prefix)
        if DATASET.exists():
            (folder / DATASET.name).symlink_to(DATASET)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = str(free.getsockname()[1])
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("LC_", "LIFTBAY_", "PYTEST_")) and not name.lower().endswith("_proxy")
        }
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        self._environment = kept | {"PATH": path, "LANG": language, "PYTHONUTF8": "1", "PYTHONWARNINGS": "error"}
        self._processes: list[subprocess.Popen[bytes]] = []

    def run(self, block: Block) -> None:
        """Run the commands of a block and compare what they print."""
        for number, command in enumerate(block.commands()):
            log = self.folder / f".output-{block.line}-{number}"
            text = command.text.replace(PORT, self._port)
            expected = [line.replace(PORT, self._port) for line in command.output]
            process = self._start(text, log)
            if "background" in block.options:
                _await_lines(process, log, expected, command)
                continue
            if "^C" in expected:
                _await_lines(process, log, expected[: expected.index("^C")], command)
                time.sleep(1)
                os.killpg(process.pid, signal.SIGINT)
            code = process.wait(timeout=SECONDS)
            printed = log.read_text(encoding="utf-8")
            assert code == int(block.options.get("exit", "0")), f"line {command.line}: {text}\nexit {code}\n{printed}"
            missing = _first_missing([line for line in expected if line != "^C"], printed)
            assert missing is None, f"line {command.line}: {text}\ndid not print: {missing}\nbut:\n{printed}"

    def _start(self, text: str, log: Path) -> subprocess.Popen[bytes]:
        simple = not set("|;&<>(").intersection(text)  # then the process itself gets the signals
        with log.open("wb") as stream:
            process = subprocess.Popen(
                ["/bin/sh", "-c", f"exec {text}" if simple and not text.startswith(". ") else text],
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def close(self) -> None:
        """End what still runs."""
        for process in self._processes:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(timeout=10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def _await_lines(process: subprocess.Popen[bytes], log: Path, expected: list[str], command: Command) -> None:
    """Wait until the process printed the lines."""
    end = time.monotonic() + SECONDS
    while (missing := _first_missing(expected, log.read_text(encoding="utf-8", errors="replace"))) is not None:
        printed = log.read_text(encoding="utf-8", errors="replace")
        assert process.poll() is None, f"line {command.line}: {command.text}\nended early:\n{printed}"
        assert time.monotonic() < end, f"line {command.line}: {command.text}\ndid not print: {missing}\nbut:\n{printed}"
        time.sleep(0.05)


def _first_missing(expected: list[str], printed: str) -> str | None:
    """The first expected line that does not come after the one before it, or None."""
    lines = iter(printed.splitlines())
    for wanted in expected:
        pattern = re.compile(".*".join(map(re.escape, wanted.strip().split("…"))))
        if not any(pattern.fullmatch(line.strip()) for line in lines):
            return wanted
    return None


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=name_of)
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    session = Session(tmp_path, "ja_JP.UTF-8" if page.name.endswith(".ja.md") else "C.UTF-8")
    try:
        for block in blocks_of(page):
            if block.language != "console" or "not-run" in block.options:
                continue
            if "needs" in block.options and not (tmp_path / block.options["needs"]).exists():
                continue
            session.run(block)
    finally:
        session.close()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_blocks_of_a_page_are_marked(page: Path) -> None:
    for block in blocks_of(page):
        if block.language != "console":
            assert block.language in NOT_COMMANDS, (
                f"line {block.line}: fence commands as console, not {block.language!r}"
            )
            continue
        assert set(block.options) <= {"background", "exit", "needs", "not-run"}, f"line {block.line}: unknown option"
        assert block.options.get("not-run", "because") != "", f"line {block.line}: say why it is not run"
        assert block.commands(), f"line {block.line}: a console block without a command"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name.endswith(".ja.md")], ids=name_of)
def test_a_japanese_page_shows_the_commands_of_its_twin(page: Path) -> None:
    twin = page.with_name(page.name.replace(".ja.md", ".md"))
    shown, of_twin = (
        [
            (block.options, [command.text for command in block.commands()])
            for block in blocks_of(one)
            if block.language == "console"
        ]
        for one in (page, twin)
    )
    assert shown == of_twin


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_inside_the_working_copy_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            found = page.parent / path if path else page
            assert found.exists(), f"{name_of(page)}: no {target}"
            assert not anchor or anchor in anchors(found), f"{name_of(page)}: no {target}"


def anchors(page: Path) -> set[str]:
    """The names by which the headings of a page can be linked to."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_of_the_docs_can_be_reached() -> None:
    """From the READMEs, following links."""
    reached = {ROOT / "README.md"}
    waiting = list(reached)
    while waiting:
        page = waiting.pop()
        for target in re.findall(r"\]\(([^)\s:]+\.md)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            found = (page.parent / target).resolve()
            if found not in reached and found.exists():
                reached.add(found)
                waiting.append(found)
    assert [name_of(page) for page in PAGES if page not in reached] == []
