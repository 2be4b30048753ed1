"""What every command prints in the same way."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=StrEnum)


def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    import msgspec  # noqa: PLC0415

    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def form_of(forms: type[F], name: str | None, output: Path | None, by_suffix: Mapping[str, str]) -> F:
    """The form that is named, or else that of the file's suffix, or else text. Raises `InputError`."""
    from liftbay.errors import InputError  # noqa: PLC0415

    chosen = name or (by_suffix.get(output.suffix.lower(), "text") if output else "text")
    try:
        return forms(chosen)
    except ValueError:
        raise InputError(
            "there is no {name}", place="--format", remedy="give one of: {names}", name=chosen, names=", ".join(forms)
        ) from None
