"""Runs of the sample agent over all of its cases, sound and with faults."""

from __future__ import annotations

import msgspec

from diagnosis_parts.agent import InProcess
from liftbay.catalog.metrics import METRICS
from liftbay.catalog.resolve import resolve, run_plan
from liftbay.datasets.cases import load_cases
from liftbay.domain.case import Case
from liftbay.domain.episode import Episode, Evidence
from liftbay.domain.result import CaseResult, Outcome, RunRequest
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import Basis, DatasetType, VerdictStatus
from liftbay.engine.instruments import Instruments
from liftbay.engine.judge import asked
from liftbay.engine.run import Trial, conclude, run
from liftbay.llm.parts import holds_all
from liftbay.mocks.interceptor import MockTools
from liftbay.ports import Judge
from liftbay.telemetry.assemble import trace_of
from liftbay.telemetry.collector import SpanCollector
from liftbay.telemetry.in_process import attach
from liftbay_demo.faults.setting import Fault
from liftbay_demo.files import datasets

_PLAN = run_plan(resolve("ALL"))
Episodes = dict[str, tuple[Case, Episode]]  # by case id


class Runner:
    """Runs the cases; the mocked tools and the spans are those of this process."""

    def __init__(self, agent: InProcess, tools: MockTools) -> None:
        source = load_cases([str(datasets())], skip_invalid=False)
        tools.use(source.mock_data)
        self.cases = [case for type_ in DatasetType for case in source.cases(type_)]
        self._agent = agent
        self._tools = tools

    async def episodes(self, faults: tuple[Fault, ...]) -> Episodes:
        """What the agent does with these faults."""
        found: Episodes = {}
        collector = SpanCollector(trace_of)
        detach = attach(collector)
        self._agent.faults = faults

        async def keep(trial: Trial) -> None:
            found[trial.case.id] = trial.case, trial.episode

        request = RunRequest(agent="demo", scope="ALL", concurrency=8, retries=0, turn_settle=0.0)
        instruments = Instruments(traces=collector, tools=self._tools)
        try:
            await run(self.cases, self._agent, request, keep, plan=_PLAN, instruments=instruments)
        finally:
            detach()
            await collector.close()
        return found

    async def sound_episodes(self) -> Episodes:
        """What the agent does without faults. Of each conversation only the part is kept that it is equal to."""
        found = await self.episodes(())
        cut = [shortened(case, episode) for case, episode in found.values()]
        self.cases = [case for case in cut if case is not None]
        return await self.episodes(())


async def judged(episodes: Episodes, judge: Judge, *, prerequisites: bool = True) -> dict[str, CaseResult]:
    """The results, by case id."""
    results = {}
    for case, episode in episodes.values():
        type_ = case.dataset_type
        evidence = Evidence(case, episode)
        said = await asked(
            judge, evidence, _PLAN.metrics[type_], main=_PLAN.main[type_][0], prerequisites=prerequisites
        )
        results[case.id] = conclude(_PLAN, case, 1, episode, prerequisites=prerequisites, judged=said)
    return results


def shortened(case: Case, episode: Episode) -> Case | None:
    """The conversation up to the round in which the sound agent errs; None where nothing is left to remember."""
    for number, (round_, turn) in enumerate(zip(case.conversation_chain, episode.turns, strict=False)):
        if round_.expected_contains and not holds_all(turn.answer or "", round_.expected_contains):
            left = case.conversation_chain[:number]
            return msgspec.structs.replace(case, conversation_chain=left) if any(r.refers_to for r in left) else None
    return case


def sound(result: CaseResult) -> bool:
    """Whether a case of the sound agent passed, and nothing that the trace decides failed on it."""
    return result.outcome is Outcome.PASSED and not any(
        _failed(verdict) and METRICS[verdict.metric].basis in (Basis.TRACE, Basis.TRACE_THEN_JUDGE)
        for verdict in result.verdicts
    )


def _failed(verdict: Verdict) -> bool:
    if verdict.status is VerdictStatus.SCORE and verdict.denominator:
        return verdict.numerator != verdict.denominator
    return verdict.status is VerdictStatus.FAIL


def first_difference(before: Episode, after: Episode) -> int | None:
    """The first turn in which the agent did anything else than the sound one; None: the fault was not applied."""
    for number, (one, other) in enumerate(zip(before.turns, after.turns, strict=False), start=1):
        if (one.answer, _timeless(one.trace)) != (other.answer, _timeless(other.trace)):
            return number
    return None if len(before.turns) == len(after.turns) else min(len(before.turns), len(after.turns)) + 1


def _timeless(value: object) -> object:
    """A trace without its times."""
    return _without(msgspec.to_builtins(value))


_TIMES = ("latencyMs", "timeToFirstTokenMs")


def _without(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without(one) for key, one in value.items() if key not in _TIMES}
    return [_without(one) for one in value] if isinstance(value, list) else value
