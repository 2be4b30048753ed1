"""The command itself: help, language, exit codes, what it loads."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from command import LIFTBAY, environment, liftbay

import liftbay as package
from liftbay.cli import main as entry
from liftbay.cli.messages import say
from liftbay.errors import AgentRefused, InputError, RunError
from liftbay.language import use_language


def test_version() -> None:
    result = liftbay("--version")
    assert (result.returncode, result.stdout) == (0, f"liftbay {package.__version__}\n")


def test_help_loads_nothing_heavy() -> None:
    """What makes `--help` slow is what it imports."""
    program = (
        "import sys\n"
        "from liftbay.cli.main import main\n"
        "code = main(['jmultiwoz', 'generate', '--help'])\n"
        "heavy = {'aiohttp', 'asyncio', 'msgspec', 'numpy', 'scipy', 'sqlite3', 'uvloop'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else code)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "--concurrency" in result.stdout


@pytest.mark.parametrize(
    ("environment_language", "option", "says"),
    [
        ("ja_JP.UTF-8", (), "エラー"),
        ("C.UTF-8", (), "error"),
        ("ja_JP.UTF-8", ("--lang", "en"), "error"),
        ("C.UTF-8", ("--lang=ja",), "エラー"),
    ],
)
def test_language_by_locale_or_option(environment_language: str, option: tuple[str, ...], says: str) -> None:
    result = liftbay("jmultiwoz", "evaluate", "--result", "/none", *option, LANG=environment_language)
    assert result.returncode == 2
    assert result.stderr.startswith(f"liftbay: {says}: ")


def test_unknown_language() -> None:
    result = liftbay("--lang", "fr", "--help")
    assert result.returncode == 2
    assert "unknown language: fr" in result.stderr


def test_help_in_japanese() -> None:
    assert "対話" in liftbay("--lang", "ja", "jmultiwoz", "evaluate", "--help").stdout


def test_traceback_only_with_debug() -> None:
    arguments = ("jmultiwoz", "evaluate", "--result", "/none")
    assert "Traceback" not in liftbay(*arguments).stderr
    assert "Traceback" in liftbay(*arguments, "--debug").stderr


def test_a_fault_of_liftbays_own_is_said_to_be_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from liftbay.cli import commands  # noqa: PLC0415

    def broken(**arguments: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(commands, "app", broken)
    assert entry.main(["--lang", "en"]) == 1
    said = capsys.readouterr().err
    assert "a fault in liftbay itself: ZeroDivisionError: by zero" in said
    assert "--debug" in said


def test_an_error_inside_an_error_is_said_in_the_language_in_use() -> None:
    inner = InputError("there is no such file")
    outer = InputError(
        "the endpoint refused the first {count} requests, and none of them was recorded: {error}", count=20, error=inner
    )
    use_language("ja")
    try:
        assert "ファイル" in say(outer)
    finally:
        use_language("en")


def test_a_reader_that_leaves_is_no_fault() -> None:
    with subprocess.Popen(
        [*LIFTBAY, "jmultiwoz", "generate", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        error = process.stderr.read()
    assert b"Traceback" not in error
    assert process.returncode in (0, 1, 128 + signal.SIGPIPE)


def test_ctrl_c_in_a_command_that_only_computes() -> None:
    program = """
import os, signal
from liftbay.benchmarks.jmultiwoz_tc import evaluate
from liftbay.cli import main
evaluate.evaluate = lambda *arguments: os.kill(os.getpid(), signal.SIGINT)
raise SystemExit(main.main(["jmultiwoz", "evaluate", "--result", "x"]))
"""
    done = subprocess.run([sys.executable, "-c", program], env=environment(), capture_output=True, check=False)
    assert done.returncode == 130, done.stderr


def test_what_a_server_said_is_repeated_as_it_is() -> None:
    """An answer may hold braces, and words that have a translation."""
    refused = AgentRefused("HTTP {status}: {answer}", status=400, answer='{"object": "error", "x": {0}}')
    outer = RunError("{count} times: {error}", count=20, error=refused)
    assert say(outer).endswith(': HTTP 400: {"object": "error", "x": {0}}')
    use_language("ja")
    try:
        assert say(InputError("{why}", why="stopped")) == "stopped"
    finally:
        use_language("en")
