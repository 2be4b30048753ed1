"""A trial in a list: what was asked and answered, shortened, and the verdicts that say why it is there."""

from __future__ import annotations

from liftbay.domain.blame import Blame
from liftbay.domain.result import CaseResult
from liftbay.domain.verdict import Verdict
from liftbay.report.report import CaseLine

_SHOWN = 500


def case_line(result: CaseResult, verdicts: list[Verdict], blame: Blame | None = None) -> CaseLine:
    """The trial with these verdicts."""
    turns = result.episode.turns
    return CaseLine(
        dataset_type=result.case.dataset_type,
        id=result.case.id,
        trial=result.trial,
        scene=result.case.scene_code,
        user_input=shortened(result.case.rounds[-1].user_input),
        answer=shortened(turns[-1].answer or "") if turns else "",
        verdicts=verdicts,
        blame=blame,
    )


def example_of(result: CaseResult) -> str:
    """The trial and what ended it, in one line."""
    fault = result.episode.fault
    return f"{result.case.id} #{result.trial}" + (f": {shortened(fault.message)}" if fault else "")


def shortened(text: str) -> str:
    """At most 500 characters."""
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
