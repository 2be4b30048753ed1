"""Runs by the names that a team gives them."""

from __future__ import annotations

from liftbay.domain.result import RunRecord
from liftbay.errors import InputError
from liftbay.stores.answers import Store

NEWEST = "last"


async def set_baseline(store: Store, name: str, run: str) -> None:
    """Let a name mean a run. It may not be one that means something else already: `last`, or the id of a run."""
    if not name.strip() or not name.isprintable() or name == NEWEST:
        raise InputError(
            "this cannot be the name of a baseline", place=repr(name), remedy="choose a word, main for example"
        )
    if await store.run(name) is not None:
        raise InputError("this is the id of a run", place=name, remedy="choose another name for the baseline")
    await store.set_baseline(name, run)


async def remove_baseline(store: Store, name: str) -> None:
    """Forget a name."""
    if not await store.remove_baseline(name):
        raise _unknown(name)


async def base_of(store: Store, name_or_id: str) -> RunRecord:
    """The run that a name or an id means."""
    record = await store.run(await store.baseline(name_or_id) or name_or_id)
    if record is None:
        raise _unknown(name_or_id)
    return record


def _unknown(name: str) -> InputError:
    return InputError(
        "the store has no such baseline",
        place=name,
        remedy="list them with liftbay baseline list, or give the id of a run",
    )
