"""Tools of a Python agent, for the tests to replace; each says that it was really called."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any


def search(city: str, people: int = 2, *more: str, **options: Any) -> dict[str, Any]:
    """Search for hotels."""
    return {"really": city, "people": people}


async def book(hotel: str, *, nights: int = 1) -> str:
    """Book a hotel."""
    await asyncio.sleep(0.02)
    return f"really {hotel} for {nights}"


def failing(why: str) -> str:
    """Fail."""
    raise ValueError(why)


def pages() -> Iterator[str]:
    """Not one result."""
    yield "page"


class Client:
    """A client of a service."""

    def find(self, city: str) -> str:
        """Find."""
        return f"really {city}"

    @classmethod
    def of(cls, city: str) -> str:
        """Find with the class."""
        return f"really {cls.__name__} {city}"

    @staticmethod
    def at(city: str) -> str:
        """Find with neither."""
        return f"really {city}"


class Special(Client):
    """A client that inherits."""


class Slotted:
    """Objects of it cannot be changed."""

    __slots__ = ()

    def find(self) -> str:
        """Find."""
        return "really"


client = Client()
slotted = Slotted()
not_a_function = {"a": 1}
