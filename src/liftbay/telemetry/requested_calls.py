"""Puts the calls that models asked for beside the calls that were made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from liftbay.domain.trace import ToolCallRecord
from liftbay.telemetry.reading import RequestedCall


def with_arguments(calls: Sequence[ToolCallRecord], requested: Iterable[RequestedCall]) -> list[ToolCallRecord]:
    """The calls; one without arguments has those of the first request of its name that no other call was made for."""
    if all(call.arguments is not None for call in calls):
        return list(calls)
    open_ = [request for request in requested if request.arguments is not None]
    for call in calls:
        if call.arguments is not None:
            _take(open_, call)
    return [
        call
        if call.arguments is not None or (request := _take(open_, call)) is None
        else msgspec.structs.replace(call, arguments=request.arguments)
        for call in calls
    ]


def _take(requests: list[RequestedCall], call: ToolCallRecord) -> RequestedCall | None:
    for request in requests:
        if request.name == call.name and call.arguments in (None, request.arguments):
            requests.remove(request)
            return request
    return None
