"""A sign that a module was at fault: what one verdict, or one look at the trace, says."""

from __future__ import annotations

import msgspec

from liftbay.domain.blame import Culprit

BEFORE_ALL = -1  # the place of what fails before the first module works, such as loading


class Sign(msgspec.Struct, frozen=True, kw_only=True):
    """One sign. `reliability` is how probable the module's fault is, given this sign and none before it."""

    culprit: Culprit
    reliability: float
    why: str  # a fixed English sentence, and after ": " what was expected and what came
    metric: str | None = None
    turn: int | None = None  # None: the trial as a whole, after all turns
    about: tuple[tuple[str, str], ...] = ()
    place: int | None = None  # in the causal order within the turn; None: that of the culprit


def why(said: str, *, expected: object = None, came: object = None) -> str:
    """The sentence with what was expected and what came, as far as known."""
    known = [value for value in (expected, came) if value is not None]
    if not known:
        return said
    return f"{said}: {' → '.join(map(shown, known))}"


def shown(value: object) -> str:
    """A value in one short line; nothing is a dash."""
    if isinstance(value, dict):
        return " / ".join(shown(item) for item in value.values())
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value)) or "–"
    text = "–" if value is None or value == "" else str(value)
    return text if len(text) <= 80 else text[:79] + "…"
