"""Conversations: which round went wrong first, and whether it had lost what an earlier round said.

A round is looked at where a judge says that it lost something, or its answer lacks a keyword. Its calls tell whether
the earlier round was at hand: a value taken over from there was remembered; a call that is missing, or made with an
older value, was not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from liftbay.diagnosis.answers import AnswerState, answer_state
from liftbay.diagnosis.overlap import folded, held, holds_all
from liftbay.diagnosis.signs import Sign, why
from liftbay.diagnosis.view import KNOWN, View, calls_of, chunks_of, gathered_in, stands_in, taken_for_a_skill, text_of
from liftbay.domain.blame import Culprit
from liftbay.domain.case import ConversationRound
from liftbay.domain.episode import Turn
from liftbay.domain.trace import ToolCallRecord
from liftbay.domain.verdict import JudgedItem

RETENTION = ("short_term_retention_rate", "memory_decay_curve")
_ASKS = re.compile(r"\bask\b")
_IDENTIFIER = re.compile(r"[0-9a-z_]*[0-9][0-9a-z_]{5,}")
_NAMES = re.compile(r"[a-z0-9_\-]{4,}")


def conversation_signs(view: View) -> list[Sign]:
    """The signs of every round that went wrong, in their order."""
    if not view.case.conversation_chain:
        return []
    metric = next((name for name in RETENTION if name in view.failed), None)
    lost = {item.label: item for item in view.failed[metric].items if not item.passed} if metric else {}
    turns = {turn.round: turn for turn in view.turns}
    signs: list[Sign] = []
    for round_ in view.case.conversation_chain:
        turn = turns.get(round_.round)
        item = lost.get(str(round_.round))
        if turn is None or (item is None and holds_all(turn.answer or "", round_.expected_contains)):
            continue
        if round_.refers_to:
            signs += _referring(view, round_, turn, turns, metric if item else None, item)
        else:
            signs += _standing_alone(view, turn, round_)
    if metric and not lost:  # a verdict without its rounds
        signs.append(Sign(culprit=Culprit.MEMORY, reliability=0.8, why="an earlier round was lost", metric=metric))
    return signs


def _referring(
    view: View,
    round_: ConversationRound,
    turn: Turn,
    turns: dict[int, Turn],
    metric: str | None,
    item: JudgedItem | None,
) -> Iterator[Sign]:
    distance = round_.round - min(round_.refers_to)
    about = (("distance", str(distance)),)
    sources = [turns[number] for number in round_.refers_to if number in turns]
    culprit, reliability, said = _first_doubt(view, turn, sources, distance)
    if item is None:
        reliability *= 0.6  # a keyword alone is missing: no judge calls the round lost
    yield Sign(
        culprit=culprit,
        reliability=reliability,
        why=why(said, expected=f"round {min(round_.refers_to)}", came=f"round {round_.round}"),
        metric=metric,
        turn=turn.round,
        about=about,
    )
    yield from _in_the_answer(turn, round_, 0.4)


Doubt = tuple[Culprit, float, str]  # the module that a round points at, how surely, and what says so


def _first_doubt(view: View, turn: Turn, sources: list[Turn], distance: int) -> Doubt:
    """What a round that refers back and went wrong points at."""
    memory = turn.trace.memory if turn.trace else None
    calls, state = calls_of(turn), answer_state(view, turn)
    if state is AnswerState.STRAYS:
        return Culprit.GENERATION, 0.85, "the answer says what nothing holds"
    if memory is not None and memory.rounds is not None and memory.rounds < distance:
        return Culprit.MEMORY, 0.9, "the memory did not reach back to the round referred to"
    named = _arguments(call for source in sources for call in calls_of(source))
    if not calls and (named or taken_for_a_skill(view, turn) or (turn.trace and turn.trace.retrievals == [])):
        return _nothing_called(view, turn, named)
    made = _arguments(calls)
    same = {name for name in named.keys() & made.keys() if _same(named[name], made[name])}
    for name in named.keys() & made.keys() - same:
        if not stands_in(made[name], [turn.user_input]) and stands_in(made[name], view.earlier_texts(turn)):
            return Culprit.MEMORY, 0.9, "the call took an older value"
    return _at_hand(state, known=bool(same) or _mentioned(sources, calls))


def _at_hand(state: AnswerState, *, known: bool) -> Doubt:
    """Nothing in the calls says that the earlier round was lost."""
    if not known:
        return Culprit.MEMORY, 0.8, "the answer lost what the earlier round said"
    if state is AnswerState.THIN:
        return Culprit.GENERATION, 0.85, "the answer tells nothing of it"
    return Culprit.MEMORY, 0.3, "the answer lost what the earlier round said, though the call had it"


def _nothing_called(view: View, turn: Turn, named: dict[str, object]) -> Doubt:
    """No call was made: what was said before was not at hand, or the round was taken for another request."""
    decision = _decision(turn)
    before = [one for one in view.turns if one.round < turn.round]
    known = named.keys() | _arguments(call for one in before for call in calls_of(one)).keys()
    if taken_for_a_skill(view, turn) and not any(name in decision for name in known):
        if _ASKS.search(decision) and not any(_intents(turn) & _intents(one) for one in before):
            return Culprit.PERCEPTION, 0.8, "the Skill that was hit asks for what another request would need"
        if decision and not _ASKS.search(decision):
            return Culprit.PLANNING, 0.8, "a Skill was hit, and no tool was called"
    if not named and taken_for_a_skill(view, turn) is False:
        return Culprit.PLANNING, 0.7, "nothing was looked up"
    return Culprit.MEMORY, 0.85, "nothing was called with what the earlier round named"


def _arguments(calls: Iterable[ToolCallRecord]) -> dict[str, object]:
    return {name: value for call in calls for name, value in (call.arguments or {}).items()}


def _intents(turn: Turn) -> set[str]:
    perceived = turn.trace.perception if turn.trace else None
    return set((perceived.intents if perceived else None) or ())


def _decision(turn: Turn) -> str:
    planning = turn.trace.planning if turn.trace else None
    return (planning.decision if planning else None) or ""


def _mentioned(sources: list[Turn], calls: list[ToolCallRecord]) -> bool:
    """Whether a call holds a name or number that the user gave in the earlier rounds."""
    names = {name for source in sources for name in _NAMES.findall(folded(source.user_input))}
    return bool(names) and any(name in folded(text_of(call.arguments)) for call in calls for name in names)


def _same(one: object, other: object) -> bool:
    return folded(text_of(one)) == folded(text_of(other))


def _standing_alone(view: View, turn: Turn, round_: ConversationRound) -> Iterator[Sign]:
    """A round that refers to nothing: it went wrong on its own."""
    chunks, calls = chunks_of(turn), calls_of(turn)
    if turn.trace is None:
        return
    state = answer_state(view, turn)
    covered = not chunks or _share(round_, [chunk.content for chunk in chunks]) >= KNOWN
    if state is AnswerState.STRAYS or (state is AnswerState.THIN and covered):
        said = "the answer says what nothing holds" if state is AnswerState.STRAYS else "the answer tells nothing of it"
        yield Sign(culprit=Culprit.GENERATION, reliability=0.8, why=said, turn=turn.round)
        return
    if calls:
        yield from _other_things_called(view, turn, round_, state)
    elif chunks is not None:
        share = _share(round_, [chunk.content for chunk in chunks])
        if not chunks or share < KNOWN:
            if _IDENTIFIER.search(folded(turn.user_input)) and not taken_for_a_skill(view, turn):
                said = "a named thing was not understood as a Skill's"
                yield Sign(culprit=Culprit.PERCEPTION, reliability=0.6, why=said, turn=turn.round)
            said = "retrieval found nothing" if not chunks else "the chunks lack expected knowledge"
            yield Sign(culprit=Culprit.MEMORY, reliability=0.6, why=said, turn=turn.round)
    else:
        if taken_for_a_skill(view, turn) and _ASKS.search(_decision(turn)):
            said = "the Skill that was hit asks for what another request would need"
            yield Sign(culprit=Culprit.PERCEPTION, reliability=0.7, why=said, turn=turn.round)
        yield Sign(culprit=Culprit.PLANNING, reliability=0.7, why="nothing was looked up", turn=turn.round)
    yield from _in_the_answer(turn, round_, 0.25)


def _other_things_called(view: View, turn: Turn, round_: ConversationRound, state: AnswerState) -> Iterator[Sign]:
    """Sound calls found something, and not what was expected: another request was understood, or a call is missing."""
    if state is AnswerState.UNKNOWN or _share(round_, gathered_in(turn)) >= KNOWN:
        return
    intents = _intents(turn)
    scene = view.case.scene_code if view.case.scene_code in view.skills else None
    understood = 0.4 if scene is None else 0.1 if scene in intents else 0.75
    said = "what was called is not what the round asks for"
    yield Sign(culprit=Culprit.PERCEPTION, reliability=understood, why=said, turn=turn.round)
    yield Sign(culprit=Culprit.PLANNING, reliability=0.25, why=said, turn=turn.round)


def _in_the_answer(turn: Turn, round_: ConversationRound, reliability: float) -> Iterator[Sign]:
    """What the turn had gathered holds what was expected, and the answer does not."""
    gathered = gathered_in(turn)
    if gathered and _share(round_, gathered) >= KNOWN and _share(round_, [turn.answer or ""]) < KNOWN:
        said = "what was looked up holds it, the answer does not"
        yield Sign(culprit=Culprit.GENERATION, reliability=reliability, why=said, turn=turn.round)


def _share(round_: ConversationRound, texts: list[str]) -> float:
    if round_.expected_contains:
        keywords = round_.expected_contains
        return sum(any(folded(word) in folded(text) for text in texts) for word in keywords) / len(keywords)
    return held(round_.reference_output or "", texts) or 0.0
