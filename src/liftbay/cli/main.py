"""Start of the command: language, errors in one form, exit codes.

0: done. 1: a job that failed. 2: a user's mistake. 3 and 4: what `gate` says. 130: Ctrl-C. 143: terminated.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Sequence

from liftbay.cli.messages import remedy_of, say
from liftbay.errors import InputError, LiftbayError
from liftbay.language import LANGUAGES, language_of, tr, use_language

INTERRUPTED = 130
TERMINATED = 143


class Terminated(BaseException):
    """The process was asked to end (SIGTERM) and stopped as cleanly as on Ctrl-C."""


def run() -> None:
    """The entry point of the command.

    The process ends without taking itself apart: freeing a million records one by one takes longer than scoring
    them, and nothing is left to do that the kernel does not.
    """
    gc.disable()  # starting makes many objects and no garbage; long work turns the collector on again
    code = main(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    rest, language, debug = _global_options(arguments)
    use_language(language or language_of(os.environ))
    if language is not None and language not in LANGUAGES:
        use_language("en")
        _complain(tr("unknown language: {language}", language=language), "--lang", tr("give --lang en or --lang ja"))
        return 2
    return _guarded(rest, debug)


def _guarded(arguments: Sequence[str], debug: bool) -> int:
    from liftbay.cli.commands import app  # noqa: PLC0415 - the language must be chosen before its help texts are

    try:
        code = app(args=list(arguments), prog_name="liftbay", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # typer makes this of Ctrl-C
            print(f"liftbay: {tr('stopped')}", file=sys.stderr)
        return code if isinstance(code, int) else 0
    except BrokenPipeError:  # the reader of a pipe, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except (Exception, KeyboardInterrupt, Terminated) as error:
        if debug:
            import traceback  # noqa: PLC0415

            traceback.print_exc()
        return _explain(error)


def _explain(error: BaseException) -> int:
    """Say what ended the command; returns the exit code."""
    import typer  # noqa: PLC0415
    from typer.exceptions import TyperException  # noqa: PLC0415

    code = 1
    match error:
        case LiftbayError():
            for detail in error.details if isinstance(error, InputError) else ():
                _complain(say(detail), detail.place, remedy_of(detail))
            _complain(say(error), error.place, remedy_of(error))
            code = error.exit_code
        case TyperException() if type(error).__name__ == "NoArgsIsHelpError":  # typer does not export its name
            print(error.format_message())
            code = error.exit_code
        case TyperException():
            _complain(error.format_message(), None, tr("see liftbay --help, or --help after the command"))
            code = error.exit_code
        case KeyboardInterrupt() | typer.Abort() | Terminated():
            print(f"liftbay: {tr('stopped')}", file=sys.stderr)
            code = TERMINATED if isinstance(error, Terminated) else INTERRUPTED
        case OSError():  # whatever reads or writes files has errors of its own: this is standard output
            _complain(tr("the output cannot be written: {why}", why=error.strerror), None, None)
        case _:
            _complain(
                tr("this is a fault in liftbay itself: {why}", why=f"{type(error).__name__}: {error}"),
                None,
                tr("run the command again with --debug and report what it prints"),
            )
    return code


def _global_options(arguments: Sequence[str]) -> tuple[list[str], str | None, bool]:
    """Take `--lang` and `--debug` out, wherever they stand: the other arguments, the language, debug or not."""
    rest: list[str] = []
    language: str | None = None
    debug = False
    waiting = iter(arguments)
    for argument in waiting:
        if argument == "--":
            rest.extend((argument, *waiting))
        elif argument == "--debug":
            debug = True
        elif argument == "--lang":
            language = next(waiting, "")
        elif argument.startswith("--lang="):
            language = argument.removeprefix("--lang=")
        else:
            rest.append(argument)
    return rest, language, debug


def _complain(cause: str, place: str | None, remedy: str | None) -> None:
    where = f"{place}: " if place else ""
    print(f"liftbay: {tr('error')}: {where}{cause}", file=sys.stderr)
    if remedy:
        print(f"  {tr('remedy')}: {remedy}", file=sys.stderr)
