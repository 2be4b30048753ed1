"""Keeps secrets out of spans: an instrumentation may have noted the headers of a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from liftbay.domain.spans import Span


def without_secrets(span: Span, hidden: Callable[[Any], Any]) -> Span:
    """The span as it may be kept; `hidden` takes secrets out of a JSON value."""
    return msgspec.structs.replace(
        span,
        name=hidden(span.name),
        attributes=hidden(span.attributes),
        events=[
            msgspec.structs.replace(event, name=hidden(event.name), attributes=hidden(event.attributes))
            for event in span.events
        ],
        error=hidden(span.error),
    )
