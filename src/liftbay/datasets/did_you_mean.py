"""Which known name an unknown one may stand for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` seems to be a misspelling of, or None: `user_input` of `userInput`."""
    plain = {_plain(other): other for other in known}
    found = difflib.get_close_matches(_plain(name), plain, n=1, cutoff=0.8)
    return plain[found[0]] if found else None


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()
