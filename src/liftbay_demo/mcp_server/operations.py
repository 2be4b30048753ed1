"""The tools of the server `operations` that look something up. The form of their arguments has been checked."""

from __future__ import annotations

from typing import Any

from liftbay_demo.mcp_server.answers import Answer, found, not_found
from liftbay_demo.mcp_server.records import by_key


def query_trace(arguments: dict[str, Any]) -> Answer:
    """The trace as it is stored."""
    return _stored("traces.json", "traceId", arguments["traceId"])


def lookup_error_code(arguments: dict[str, Any]) -> Answer:
    """What a code means."""
    return _stored("error_codes.json", "code", arguments["code"])


def _stored(file: str, key: str, value: str) -> Answer:
    record = by_key(file, key).get(value)
    if record is None:
        raise not_found(key, value)
    return found(record)
