"""Why a span failed."""

from __future__ import annotations

from liftbay.domain.spans import Span
from liftbay.telemetry.attribute_values import a_text


def failure(span: Span) -> str | None:
    """What the exception says, or else the status or `error.type`; "" where nobody says; None where it did not fail.

    Some instrumentations write the whole traceback into the status: the exception's own words are what is wanted.
    """
    kind = a_text(span.attributes.get("error.type"))
    if span.error is None and kind is None:
        return None
    for event in reversed(span.events):
        if event.name == "exception":
            said = (event.attributes.get("exception.type"), event.attributes.get("exception.message"))
            if words := [text for part in said if (text := a_text(part))]:
                return ": ".join(words)
    return span.error or kind or ""
