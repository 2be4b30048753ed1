"""What each form of the report says of results."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

from liftbay.domain.result import CaseResult, RunRecord
from liftbay.jobs.reporting import Form, written
from liftbay.stores.memory import MemoryStore


async def form_of(record: RunRecord, results: Sequence[CaseResult], form: Form) -> str:
    """The report in a form, as the command would write it."""
    store = MemoryStore()
    await store.add_run(record)
    await store.add_results(record.id, results)
    pieces: AsyncIterator[bytes] = written(store, record, form)
    return b"".join([piece async for piece in pieces]).decode()


def unpacked(text: str) -> Any:
    """What the page packs."""
    return json.loads(zlib.decompress(base64.b64decode(text)))


def index_of(page: str) -> dict[str, Any]:
    """The index of the trials in a page."""
    (text,) = re.findall(r'<script type="text/plain" id="index">([^<]*)</script>', page)
    found: dict[str, Any] = unpacked(text)
    return found


def trials_of(page: str) -> list[dict[str, Any]]:
    """The trials in a page, in order."""
    blocks = re.findall(r'<script type="text/plain" class="block">([^<]*)</script>', page)
    return [trial for block in blocks for trial in unpacked(block)]
