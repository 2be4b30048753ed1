"""What the user's inputs of failing trials have in common and those of passing ones have not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from liftbay.diagnosis.overlap import folded

_LEAST_SHARE = 0.6  # of the failing inputs that hold the phrase
_MOST_ELSEWHERE = 0.2  # of the passing ones
_LEAST_INPUTS = 3
_LONGEST = 30
# A word in Latin letters, a run of katakana, a run of kanji with the kana that may end it; numbers are never what
# inputs have in common.
_PHRASE = re.compile(r"[a-z][a-z_-]{2,}|[ァ-ヴー]{2,}|[々〆一-鿿]{2,}")
_EMPTY = frozenset(
    ("the", "and", "for", "you", "are", "was", "what", "which", "that", "this", "with", "how", "can", "has")
)


def phrases_of(text: str) -> set[str]:
    """The words of a text that could name what it is about."""
    return {word for word in _PHRASE.findall(folded(text)) if word not in _EMPTY and len(word) <= _LONGEST}


def shared_phrase(failing: Sequence[str], passing: Sequence[str]) -> str | None:
    """The phrase of most failing inputs that few passing ones have; None: there is none."""
    return _most_telling(failing, passing) if len(failing) >= _LEAST_INPUTS else None


def lacking_phrase(failing: Sequence[str], passing: Sequence[str]) -> str | None:
    """The phrase of most passing inputs that few failing ones have; None: there is none."""
    if min(len(failing), len(passing)) < _LEAST_INPUTS:
        return None
    return _most_telling(passing, failing)


def _most_telling(having: Sequence[str], lacking: Sequence[str]) -> str | None:
    counts = Counter(phrase for text in having for phrase in phrases_of(text))
    elsewhere = Counter(phrase for text in lacking for phrase in phrases_of(text))
    told = [
        (count / len(having) - elsewhere[phrase] / max(1, len(lacking)), len(phrase), phrase)
        for phrase, count in counts.items()
        if count >= _LEAST_SHARE * len(having) and elsewhere[phrase] <= _MOST_ELSEWHERE * len(lacking)
    ]
    return max(told)[2] if told else None
