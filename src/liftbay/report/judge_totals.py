"""Which judges decided in a run, how much came from a cache, and what they spent."""

from __future__ import annotations

import msgspec

from liftbay.domain.verdict import Judgement, Verdict
from liftbay.domain.vocabulary import VerdictStatus


class JudgeTotals(msgspec.Struct, frozen=True, rename="camel"):
    """The verdicts of one judge."""

    model: str
    verdicts: int
    cached: int  # every vote came from the cache
    errors: int  # the judge was asked, and its answer decides nothing
    votes: int
    calls: int
    input_tokens: int
    output_tokens: int
    mean_latency_ms: float | None  # of a vote that was asked for; what came from the cache has none
    agreement: float | None  # the mean over verdicts with several votes
    prompts: dict[str, int]  # verdicts by metric.language@hash


class _Use:
    def __init__(self) -> None:
        self.verdicts = self.cached = self.errors = self.votes = self.calls = 0
        self.input_tokens = self.output_tokens = 0
        self.agreement: list[float] = [0.0, 0.0]  # sum, count
        self.latency: list[float] = [0.0, 0.0]  # sum, count
        self.prompts: dict[str, int] = {}


class JudgeTally:
    """Adds up the judgements of verdicts."""

    def __init__(self) -> None:
        self._uses: dict[str, _Use] = {}

    def add(self, verdict: Verdict, judgement: Judgement) -> None:
        """Count one verdict of a judge; one that needed no vote, decided by keywords say, is not the judge's."""
        if not judgement.votes:
            return
        use = self._uses.setdefault(judgement.model, _Use())
        use.verdicts += 1
        use.cached += judgement.cached
        use.errors += verdict.status is VerdictStatus.ERROR
        use.votes += len(judgement.votes)
        for vote in judgement.votes:
            use.calls += vote.calls
            if not vote.cached:  # what the cache spared was not spent
                use.input_tokens += vote.input_tokens or 0
                use.output_tokens += vote.output_tokens or 0
            if vote.latency_ms is not None:
                use.latency[0] += vote.latency_ms
                use.latency[1] += 1
        if judgement.agreement is not None:
            use.agreement[0] += judgement.agreement
            use.agreement[1] += 1
        use.prompts[judgement.prompt] = use.prompts.get(judgement.prompt, 0) + 1

    def uses(self) -> list[JudgeTotals]:
        """What was counted, the busiest judge first."""
        return [
            JudgeTotals(
                model,
                use.verdicts,
                use.cached,
                use.errors,
                use.votes,
                use.calls,
                use.input_tokens,
                use.output_tokens,
                use.latency[0] / use.latency[1] if use.latency[1] else None,
                use.agreement[0] / use.agreement[1] if use.agreement[1] else None,
                dict(sorted(use.prompts.items())),
            )
            for model, use in sorted(self._uses.items(), key=lambda item: -item[1].verdicts)
        ]
