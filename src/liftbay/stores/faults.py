"""What every store says of runs that are not there, or are there already."""

from __future__ import annotations

from liftbay.errors import StoreError


def no_run(run_id: str) -> StoreError:
    """There is no run of that id to change or to add to."""
    return StoreError("the store has no such run", place=run_id, remedy="list the runs with liftbay runs list")


def run_exists(run_id: str) -> StoreError:
    """There is a run of that id already."""
    return StoreError("the store has a run of this id already", place=run_id, remedy="give the new run another id")
