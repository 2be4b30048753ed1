"""What every command prints in the same way."""

from __future__ import annotations

import sys
from typing import Any


def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    import msgspec  # noqa: PLC0415

    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
