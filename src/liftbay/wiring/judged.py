"""An agent with what stands round it, and the judge beside it: all that a run needs."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from liftbay.domain.case import MockData
from liftbay.domain.judging import JudgeSettings
from liftbay.domain.result import RunRecord
from liftbay.engine.instruments import Instruments
from liftbay.jobs.prepare import with_version
from liftbay.ports import JudgeCache
from liftbay.wiring.agents import Wired
from liftbay.wiring.judges import judging, with_judge
from liftbay.wiring.surroundings import started

if TYPE_CHECKING:
    from liftbay.llm.judge import LlmJudge


class Judged(msgspec.Struct, frozen=True):
    """What is ready, and who judges; None: nobody."""

    instruments: Instruments
    judge: LlmJudge | None
    wired: Wired

    def known(self, record: RunRecord) -> RunRecord:
        """The record with what is known now: the version of the agent, and the judge as it was opened."""
        return with_judge(with_version(record, self.wired.agent, self.wired.fingerprint), self.judge)


@contextlib.asynccontextmanager
async def judged(
    wired: Wired, mock_data: Mapping[str, MockData], settings: JudgeSettings | None, cache: JudgeCache
) -> AsyncIterator[Judged]:
    """The judge, then the agent, both ready; raises what `judging` and `started` raise."""
    async with judging(settings, cache) as judge, started(wired, mock_data) as surroundings:
        yield Judged(msgspec.structs.replace(surroundings, judge=judge), judge, wired)
