"""Sets what was made against what was expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Expected = TypeVar("Expected")
Made = TypeVar("Made")


def take_pairs(
    left: list[Expected], rest: list[Made], distance: Callable[[Expected, Made], int | None]
) -> list[tuple[Expected, Made]]:
    """Take pairs out of both lists, the nearest first, until none has a distance."""
    if len(left) == len(rest) == 1:
        return [(left.pop(), rest.pop())] if distance(left[0], rest[0]) is not None else []
    candidates = [
        (far, i, j)
        for i, one in enumerate(left)
        for j, other in enumerate(rest)
        if (far := distance(one, other)) is not None
    ]
    pairs, used_left, used_rest = [], set(), set()
    for _, i, j in sorted(candidates):
        if i not in used_left and j not in used_rest:
            pairs.append((left[i], rest[j]))
            used_left.add(i)
            used_rest.add(j)
    left[:] = [one for i, one in enumerate(left) if i not in used_left]
    rest[:] = [other for j, other in enumerate(rest) if j not in used_rest]
    return pairs
