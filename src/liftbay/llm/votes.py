"""From the votes of a judge to one verdict.

The majority is more than half of the votes that were asked for, so that votes that failed or ended without an answer
never let a minority win. Where no word has it, the verdict is an ERROR: that the votes are tied, or what kept some from
being cast. Neither a pass nor a fail would be honest there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from liftbay.domain.verdict import JudgedItem, Judgement, Verdict, Vote
from liftbay.domain.vocabulary import VerdictStatus
from liftbay.llm.answer import Answer
from liftbay.llm.parts import Part
from liftbay.llm.prompts import Prompt

TIED = "the votes are tied"
NOTHING_TO_DECIDE = "the judge found nothing to decide"
_SHOWN = 200  # characters of a reasoning that stand as the reason of a verdict


class Ballot(msgspec.Struct, frozen=True):
    """One vote as it is kept, with its answer, or with what went wrong in words that do not differ by case."""

    vote: Vote
    answer: Answer | None = None
    fault: str | None = None


def decided(
    prompt: Prompt, model: str, parameters: dict[str, Any], ballots: Sequence[Ballot], parts: Sequence[Part]
) -> Verdict:
    """The verdict; one on parts is a ratio."""
    judgement = Judgement(model, prompt.name, parameters, votes=[ballot.vote for ballot in ballots])
    if parts:
        return _on_parts(prompt, judgement, ballots, parts)
    votes = [(ballot.answer.verdict, ballot.answer.reasoning) for ballot in ballots if ballot.answer is not None]
    found = _majority(votes, len(ballots))
    if found is None:
        return _undecided(prompt, judgement, ballots)
    word, reasoning, share = found
    judgement = msgspec.structs.replace(judgement, reasoning=reasoning, agreement=share if len(ballots) > 1 else None)
    if word == prompt.words.passing:
        return Verdict(prompt.metric, VerdictStatus.PASS, judgement=judgement)
    if word == prompt.words.failing:
        return Verdict(prompt.metric, VerdictStatus.FAIL, _short(reasoning), judgement=judgement)
    return Verdict(prompt.metric, VerdictStatus.NOT_APPLICABLE, NOTHING_TO_DECIDE, judgement=judgement)


def _on_parts(prompt: Prompt, judgement: Judgement, ballots: Sequence[Ballot], parts: Sequence[Part]) -> Verdict:
    answers = [
        {item.id: (item.verdict, item.reasoning) for item in ballot.answer.items}
        for ballot in ballots
        if ballot.answer is not None
    ]
    items = []
    shares = []
    for part in parts:
        if part.id is None:
            items.append(JudgedItem(part.label, passed=True, by_keyword=True, distance=part.distance))
            continue
        found = _majority([answer[part.id] for answer in answers], len(ballots))
        if found is None:
            return _undecided(prompt, judgement, ballots)
        word, reasoning, share = found
        shares.append(share)
        items.append(JudgedItem(part.label, word == prompt.words.passing, reasoning, distance=part.distance))
    if len(ballots) > 1:
        judgement = msgspec.structs.replace(judgement, agreement=sum(shares) / len(shares))
    passed = sum(item.passed for item in items)
    return Verdict(
        prompt.metric,
        VerdictStatus.SCORE,
        numerator=passed,
        denominator=len(items),
        items=items,
        judgement=judgement,
    )


def _majority(votes: Sequence[tuple[str | None, str]], asked: int) -> tuple[str | None, str, float] | None:
    """The word that more than half of the votes have, the first reasoning for it, and its share."""
    if not votes:
        return None
    word, count = Counter(word for word, _ in votes).most_common(1)[0]
    if 2 * count <= asked:
        return None
    return word, next(reasoning for voted, reasoning in votes if voted == word), count / asked


def _undecided(prompt: Prompt, judgement: Judgement, ballots: Sequence[Ballot]) -> Verdict:
    faults = Counter(ballot.fault for ballot in ballots if ballot.fault is not None)
    reason = faults.most_common(1)[0][0] if faults else TIED
    return Verdict(prompt.metric, VerdictStatus.ERROR, reason, judgement=judgement)


def _short(reasoning: str) -> str:
    line = " ".join(reasoning.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
