"""Who judges a run and how, and what that took."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

KEY_VARIABLE = "LIFTBAY_JUDGE_API_KEY"  # not that of the agent: its key must not go to another host unasked


class CacheUse(StrEnum):
    """What the store's answers of judges are used for."""

    READ_WRITE = "read-write"
    READ = "read"
    WRITE = "write"  # everything is asked, and what is new is kept
    OFF = "off"


class JudgeSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A judge as the run keeps it: without secrets. Times in seconds."""

    url: str | None = None  # as it may be shown; None: recorded answers are all there is
    file: str | None = None  # the TOML file that says the address
    answers: str | None = None  # the file of recorded answers that stands in for an endpoint
    model: str | None = None  # None: the only one that there is; known once the judge is opened
    language: str | None = None  # None: that of the user, or of the recorded answers; known once the judge is opened
    votes: int = 1
    concurrency: int = 4
    timeout: float = 120.0  # for one call
    parameters: dict[str, Any] = {}  # go into every request
    api_key_env: str = KEY_VARIABLE
    cache: CacheUse = CacheUse.READ_WRITE
    most_characters: int = 16_000  # of evidence in one question


class JudgeUse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What judging took; cached answers took nothing."""

    calls: int = 0  # requests, with those that failed
    votes: int = 0  # answers that were asked for, from the endpoint or the cache
    cached: int = 0  # of these, from the cache
    errors: int = 0  # verdicts that became an ERROR
    unrecorded: int = 0  # votes that the recorded answers do not hold
    input_tokens: int = 0
    output_tokens: int = 0
    latency_ms: float = 0.0  # of all that were measured, together
    measured: int = 0  # votes with a latency

    @property
    def mean_latency_ms(self) -> float | None:
        """The mean over the votes that were asked for and answered."""
        return self.latency_ms / self.measured if self.measured else None

    def __add__(self, other: JudgeUse) -> JudgeUse:
        return JudgeUse(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})
