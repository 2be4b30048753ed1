"""p values of many tests at once, adjusted so that looking at more metrics does not find more by chance."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values of Holm (1979): the chance of even one false alarm stays below the level, whatever depends.

    The smallest is multiplied by the number of tests, the next by one less, and none may fall below one before it.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [0.0] * len(order)
    largest = 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * p_values[index]))
        adjusted[index] = largest
    return adjusted
