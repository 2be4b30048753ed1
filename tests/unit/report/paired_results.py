"""Pairs of results as a test wants them: who passed, and whom the failed one is blamed on."""

from __future__ import annotations

from collections.abc import Sequence

from liftbay.diagnosis.decompose import Decomposition
from liftbay.diagnosis.explanation import Explanation
from liftbay.domain.blame import Blame, Candidate, Culprit
from liftbay.domain.case import Case
from liftbay.domain.episode import Episode, Turn
from liftbay.domain.result import CaseResult, Outcome
from liftbay.domain.trace import EvalTrace, Memory, ModelUsage, Planning, Retrieval
from liftbay.domain.vocabulary import DatasetType

METRICS = {
    Culprit.PERCEPTION: "intent_accuracy",
    Culprit.PLANNING: "routing_accuracy",
    Culprit.MEMORY: "short_term_retention_rate",
    Culprit.TOOL: "tool_call_accuracy",
    Culprit.GENERATION: "faithfulness_rate",
}
PASSED, FAILED, UNDECIDED = Outcome.PASSED, Outcome.FAILED, Outcome.UNDECIDED


def candidate(culprit: Culprit, probability: float = 1.0) -> Candidate:
    """One candidate."""
    return Candidate(culprit, probability, METRICS.get(culprit), "another one came: a → b")


def result_of(
    number: int,
    outcome: Outcome,
    *,
    trial: int = 1,
    scene: str = "default",
    turn: Turn | None = None,
    metric: str = "task_completion_rate",
) -> CaseResult:
    """A result."""
    kind, asked = DatasetType.BASIC_FUNCTION, f"question {number}"
    case = Case(id=f"case-{number:05}", dataset_type=kind, scene_code=scene, user_input=asked)
    turns = [turn or Turn(1, asked, "answer")]
    return CaseResult(
        case=case,
        trial=trial,
        episode=Episode(f"session-{number}-{trial}", turns),
        verdicts=[],
        main_metric=metric,
        outcome=outcome,
    )


def a_turn(*, latency: float, retrieval: float, tokens: int, planning: float = 10.0) -> Turn:
    """A turn with what it took."""
    trace = EvalTrace(
        planning=Planning(latency_ms=planning),
        memory=Memory(latency_ms=1.0),
        retrievals=[Retrieval(latency_ms=retrieval)],
        model=ModelUsage(1, tokens, tokens // 10),
    )
    return Turn(1, "question", "answer", trace, latency)


class Pairs:
    """Collects pairs with the blame of their failed sides, and explains them."""

    def __init__(self, probes: Sequence[str] = ()) -> None:
        self._blames: dict[int, Blame] = {}
        self.decomposition = Decomposition(probes, blame=lambda result: self._blames[id(result)])
        self._kept: list[CaseResult] = []  # an id is only one's own while the object lives

    def add(
        self,
        base: CaseResult,
        head: CaseResult,
        *,
        base_blame: Sequence[Candidate] = (),
        head_blame: Sequence[Candidate] = (),
        cluster: str | None = None,
    ) -> None:
        """Add a pair."""
        self._kept += [base, head]
        self._blames |= {id(base): Blame(tuple(base_blame)), id(head): Blame(tuple(head_blame))}
        self.decomposition.add(base, head, cluster or base.case.id)

    def explained(self) -> Explanation:
        """The explanation."""
        return self.decomposition.explanation()
