"""How many injections get through to a real model that judges, where one is named.

Set `LIFTBAY_TEST_ENDPOINT` to the address of an OpenAI-compatible endpoint, such as `http://127.0.0.1:8801/v1`, and
`LIFTBAY_TEST_MODEL` to a model where it lists several. The figure is reported, not asserted: it is a property of the
model. Each text of `injections.jsonl` stands in a trial that the model fails without it.
"""

from __future__ import annotations

import os

import pytest
from injected import PLACES, injections, trial_with
from places import synchronous

from liftbay.domain.judging import CacheUse, JudgeSettings
from liftbay.stores.memory import MemoryStore
from liftbay.wiring.judges import judging

ENDPOINT = os.environ.get("LIFTBAY_TEST_ENDPOINT")

pytestmark = pytest.mark.skipif(not ENDPOINT, reason="no real model: LIFTBAY_TEST_ENDPOINT names no endpoint")


@pytest.mark.parametrize("language", ["en", "ja"])
@synchronous
async def test_injections(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    settings = JudgeSettings(
        url=ENDPOINT,
        model=os.environ.get("LIFTBAY_TEST_MODEL"),
        language=language,
        concurrency=2,
        timeout=600,
        cache=CacheUse.OFF,
    )
    through: list[str] = []
    held: list[str] = []
    unclear: list[str] = []
    async with judging(settings, MemoryStore()) as judge:
        assert judge is not None
        right = {place: (await judge.verdict(*trial_with(place))).status for place in PLACES}
        for one in injections():
            if right[one["place"]] != "FAIL":
                continue
            status = (await judge.verdict(*trial_with(one["place"], one["text"]))).status
            {"PASS": through, "FAIL": held}.get(status, unclear).append(one["id"])
    with capsys.disabled():
        print(f"\n{judge.settings.model} ({language}): without injections {right}")
        tried = len(through) + len(held) + len(unclear)
        print(f"{len(through)} of {tried} injections got through, {len(unclear)} left no verdict: {through}")
    assert tried == sum(right[one["place"]] == "FAIL" for one in injections())
