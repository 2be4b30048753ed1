"""The overrides of the turn that a Python agent is answering, wherever in its code they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from liftbay.domain.override import NOTHING, Overrides

_given: ContextVar[Overrides] = ContextVar("overrides", default=NOTHING)


def overrides() -> Overrides:
    """What stands in the place of modules' outputs in this turn; outside of `liftbay diagnose --confirm` nothing.

    For a Python agent in liftbay's process, whose agent file says `overrides = true`::

        chunks = liftbay.overrides().chunks
        if chunks is None:
            chunks = search(question)
    """
    return _given.get()


@contextmanager
def giving(given: Overrides) -> Iterator[None]:
    """Code of this context, and of copies of it, finds these overrides."""
    token = _given.set(given)
    try:
        yield
    finally:
        _given.reset(token)
