"""The records of the product centre, each file read when it is first asked for."""

from __future__ import annotations

import json
from datetime import datetime
from functools import cache
from typing import Any

from liftbay_demo.places import DATA

Record = dict[str, Any]


@cache
def by_key(file: str, key: str) -> dict[str, Record]:
    """The records of a file by one of their keys."""
    return {record[key]: record for record in content(file)}


@cache
def content(file: str) -> Any:
    """What a file of the world's data holds."""
    return json.loads((DATA / file).read_text(encoding="utf-8"))


def now() -> datetime:
    """The time at which this world stands still."""
    return datetime.fromisoformat(content("meta.json")["asOf"])
