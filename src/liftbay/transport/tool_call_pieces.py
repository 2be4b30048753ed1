"""Tool calls put together from the pieces of a stream."""

from __future__ import annotations

from typing import Any

import msgspec


class FunctionPiece(msgspec.Struct, frozen=True):
    """A piece of what is called."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None  # some servers send the object itself


class ToolCallPiece(msgspec.Struct, frozen=True):
    """A piece of a call, or a whole one."""

    index: int | None = None
    id: str | None = None
    function: FunctionPiece | None = None


class RequestedCall(msgspec.Struct):
    """A call that a model asks for."""

    id: str | None = None  # None: the server gave none
    name: str = ""
    arguments: str = ""  # JSON text, if the model keeps to it


class ToolCalls:
    """The calls of one answer, in the order in which they began."""

    def __init__(self) -> None:
        self._calls: list[RequestedCall] = []
        self._by_index: dict[int, RequestedCall] = {}

    def take(self, piece: ToolCallPiece) -> None:
        """Add a piece to the call that it belongs to, or begin a new one."""
        function = piece.function or FunctionPiece()
        call = self._open(piece, function)
        if call is None:
            call = RequestedCall()
            self._calls.append(call)
        if piece.index is not None:
            self._by_index[piece.index] = call
        call.id = call.id or piece.id or None
        if function.name and function.name != call.name:
            call.name += function.name
        arguments = function.arguments
        call.arguments += msgspec.json.encode(arguments).decode() if isinstance(arguments, dict) else arguments or ""

    def whole(self) -> list[RequestedCall]:
        """The calls."""
        return self._calls

    def _open(self, piece: ToolCallPiece, function: FunctionPiece) -> RequestedCall | None:
        """The call that goes on.

        A piece with another id and a name begins a call of its own, whatever its index: some servers number all
        calls 0. Without an index and an id a name does.
        """
        if piece.index is None:
            if piece.id:
                return next((call for call in self._calls if call.id == piece.id), None)
            return None if function.name or not self._calls else self._calls[-1]
        call = self._by_index.get(piece.index)
        if call is not None and call.id and piece.id and piece.id != call.id and function.name:
            return None
        return call
