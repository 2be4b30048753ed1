"""How an answer stands to what its turn had looked up: it keeps to it, strays from it, or hardly tells of it."""

from __future__ import annotations

import re
from enum import StrEnum

from liftbay.diagnosis.overlap import folded, words_of
from liftbay.diagnosis.view import View, calls_of, gathered_in, text_of
from liftbay.domain.episode import Turn
from liftbay.domain.trace import ToolCallRecord

_FIGURE = re.compile(r"[a-z_]{3,}[a-z0-9_]*|\d{2,}")
_LEAST_STRAY = 2
_STRAY_SHARE = 0.2  # of the answer's numbers and Latin names
_RICH = 4  # words that were looked up, from which on an answer is expected to say something of them
_THIN_SHARE = 0.1


class AnswerState(StrEnum):
    """What an answer makes of what was looked up."""

    KEEPS = "keeps"
    STRAYS = "strays"  # numbers or names that nobody said and nothing holds
    THIN = "thin"  # next to nothing of it is told
    UNKNOWN = "unknown"  # nothing was looked up, or a call went wrong


def answer_state(view: View, turn: Turn) -> AnswerState:
    """How the turn's answer stands to what it had looked up."""
    gathered, calls = gathered_in(turn), calls_of(turn)
    if not gathered or any(map(went_wrong, calls)):
        return AnswerState.UNKNOWN
    answer = folded(turn.answer or "")
    made = [f"{call.name} {text_of(call.arguments)}" for call in calls]
    seen = folded(" ".join([turn.user_input, *view.earlier_texts(turn), *gathered, *made]))
    figures = set(_FIGURE.findall(answer))
    strays = sum(figure not in seen for figure in figures)
    if strays >= max(_LEAST_STRAY, _STRAY_SHARE * len(figures)):
        return AnswerState.STRAYS
    words = set().union(*map(words_of, gathered))
    if len(words) > _RICH and len(words & words_of(answer)) < _THIN_SHARE * len(words):
        return AnswerState.THIN
    return AnswerState.KEEPS


def went_wrong(call: ToolCallRecord) -> bool:
    """Whether a call failed, was answered by no mock, or had no success by its own account."""
    no_success = isinstance(call.result, dict) and call.result.get("success") is False
    return call.error is not None or call.unmocked or no_success
