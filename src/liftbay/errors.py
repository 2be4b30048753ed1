"""Every error that liftbay raises on purpose.

::

    LiftbayError
    ├── InputError          what the user gave is wrong: a file, a line, an option        exit code 2
    ├── MissingExtra        a package is not installed that only some need                exit code 2
    ├── StoreError          a file cannot be written: disk full, file in use              exit code 1
    ├── RunError            a job could not go on                                         exit code 1
    └── AgentError          the thing under test did not answer as it should              exit code 1
        ├── AgentTimeout        no whole answer within the time                           retry may help
        ├── AgentUnreachable    no connection, 5xx, 429                                   retry may help
        ├── AgentRefused        4xx or a redirect: the request itself is not accepted
        ├── AgentProtocol       an answer that is not what the protocol promises
        └── AgentCrash          the agent itself raised                                   retry may help

An error carries its words as a template and the values to fill in, so that the edge can say it in the user's
language (`liftbay.language`). One helper per boundary turns a library's exceptions into these.
"""

from __future__ import annotations

from collections.abc import Sequence


class Phrase(str):
    """A value of an error that is a text of liftbay's own, to be said in the user's language too."""

    __slots__ = ()


class LiftbayError(Exception):
    """An error with its cause, the place and the remedy.

    `cause` and `remedy` are English templates in the form of `str.format`; `values` fills both. `place` is where
    it happened: a file, `file:line`, `file:line: field`, or an address.
    """

    exit_code = 1
    retry_may_help = False

    def __init__(self, cause: str, *, place: str | None = None, remedy: str | None = None, **values: object) -> None:
        self.cause = cause
        self.place = place
        self.remedy = remedy
        self.values = values
        super().__init__(cause.format(**values))


class InputError(LiftbayError):
    """What the user gave is wrong.

    `details` are the single mistakes where there are several, or the first of them.
    """

    exit_code = 2

    def __init__(
        self,
        cause: str,
        *,
        place: str | None = None,
        remedy: str | None = None,
        details: Sequence[InputError] = (),
        **values: object,
    ) -> None:
        super().__init__(cause, place=place, remedy=remedy, **values)
        self.details = tuple(details)

    def __str__(self) -> str:
        return "\n  ".join((super().__str__(), *(f"{detail.place}: {detail}" for detail in self.details)))


class MissingExtra(LiftbayError):
    """A package is not installed that only some need; `extra` is what brings it."""

    exit_code = 2

    def __init__(self, *, extra: str) -> None:
        super().__init__(
            "this needs a package that is not installed",
            remedy='install it: pip install "liftbay[{extra}]"',
            extra=extra,
        )


class StoreError(LiftbayError):
    """A file or a database cannot be read or written, or is in use."""


class RunError(LiftbayError):
    """A job could not go on."""


class AgentError(LiftbayError):
    """The thing under test did not answer as it should.

    `trace` is the EvalTrace of what happened until then, where the adapter knows it.
    """

    trace: object | None = None


class AgentTimeout(AgentError):
    """No whole answer within the time."""

    retry_may_help = True


class AgentUnreachable(AgentError):
    """No connection, a server fault, or a server that is too busy.

    `retry_after` is what the server asked to wait, in seconds.
    """

    retry_may_help = True

    def __init__(
        self,
        cause: str,
        *,
        place: str | None = None,
        remedy: str | None = None,
        retry_after: float | None = None,
        **values: object,
    ) -> None:
        super().__init__(cause, place=place, remedy=remedy, **values)
        self.retry_after = retry_after


class AgentRefused(AgentError):
    """The endpoint does not accept the request; asking again changes nothing."""


class AgentProtocol(AgentError):
    """The endpoint's answer is not what the protocol promises."""


class AgentCrash(AgentError):
    """The agent itself raised."""

    retry_may_help = True


def at(path: object, line: int | None = None, field: str | None = None) -> str:
    """The place of an error in one form everywhere: `file:line: field`."""
    place = str(path) if line is None else f"{path}:{line}"
    return f"{place}: {field}" if field else place
