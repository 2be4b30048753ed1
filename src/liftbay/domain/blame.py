"""Which module made a trial fail, as far as its verdicts tell."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Culprit(StrEnum):
    """What a fault is laid to, in causal order within a turn; the environment comes before all."""

    ENVIRONMENT = "environment"  # execution faults: the trial did not finish
    PERCEPTION = "perception"
    PLANNING = "planning"
    MEMORY = "memory"
    TOOL = "tool"
    GENERATION = "generation"


class Candidate(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One possible first fault. The probabilities of a trial's candidates add up to 1."""

    culprit: Culprit
    probability: float
    metric: str | None  # whose verdict says so; None for the environment
    why: str  # what was expected and what came, in plain English words
    turn: int | None = None  # the round, from 1; None where the verdict is on the whole trial
    about: tuple[tuple[str, str], ...] = ()  # what groups are made of: (kind, value), such as ("argument", "city")


class Blame(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The first fault of a trial that failed or could not be decided; no candidate: unexplained."""

    candidates: tuple[Candidate, ...] = ()  # the most probable first

    @property
    def culprit(self) -> Culprit | None:
        """The most probable one; None: unexplained."""
        return self.candidates[0].culprit if self.candidates else None
