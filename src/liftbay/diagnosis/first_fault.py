"""The first fault of a trial: the earliest faulty turn, then causal order within it.

Every sign has a reliability. The first sign in the order is the first fault with that probability, the next one with
what is left times its own, and so on: what fails downstream of a certain fault is its consequence. What is left at
the end is shared out by the same proportions, so that the candidates' probabilities add up to 1.
"""

from __future__ import annotations

from liftbay.catalog.metrics import METRICS
from liftbay.diagnosis.answers import AnswerState, answer_state
from liftbay.diagnosis.conversation_rules import conversation_signs
from liftbay.diagnosis.knowledge_rules import knowledge_signs
from liftbay.diagnosis.rules import verdict_signs
from liftbay.diagnosis.signs import Sign, why
from liftbay.diagnosis.trace_rules import call_signs, load_signs, planning_signs, route_signs
from liftbay.diagnosis.view import View, calls_of
from liftbay.domain.blame import Blame, Candidate, Culprit
from liftbay.domain.episode import Fault
from liftbay.domain.result import CaseResult, Outcome
from liftbay.domain.vocabulary import Module

_ORDER = {culprit: place for place, culprit in enumerate(Culprit)}
_LEAST_PROBABILITY = 0.005
_WORDED = ("ambiguity_clarification_rate",)  # its module is perception, and what is judged is the answer
_LAST = 10_000  # the turn of a sign on the whole trial


def blame_of(result: CaseResult) -> Blame:
    """Whose fault it is that the trial failed or was left undecided; of one that passed, nobody's."""
    if result.outcome is Outcome.PASSED:
        return Blame()
    if (fault := result.episode.fault) is not None:
        return Blame((_environment(fault),))
    return faults_of(result)


def faults_of(result: CaseResult) -> Blame:
    """The same whatever the outcome: of a trial that passed, what failed in it all the same."""
    view = View(result)
    signs = verdict_signs(view) + load_signs(view)
    if result.outcome is Outcome.FAILED or view.failed:
        signs += call_signs(view)
    if result.outcome is Outcome.FAILED:
        signs += (
            route_signs(view)
            + planning_signs(view)
            + knowledge_signs(view)
            + conversation_signs(view)
            + _left_over(view)
        )
    elif view.failed:
        signs += conversation_signs(view) if view.case.conversation_chain else knowledge_signs(view)
    return Blame(tuple(_candidates(signs)))


def _environment(fault: Fault) -> Candidate:
    return Candidate(
        Culprit.ENVIRONMENT,
        1.0,
        None,
        why("the trial did not finish", came=fault.message),
        fault.turn,
        (("fault", fault.kind.value),),
    )


def _left_over(view: View) -> list[Sign]:
    """The answer itself, where the trace shows the modules before it at work and the whole fails."""
    whole = [metric for metric in view.failed if METRICS[metric].module is Module.END_TO_END or metric in _WORDED]
    if not whole or not view.traced:
        return []
    said = "the answer falls short, and nothing before it does"
    turn = view.turns[-1]
    state = answer_state(view, turn)
    if state in (AnswerState.STRAYS, AnswerState.THIN):
        told = "the answer says what nothing holds" if state is AnswerState.STRAYS else "the answer tells nothing of it"
        return [Sign(culprit=Culprit.GENERATION, reliability=0.8, why=told, metric=whole[0], turn=turn.round)]
    if state is AnswerState.KEEPS and calls_of(turn) and len(view.turns) == 1:
        worded = "instruction_adherence_rate" in view.failed
        told = "the answer tells what the calls found, and falls short"
        return [
            Sign(culprit=Culprit.TOOL, reliability=0.15 if worded else 0.35, why=told, turn=turn.round),
            Sign(culprit=Culprit.GENERATION, reliability=0.6, why=said, metric=whole[0]),
        ]
    return [Sign(culprit=Culprit.GENERATION, reliability=0.4, why=said, metric=whole[0])]


def _candidates(signs: list[Sign]) -> list[Candidate]:
    """One for each module, the most probable first, with its strongest sign as the reason."""
    left = 1.0
    shares: dict[Culprit, float] = {}
    strongest: dict[Culprit, tuple[float, Sign]] = {}
    abouts: dict[Culprit, dict[tuple[str, str], None]] = {}
    for sign in sorted(signs, key=_place):
        share = left * sign.reliability
        left -= share
        shares[sign.culprit] = shares.get(sign.culprit, 0.0) + share
        abouts.setdefault(sign.culprit, {}).update(dict.fromkeys(sign.about))
        if sign.culprit not in strongest or share > strongest[sign.culprit][0]:
            strongest[sign.culprit] = share, sign
    total = sum(shares.values())
    if not total:
        return []
    kept = {culprit: share for culprit, share in shares.items() if share / total >= _LEAST_PROBABILITY}
    total = sum(kept.values())
    candidates = []
    for culprit in sorted(kept, key=lambda one: (-kept[one], _ORDER[one])):
        sign = strongest[culprit][1]
        candidates.append(
            Candidate(culprit, kept[culprit] / total, sign.metric, sign.why, sign.turn, tuple(abouts[culprit]))
        )
    return candidates


def _place(sign: Sign) -> tuple[int, int]:
    turn = _LAST if sign.turn is None else sign.turn
    return turn, _ORDER[sign.culprit] if sign.place is None else sign.place
