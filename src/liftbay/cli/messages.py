"""Errors in the language in use."""

from __future__ import annotations

from liftbay.errors import LiftbayError, Phrase
from liftbay.language import tr


def say(error: LiftbayError) -> str:
    """The cause of an error in the language in use."""
    return tr(error.cause, **_said(error))


def remedy_of(error: LiftbayError) -> str | None:
    """The remedy of an error in the language in use, if it has one."""
    return tr(error.remedy, **_said(error)) if error.remedy else None


def _said(error: LiftbayError) -> dict[str, object]:
    return {
        name: say(value) if isinstance(value, LiftbayError) else tr(value) if isinstance(value, Phrase) else value
        for name, value in error.values.items()
    }
