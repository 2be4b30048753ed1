"""The documents that a retrieval returned, as passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from liftbay.domain.trace import Chunk
from liftbay.telemetry.attribute_values import a_number


def chunks_of(documents: Sequence[Mapping[str, Any]]) -> list[Chunk] | None:
    """Passages with `content`, `id` and `score`; None where no document carries its content, which is optional."""
    chunks = [
        Chunk(_text(document.get("content")), _text(document.get("id")) or None, a_number(document.get("score")))
        for document in documents
    ]
    return chunks if not chunks or any(chunk.content for chunk in chunks) else None


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return msgspec.json.encode(value).decode()
