"""The bench's judge: rules, no language model. It sees the evidence and a key, never a fault, and errs now and then."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Mapping

from liftbay.domain.case import Case
from liftbay.domain.episode import Episode, Evidence
from liftbay.domain.metric import Each, Metric
from liftbay.domain.verdict import JudgedItem, Judgement, Verdict
from liftbay.domain.vocabulary import DatasetType, VerdictStatus
from liftbay.llm.parts import holds_all, parts_of
from liftbay.llm.question import Nothing, question_of

ERRS = 0.05
_ENOUGH = 0.75  # of the facts and of the words of the key
_ENOUGH_OF_A_POINT = 0.5
_GROUNDED = 0.6
_DECLINES = re.compile(r"記載が(?:ない|ありません)|お答えできません")
_FACTS = re.compile(r"[A-Za-z][A-Za-z0-9_-]{2,}|\d+(?:\.\d+)?")
_STOCK = re.compile(
    r"記載がない|記載がありません|お答えできません|教えてください|ご確認ください|お試しください|出典|承知しました|確認できませんでした"
    r"|お知らせください|見つかりません|よろしいですか|ご質問ありがとう|確認しました。$|ご質問は|どういたしまして|こんにちは"
)
_TITLE = re.compile(r"\*\*\d+\.")  # of one of several parts of an answer
_SENTENCES = re.compile(r"(?<=。)|\n")
_SUBJECTS = re.compile(r"1005\d{12}|12\d{10}|[0-9a-f]{30}|[FSW]_[A-Z_]+_\d{3}|TG\d{4}|\([A-Z]{2}\)")
_ASKS = re.compile(r"教えてください|覚えていません|何をお調べしますか|記載がない|見つかりません")
_STILL_ABOUT_IT = 0.3
_MODEL = "scripted"

Key = Mapping[str, tuple[str, ...]]  # by case id, the right answers, turn by turn


class ScriptedJudge:
    """Decides by comparing with the right answers and with what the agent saw."""

    def __init__(self, key: Key, seed: int = 1, errs: float = ERRS) -> None:
        self._key = key
        self._seed = seed
        self._errs = errs
        self._rules: dict[str, Callable[[Evidence], bool]] = {
            "faithfulness_rate": _faithful,
            "instruction_adherence_rate": lambda evidence: _form(evidence.answer) == _form(self._right(evidence)[-1]),
        }

    async def verdict(self, metric: Metric, evidence: Evidence) -> Verdict:
        """The verdict of one metric."""
        question = question_of(metric, evidence, "en")
        if isinstance(question, Nothing):
            return Verdict(metric.id, VerdictStatus.NOT_APPLICABLE, question.reason, missing=question.missing)
        if metric.asks is not None and metric.asks.each is not None:
            return self._on_parts(metric, evidence, metric.asks.each)
        if metric.id == "instruction_adherence_rate" and not any(_form(self._right(evidence)[-1])):
            return Verdict(metric.id, VerdictStatus.NOT_APPLICABLE, "the judge found nothing to decide")
        passes = self._rules.get(metric.id, self._all_there)(evidence) ^ self._err(evidence, metric.id)
        status = VerdictStatus.PASS if passes else VerdictStatus.FAIL
        reason = None if passes else "not as it should be"
        return Verdict(metric.id, status, reason, judgement=Judgement(_MODEL, metric.id))

    async def close(self) -> None:
        """Nothing to give back."""

    def _right(self, evidence: Evidence) -> tuple[str, ...]:
        """The right answers; nothing where none is known."""
        return self._key.get(evidence.case.id, ("",) * len(evidence.case.rounds))

    def _all_there(self, evidence: Evidence) -> bool:
        """Whether every answer holds what the right one does; without a right one nothing passes."""
        if evidence.case.id not in self._key:
            return False
        if evidence.case.dataset_type is DatasetType.KNOWLEDGE_QA:
            return answers(evidence.case, evidence.answer, self._right(evidence)[-1])
        return all(
            holds(turn.answer or "", right)
            for turn, right in zip(evidence.episode.turns, self._right(evidence), strict=False)
        )

    def _on_parts(self, metric: Metric, evidence: Evidence, each: Each) -> Verdict:
        items = []
        for part in parts_of(each, evidence, "en"):
            if part.id is None:
                items.append(JudgedItem(part.label, passed=True, by_keyword=True, distance=part.distance))
                continue
            right = self._part(each, part.label, evidence) ^ self._err(evidence, f"{metric.id} {part.label}")
            items.append(JudgedItem(part.label, right, distance=part.distance))
        return Verdict(
            metric.id,
            VerdictStatus.SCORE,
            numerator=sum(item.passed for item in items),
            denominator=len(items),
            items=items,
            judgement=Judgement(_MODEL, metric.id),
        )

    def _part(self, each: Each, label: str, evidence: Evidence) -> bool:
        match each:
            case Each.CHUNK:
                return self._belongs(label, evidence)
            case Each.KNOWLEDGE_POINT:
                return holds(evidence.answer, label, enough=_ENOUGH_OF_A_POINT)
            case Each.ROUND:
                return self._retained(int(label), evidence)

    def _retained(self, round_: int, evidence: Evidence) -> bool:
        """Whether the round still speaks of what the conversation named before: of the subject, not of its details."""
        turns = evidence.episode.turns
        at = next((index for index, turn in enumerate(turns) if turn.round == round_), None)
        if at is None or at >= len(self._right(evidence)):
            return False
        answer, right = _plain(turns[at].answer or ""), _plain(self._right(evidence)[at])
        if _ASKS.search(answer) and not _ASKS.search(right):
            return False
        earlier = _plain("\n".join([*(turn.user_input for turn in turns[: at + 1]), *self._right(evidence)[:at]]))
        subjects = set(_SUBJECTS.findall(right)) & set(_SUBJECTS.findall(earlier))
        if subjects:
            return 2 * len(subjects & set(_SUBJECTS.findall(answer))) >= len(subjects)
        pairs = _pairs(right)
        return not pairs or len(pairs & _pairs(answer)) >= _STILL_ABOUT_IT * len(pairs)

    def _belongs(self, label: str, evidence: Evidence) -> bool:
        """Whether a passage has to do with the question: with its words, or with the expected points."""
        trace = evidence.trace
        chunks = [chunk for one in (trace.retrievals if trace else None) or () for chunk in one.chunks or ()]
        content = next((chunk.content for chunk in chunks if chunk.id == label), "")
        about = " ".join([evidence.case.user_input or "", *(evidence.case.expected_knowledge or ())])
        pairs = _pairs(content)
        return bool(pairs) and len(pairs & _pairs(about)) >= 3

    def _err(self, evidence: Evidence, what: str) -> bool:
        drawn = hashlib.sha256(f"{self._seed}\0{evidence.case.id}\0{what}".encode()).digest()[:8]
        return int.from_bytes(drawn) < self._errs * 2**64


def key_of(episodes: Mapping[str, tuple[Case, Episode]]) -> Key:
    """The right answers: those of the sound agent, where they hold what their case says that they must."""
    return {
        case.id: tuple(turn.answer or "" for turn in episode.turns)
        for case, episode in episodes.values()
        if _as_annotated(case, episode)
    }


def _as_annotated(case: Case, episode: Episode) -> bool:
    if case.dataset_type is DatasetType.KNOWLEDGE_QA:
        answer = episode.turns[-1].answer or ""
        return answers(case, answer, answer)
    expected = {round_.round: round_.expected_contains for round_ in case.conversation_chain}
    return all(
        not expected.get(turn.round) or holds_all(turn.answer or "", expected[turn.round]) for turn in episode.turns
    )


def answers(case: Case, answer: str, right: str) -> bool:
    """Whether a question of knowledge is answered: with every point; where there is none, by saying so."""
    if case.expected_knowledge:
        return all(holds(answer, point, enough=_ENOUGH_OF_A_POINT) for point in case.expected_knowledge)
    made_up = _facts(answer) - _facts(right) - _facts(case.user_input or "")
    return _DECLINES.search(answer) is not None and not made_up


def _facts(text: str) -> set[str]:
    return set(_FACTS.findall(_plain(text)))


def holds(answer: str, right: str, *, enough: float = _ENOUGH) -> bool:
    """Whether the answer holds the facts and most of the words of the right one."""
    answer, right = _plain(answer), _plain(right)
    if answer == right:
        return True
    facts = set(_FACTS.findall(right))
    if facts and len(facts & set(_FACTS.findall(answer))) < enough * len(facts):
        return False
    pairs = _pairs(right)
    return not pairs or len(pairs & _pairs(answer)) >= enough * len(pairs)


def _faithful(evidence: Evidence) -> bool:
    """Whether each sentence rests on what the agent saw."""
    turn = evidence.episode.turns[-1]
    seen = [turn.user_input]
    for one in (turn.trace.retrievals if turn.trace else None) or ():
        seen += [chunk.content for chunk in one.chunks or ()]
    for call in (turn.trace.tool_calls if turn.trace else None) or ():
        seen.append(json.dumps([call.arguments, call.result, call.error], ensure_ascii=False))
    grounds = _plain("\n".join(seen))
    facts, pairs = set(_FACTS.findall(grounds)), _pairs(grounds)
    for sentence in _SENTENCES.split(_plain(evidence.answer)):
        if not sentence.strip() or _STOCK.search(sentence) or _TITLE.match(sentence):
            continue
        own = _pairs(sentence)
        if set(_FACTS.findall(sentence)) - facts or (own and len(own & pairs) < _GROUNDED * len(own)):
            return False
    return True


def _form(answer: str) -> tuple[tuple[str, ...], bool]:
    """The headings, and whether there is a table."""
    headings = tuple(line for line in answer.splitlines() if line.startswith("## "))
    return headings, "| ---" in answer


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _pairs(text: str) -> set[str]:
    letters = re.sub(r"[\s、。・,.「」()|#*:-]", "", _plain(text))
    return {letters[at : at + 2] for at in range(len(letters) - 1)}
