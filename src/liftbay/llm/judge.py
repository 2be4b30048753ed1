"""A language model as the judge, with votes and a cache of its answers."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Any

import msgspec

from liftbay.domain.episode import Evidence
from liftbay.domain.judging import CacheUse, JudgeSettings, JudgeUse
from liftbay.domain.metric import Metric
from liftbay.domain.verdict import Judgement, Verdict, Vote
from liftbay.domain.vocabulary import VerdictStatus
from liftbay.errors import AgentError
from liftbay.llm import votes
from liftbay.llm.answer import Answer, Unreadable, read, schema_of
from liftbay.llm.asking import Asker, Message, Spent, why_unanswered
from liftbay.llm.kept_answers import KeptAnswer, key_of
from liftbay.llm.prompts import Prompt, prompt_of
from liftbay.llm.question import NO_NONCE, Nothing, Question, question_of
from liftbay.llm.votes import Ballot
from liftbay.llm.wording import AGAIN, said
from liftbay.ports import JudgeCache

UNREADABLE = "the judge's answer cannot be read"
UNRECORDED = "not in the recorded answers"
OURS = frozenset({"model", "messages", "response_format", "seed", "stream", "n", "tools"})
_TEMPERATURE_OF_VOTES = 0.7  # at 0 all votes would be the same
_TOKENS = 1024
_TOKENS_OF_PART = 192
_MOST_TOKENS = 8192
_REPEATED = 4_000  # characters of an answer that cannot be read, said again to the judge
_DETAIL = 500  # characters of what a failed vote records

_kept = msgspec.json.Decoder(KeptAnswer)


class LlmJudge:
    """A `Judge` that asks a model, or only looks into recorded answers.

    Every verdict that it gives has a `judgement`, also where nothing was asked.
    """

    def __init__(
        self,
        settings: JudgeSettings,
        asker: Asker | None,
        cache: JudgeCache,
        *,
        prompts: Callable[[str, str], Prompt] = prompt_of,
    ) -> None:
        """`settings` name the model and the language; without `asker`, what the cache does not hold is an ERROR."""
        self.settings = settings
        self.use = JudgeUse()
        self.first_failure: str | None = None  # of a call: what the endpoint said, for whoever has to mend it
        self._asker = asker
        self._cache = cache
        self._prompts = prompts
        self._model = settings.model or ""
        self._language = settings.language or "en"
        self._reads = settings.cache in (CacheUse.READ, CacheUse.READ_WRITE)
        self._writes = settings.cache in (CacheUse.WRITE, CacheUse.READ_WRITE)

    async def verdict(self, metric: Metric, evidence: Evidence) -> Verdict:
        """The verdict of a metric that asks a judge; what fails is an ERROR. Raises `StoreError` of the cache."""
        prompt = self._prompts(metric.id, self._language)
        question = question_of(metric, evidence, self._language)
        if isinstance(question, Nothing):
            unasked = Judgement(self._model, prompt.name)
            status = VerdictStatus.NOT_APPLICABLE
            return Verdict(metric.id, status, question.reason, missing=question.missing, judgement=unasked)
        if question.decided:
            return votes.decided(prompt, self._model, {}, [], question.parts)
        parameters = self._parameters(question)
        ballots = await asyncio.gather(
            *(self._vote(prompt, question, {**parameters, "seed": seed}) for seed in range(self.settings.votes))
        )
        verdict = votes.decided(prompt, self._model, parameters, ballots, question.parts)
        self.use += _used(verdict, ballots)
        return verdict

    async def close(self) -> None:
        """Give back connections."""
        if self._asker is not None:
            await self._asker.close()

    def _parameters(self, question: Question) -> dict[str, Any]:
        tokens = min(_TOKENS + _TOKENS_OF_PART * len(question.ids), _MOST_TOKENS)
        temperature = 0 if self.settings.votes == 1 else _TEMPERATURE_OF_VOTES
        return {"temperature": temperature, "max_tokens": tokens, **self.settings.parameters}

    async def _vote(self, prompt: Prompt, question: Question, parameters: dict[str, Any]) -> Ballot:
        schema = schema_of(prompt.words, question.ids)
        asked = question.text(NO_NONCE, self.settings.most_characters)
        key = key_of(prompt, self._model, parameters, schema, asked)
        seed = parameters["seed"]
        if self._reads and (answer := _usable(await self._cache.cached(key), prompt, question)):
            return Ballot(Vote(_word(prompt, answer), answer.reasoning, seed, cached=True), answer)
        if self._asker is None:
            return Ballot(Vote(None, seed=seed, error=UNRECORDED), fault=UNRECORDED)
        spent = Spent()
        try:
            answer = await self._asked(self._asker, prompt, question, parameters, schema, spent)
        except AgentError as error:
            self.first_failure = self.first_failure or str(error)
            return Ballot(_failed(seed, spent, str(error)), fault=why_unanswered(error))
        except Unreadable as error:
            return Ballot(_failed(seed, spent, str(error)), fault=UNREADABLE)
        if self._writes:
            kept = KeptAnswer(
                self._model,
                prompt.name,
                seed,
                answer,
                self.settings.parameters,
                spent.input_tokens,
                spent.output_tokens,
            )
            await self._cache.keep(key, msgspec.json.encode(kept).decode())
        vote = Vote(
            _word(prompt, answer),
            answer.reasoning,
            seed,
            calls=spent.calls,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            latency_ms=spent.latency_ms,
        )
        return Ballot(vote, answer)

    async def _asked(
        self,
        asker: Asker,
        prompt: Prompt,
        question: Question,
        parameters: dict[str, Any],
        schema: dict[str, Any],
        spent: Spent,
    ) -> Answer:
        """The answer; one that cannot be read is asked for once more, with what is wrong with it."""
        messages: list[Message] = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": question.text(secrets.token_hex(8), self.settings.most_characters)},
        ]
        request = {**parameters, "model": self._model, "messages": messages}
        first = await asker.ask(request, schema, spent)
        try:
            return read(first.text, prompt.words, question.ids, self._language)
        except Unreadable as error:
            again = said(AGAIN, self._language, why=error)
        messages = [
            *messages,
            {"role": "assistant", "content": first.text[:_REPEATED]},
            {"role": "user", "content": again},
        ]
        second = await asker.ask({**request, "messages": messages}, schema, spent)
        return read(second.text, prompt.words, question.ids, self._language)


def _usable(kept: str | None, prompt: Prompt, question: Question) -> Answer | None:
    """The answer that was kept, where it is one to this question: a file may hold anything."""
    if kept is None:
        return None
    try:
        answer = _kept.decode(kept).answer
    except msgspec.DecodeError:
        return None
    said_words = {answer.verdict} if not question.ids else {item.verdict for item in answer.items}
    fits = said_words <= set(prompt.words.all) and [item.id for item in answer.items] == question.ids
    return answer if fits else None


def _word(prompt: Prompt, answer: Answer) -> str | None:
    """What a vote says: its word, or how many of the parts passed."""
    if not answer.items:
        return answer.verdict
    return f"{sum(item.verdict == prompt.words.passing for item in answer.items)}/{len(answer.items)}"


def _failed(seed: int, spent: Spent, why: str) -> Vote:
    return Vote(
        None,
        seed=seed,
        calls=spent.calls,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        latency_ms=spent.latency_ms or None,
        error=why[:_DETAIL],
    )


def _used(verdict: Verdict, ballots: list[Ballot]) -> JudgeUse:
    cast = [ballot.vote for ballot in ballots]
    measured = [vote.latency_ms for vote in cast if vote.latency_ms is not None]
    return JudgeUse(
        calls=sum(vote.calls for vote in cast),
        votes=len(cast),
        cached=sum(vote.cached for vote in cast),
        errors=verdict.status is VerdictStatus.ERROR,
        unrecorded=sum(ballot.fault == UNRECORDED for ballot in ballots),
        input_tokens=sum(vote.input_tokens or 0 for vote in cast),
        output_tokens=sum(vote.output_tokens or 0 for vote in cast),
        latency_ms=sum(measured),
        measured=len(measured),
    )
