"""Whether knowledge was lost by the search or by the answer: the chunks hold what was expected, or they do not."""

from __future__ import annotations

from liftbay.diagnosis.answers import AnswerState, answer_state
from liftbay.diagnosis.overlap import held
from liftbay.diagnosis.signs import Sign, why
from liftbay.diagnosis.view import KNOWN, View, calls_of, chunks_of, least_held
from liftbay.domain.blame import Culprit
from liftbay.domain.episode import Turn

_POINTS_SHOWN = 60
_ABOUT_IT = 0.25  # of the words of the question: then a passage has to do with it


def knowledge_signs(view: View) -> list[Sign]:
    """What the chunks and the answer of the last turn say about the points of knowledge that were expected."""
    if not view.turns or view.case.conversation_chain:
        return []
    turn, points = view.turns[-1], view.case.expected_knowledge or []
    if not points:
        return _without_points(view, turn)
    chunks = chunks_of(turn)
    metric = next((name for name in ("retrieval_recall", "retrieval_precision") if name in view.failed), None)
    lost = _lost_points(view)
    if chunks:
        return _between(view, turn, points, [chunk.content for chunk in chunks], metric)
    if chunks is not None:
        return [_memory(0.95, "retrieval found nothing", metric, lost)]
    return [_memory(0.6, "expected knowledge is missing", metric, lost)] if "retrieval_recall" in view.failed else []


def _between(view: View, turn: Turn, points: list[str], texts: list[str], metric: str | None) -> list[Sign]:
    """Passages came: it is the search that lost a point, or the answer."""
    weakest = min(points, key=lambda point: least_held([point], texts) or 0.0)
    found = least_held(points, texts)
    if found is not None and found < KNOWN:
        said = why("the chunks lack expected knowledge", expected=weakest[:_POINTS_SHOWN], came=f"{len(texts)} chunks")
        sure = 0.95 if found < KNOWN / 2 else 0.85
        state = answer_state(view, turn)
        about_it = (held(view.case.user_input or "", texts) or 0.0) >= _ABOUT_IT
        if state is AnswerState.STRAYS:
            sure = 0.4  # the answer is wrong whatever the passages hold
        elif state is AnswerState.THIN and about_it:
            sure = 0.3
        return [_memory(sure, said, metric, _lost_points(view))]
    in_answer = least_held(points, [turn.answer or ""])
    if "retrieval_recall" in view.failed or (in_answer is not None and in_answer < KNOWN):
        said = why("the chunks have the expected knowledge, the answer lacks it", expected=weakest[:_POINTS_SHOWN])
        sure = 0.9 if in_answer is not None and in_answer < KNOWN else 0.6
        return [Sign(culprit=Culprit.GENERATION, reliability=sure, why=said, metric=metric, turn=turn.round)]
    return []


def _without_points(view: View, turn: Turn) -> list[Sign]:
    """No points are annotated: the reference says what the passages should be about."""
    chunks = chunks_of(turn)
    if chunks is None or calls_of(turn) or answer_state(view, turn) is AnswerState.STRAYS:
        return []
    if not chunks:
        return [_memory(0.85, "retrieval found nothing", None, ())]
    texts = [chunk.content for chunk in chunks]
    about_it = held(view.case.user_input or "", texts)
    if about_it is None or about_it >= _ABOUT_IT or (held(view.case.reference_output or "", texts) or 0.0) >= KNOWN / 2:
        return []
    return [_memory(0.6, "the chunks lack expected knowledge", None, ())]


def _lost_points(view: View) -> tuple[tuple[str, str], ...]:
    verdict = view.failed.get("retrieval_recall")
    return tuple(("point", item.label) for item in verdict.items if not item.passed) if verdict else ()


def _memory(reliability: float, said: str, metric: str | None, about: tuple[tuple[str, str], ...]) -> Sign:
    return Sign(culprit=Culprit.MEMORY, reliability=reliability, why=said, metric=metric, turn=1, about=about)
