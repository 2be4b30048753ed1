"""Every dialect that is known, those of other packages too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import metadata

from liftbay.domain.spans import Span
from liftbay.errors import InputError
from liftbay.telemetry.dialects import genai, openinference
from liftbay.telemetry.reading import Reading

Read = Callable[[Span], Reading | None]

# OpenInference first: its instrumentations can write GenAI attributes beside their own, which say less.
DIALECTS: dict[str, Read] = {"openinference": openinference.read, "genai": genai.read}
GROUP = "liftbay.dialects"


@functools.cache
def readers() -> tuple[Read, ...]:
    """The dialects in the order in which a span is offered to them: ours, then those of other packages by name.

    Raises `InputError` where one of those cannot be loaded.
    """
    found = sorted(metadata.entry_points(group=GROUP), key=lambda entry: entry.name)
    return (*DIALECTS.values(), *map(_loaded, found))


def _loaded(entry: metadata.EntryPoint) -> Read:
    try:
        read = entry.load()
        if not callable(read):
            raise TypeError(f"{entry.value} is not callable")
    except Exception as error:  # a package may raise anything while it is imported
        raise InputError(
            "the dialect {name} of the package {package} cannot be loaded: {why}",
            place=f"{GROUP}: {entry.name}",
            remedy="repair the package or remove it",
            name=entry.name,
            package=entry.dist.name if entry.dist else entry.module,
            why=f"{type(error).__name__}: {error}",
        ) from None
    return read  # type: ignore[no-any-return]  # that it reads spans is what the entry point promises
