"""What is wrong with a dataset, or doubtful in it, at one place."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from liftbay.errors import InputError, at


class Problem(msgspec.Struct, frozen=True):
    """Something wrong at a line of a file, or only doubtful there (`warning`).

    `error` says what it is and how to mend it; its place is that of the problem.
    """

    file: str
    line: int | None
    field: str | None
    error: InputError
    warning: bool = False
    lines: int = 1  # of this file that are doubtful in the same way; `line` is the first


_PLACE = re.compile(r"(?::(\d+))?(?:: (.*))?", re.DOTALL)

Report = Callable[[Problem], None]


def problem(file: object, line: int | None, field: str | None, error: InputError, *, warning: bool = False) -> Problem:
    """What `error` says about a field of a line."""
    error.place = at(file, line, field)
    return Problem(str(file), line, field, error, warning)


def problem_of(error: InputError, file: object) -> Problem:
    """The problem that an error is; its place is `file:line: field`, or one outside the file."""
    place = error.place or str(file)
    found = _PLACE.fullmatch(place.removeprefix(str(file)))
    if found is None:
        return problem(place, None, None, error)
    line, field = found.groups()
    return problem(file, int(line) if line else None, field, error)
