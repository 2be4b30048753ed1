"""The judge against endpoints: its request, its cache, its votes, and every way to fail."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import msgspec
import pytest
from aiohttp import web
from chat_server import Handler, ScriptedChat, serving
from judge_double import answered, completion, judge_at, saying, saying_items, talked
from places import synchronous

from liftbay.catalog.metrics import METRICS
from liftbay.domain.judging import CacheUse, JudgeSettings, JudgeUse
from liftbay.domain.verdict import Verdict, Vote
from liftbay.llm.asking import DOWN_AFTER
from liftbay.llm.judge import LlmJudge
from liftbay.llm.kept_answers import RecordedAnswers
from liftbay.llm.prompts import prompt_of
from liftbay.stores.memory import MemoryStore

TASK = METRICS["task_completion_rate"]
PRECISION = METRICS["retrieval_precision"]
RETENTION = METRICS["short_term_retention_rate"]
EVIDENCE = answered()


def replying(status: int, body: bytes | dict[str, Any] = b"", **named: str) -> Handler:
    """Answers with a status."""

    async def reply(_: web.Request) -> web.StreamResponse:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {name.replace("_", "-"): value for name, value in named.items()}
        return web.Response(status=status, body=content, content_type="application/json", headers=headers)

    return reply


async def hang(_: web.Request) -> web.StreamResponse:
    """Never answers."""
    await asyncio.Event().wait()
    raise AssertionError


async def break_off(request: web.Request) -> web.StreamResponse:
    """Closes the connection in the middle of the answer."""
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"choices": [')
    assert request.transport is not None
    request.transport.abort()
    return response


def vote_of(verdict: Verdict) -> Vote:
    """The only vote."""
    assert verdict.judgement is not None
    (vote,) = verdict.judgement.votes
    return vote


@synchronous
async def test_one_question_and_its_record() -> None:
    chat = ScriptedChat(saying("pass", "all of it is there"))
    async with serving(chat) as url, judge_at(url) as judge:
        verdict = await judge.verdict(TASK, EVIDENCE)
    (request,) = chat.asked
    system, user = request.pop("messages")
    prompt = prompt_of(TASK.id, "en")
    assert system == {"role": "system", "content": prompt.system}
    assert user["role"] == "user"
    assert "It is out of stock." in user["content"]
    form = request.pop("response_format")["json_schema"]
    assert form["schema"]["properties"]["verdict"]["enum"] == list(prompt.words.all)
    assert request == {"model": "m-1", "temperature": 0, "seed": 0, "max_tokens": 1024}
    assert (verdict.status, verdict.reason) == ("PASS", None)
    assert verdict.judgement is not None
    assert verdict.judgement.parameters == {"temperature": 0, "max_tokens": 1024}
    assert (verdict.judgement.model, verdict.judgement.prompt) == ("m-1", prompt.name)
    vote = vote_of(verdict)
    assert (vote.verdict, vote.reasoning, vote.seed, vote.cached) == ("pass", "all of it is there", 0, False)
    assert (vote.calls, vote.input_tokens, vote.output_tokens) == (1, 100, 20)
    assert vote.latency_ms is not None
    assert vote.latency_ms > 0


@synchronous
async def test_the_nonce_is_new_in_each_call() -> None:
    chat = ScriptedChat(saying("pass"))
    async with serving(chat) as url, judge_at(url, cache=CacheUse.OFF) as judge:
        for _ in range(2):
            await judge.verdict(TASK, EVIDENCE)
    one, other = (request["messages"][1]["content"] for request in chat.asked)
    assert one != other
    assert len({len(one), len(other)}) == 1


@synchronous
async def test_parts_become_a_ratio() -> None:
    chat = ScriptedChat(saying_items("relevant", "irrelevant", "relevant"))
    async with serving(chat) as url, judge_at(url) as judge:
        verdict = await judge.verdict(PRECISION, answered(chunks=["a", "b", "c"]))
    assert chat.asked[0]["max_tokens"] == 1024 + 3 * 192
    assert (verdict.status, verdict.numerator, verdict.denominator) == ("SCORE", 2, 3)
    assert [(item.label, item.passed, item.reasoning) for item in verdict.items] == [
        ("c-1", True, "why 1"),
        ("c-2", False, "why 2"),
        ("c-3", True, "why 3"),
    ]
    assert vote_of(verdict).verdict == "2/3"


@synchronous
async def test_keywords_ask_nobody() -> None:
    chat = ScriptedChat(saying_items("lost"))
    async with serving(chat) as url, judge_at(url) as judge:
        verdict = await judge.verdict(RETENTION, talked(([], [], "x"), ([1], ["x"], "X")))
        assert (verdict.status, verdict.numerator, verdict.denominator) == ("SCORE", 1, 1)
        assert (verdict.judgement is not None, chat.asked, judge.use) == (True, [], JudgeUse())
        verdict = await judge.verdict(RETENTION, talked(([], [], "x"), ([1], ["x"], "X"), ([1], ["x"], "no")))
    assert [(item.passed, item.by_keyword) for item in verdict.items] == [(True, True), (False, False)]


@synchronous
async def test_nothing_to_decide_asks_nobody_but_says_who_would_have_been() -> None:
    chat = ScriptedChat(saying_items("relevant"))
    async with serving(chat) as url, judge_at(url) as judge:
        verdict = await judge.verdict(PRECISION, EVIDENCE)
    assert (verdict.status, verdict.missing, chat.asked) == ("NOT_APPLICABLE", "retrievals.chunks", [])
    assert verdict.judgement is not None


class TestCache:
    @synchronous
    async def test_the_same_question_is_asked_once(self) -> None:
        chat, store = ScriptedChat(saying("fail", "no reason given")), MemoryStore()
        async with serving(chat) as url:
            async with judge_at(url, store) as judge:
                first = await judge.verdict(TASK, EVIDENCE)
            async with judge_at(url, store) as judge:
                second = await judge.verdict(TASK, EVIDENCE)
                assert judge.use == JudgeUse(votes=1, cached=1)
        assert len(chat.asked) == 1
        assert (second.status, second.reason) == (first.status, first.reason) == ("FAIL", "no reason given")
        assert vote_of(second) == Vote("fail", "no reason given", 0, cached=True)

    @synchronous
    async def test_what_changes_the_question_changes_the_key(self) -> None:
        chat, store = ScriptedChat(saying("pass")), MemoryStore()
        variants: list[dict[str, Any]] = [
            {},
            {"model": "m-2"},
            {"language": "ja"},
            {"parameters": {"top_p": 0.5}},
            {"votes": 2},
            {"most_characters": 10},
        ]
        async with serving(chat) as url:
            for settings in [*variants, *variants]:
                async with judge_at(url, store, **settings) as judge:
                    await judge.verdict(TASK, EVIDENCE)
            async with judge_at(url, store) as judge:
                await judge.verdict(TASK, answered("It is out of stock!"))
        assert len(chat.asked) == 1 + 1 + 1 + 1 + 2 + 1 + 1
        assert len([pair async for pair in store.answers()]) == 8

    @pytest.mark.parametrize(
        ("cache", "asked", "kept"),
        [(CacheUse.READ_WRITE, 0, 1), (CacheUse.READ, 0, 1), (CacheUse.WRITE, 1, 1), (CacheUse.OFF, 1, 1)],
    )
    @synchronous
    async def test_a_full_cache(self, cache: CacheUse, asked: int, kept: int) -> None:
        chat, store = ScriptedChat(saying("pass")), MemoryStore()
        async with serving(chat) as url:
            async with judge_at(url, store) as judge:
                await judge.verdict(TASK, EVIDENCE)
            async with judge_at(url, store, cache=cache) as judge:
                await judge.verdict(TASK, EVIDENCE)
        assert len(chat.asked) == 1 + asked
        assert len([pair async for pair in store.answers()]) == kept

    @pytest.mark.parametrize(
        ("cache", "kept"), [(CacheUse.READ_WRITE, 1), (CacheUse.READ, 0), (CacheUse.WRITE, 1), (CacheUse.OFF, 0)]
    )
    @synchronous
    async def test_an_empty_cache(self, cache: CacheUse, kept: int) -> None:
        store = MemoryStore()
        async with serving(ScriptedChat(saying("pass"))) as url, judge_at(url, store, cache=cache) as judge:
            await judge.verdict(TASK, EVIDENCE)
        assert len([pair async for pair in store.answers()]) == kept

    @synchronous
    async def test_an_answer_that_failed_is_not_kept(self) -> None:
        store = MemoryStore()
        async with serving(ScriptedChat(completion("I cannot say."))) as url, judge_at(url, store) as judge:
            await judge.verdict(TASK, EVIDENCE)
        assert [pair async for pair in store.answers()] == []

    @pytest.mark.parametrize("damage", ["{}", "half of", '{"model":"m","prompt":"p","seed":0,"answer":{}}'])
    @synchronous
    async def test_an_answer_that_does_not_fit_is_asked_for(self, damage: str) -> None:
        chat, store, damaged = ScriptedChat(saying("pass")), MemoryStore(), MemoryStore()
        async with serving(chat) as url:
            async with judge_at(url, store) as judge:
                await judge.verdict(TASK, EVIDENCE)
            await damaged.keep_all([(key, damage) async for key, _ in store.answers()])
            async with judge_at(url, damaged) as judge:
                assert (await judge.verdict(TASK, EVIDENCE)).status == "PASS"
        assert len(chat.asked) == 2

    @synchronous
    async def test_recorded_answers_alone(self) -> None:
        store = MemoryStore()
        async with serving(ScriptedChat(saying("pass"))) as url, judge_at(url, store) as judge:
            await judge.verdict(TASK, EVIDENCE)
        recorded = RecordedAnswers({key: answer async for key, answer in store.answers()})
        judge = LlmJudge(JudgeSettings(model="m-1", language="en", answers="x"), None, recorded)
        assert (await judge.verdict(TASK, EVIDENCE)).status == "PASS"
        other = await judge.verdict(TASK, answered("other"))
        assert (other.status, other.reason) == ("ERROR", "not in the recorded answers")
        assert judge.use == JudgeUse(votes=2, cached=1, errors=1, unrecorded=1)
        await judge.close()


class TestVotes:
    @synchronous
    async def test_each_has_its_seed_and_its_key(self) -> None:
        async def by_seed(request: web.Request) -> web.StreamResponse:
            seed = (await request.json())["seed"]
            seen.append(seed)
            return web.json_response(saying("fail" if seed == 1 else "pass", f"seed {seed}"))

        seen: list[int] = []
        store = MemoryStore()
        async with serving(by_seed) as url:
            async with judge_at(url, store, votes=3) as judge:
                verdict = await judge.verdict(TASK, EVIDENCE)
            async with judge_at(url, store, votes=5) as judge:
                more = await judge.verdict(TASK, EVIDENCE)
        assert verdict.status == "PASS"
        assert verdict.judgement is not None
        assert verdict.judgement.parameters["temperature"] == 0.7
        assert [(vote.seed, vote.verdict) for vote in verdict.judgement.votes] == [
            (0, "pass"),
            (1, "fail"),
            (2, "pass"),
        ]
        assert verdict.judgement.reasoning == "seed 0"
        assert verdict.judgement.agreement == pytest.approx(2 / 3)
        assert sorted(seen) == [0, 1, 2, 3, 4], "three of the five were kept"
        assert more.judgement is not None
        assert not more.judgement.cached


class TestFaults:
    @staticmethod
    async def verdict(*answers: Any, seconds: float = 5.0) -> tuple[Verdict, list[dict[str, Any]]]:
        """The verdict of a judge whose endpoint answers so, and what it was asked."""
        chat = ScriptedChat(*answers)
        async with serving(chat) as url, judge_at(url, seconds=seconds) as judge:
            verdict = await judge.verdict(TASK, EVIDENCE)
            assert judge.use.errors == (verdict.status == "ERROR")
            assert judge.use.calls == vote_of(verdict).calls == len(chat.asked)
        return verdict, chat.asked

    @pytest.mark.parametrize(
        ("reply", "calls", "reason"),
        [
            (hang, 3, "timeout"),
            (break_off, 3, "it could not be reached"),
            (replying(500), 3, "it could not be reached"),
            (replying(429, retry_after="0"), 3, "it could not be reached"),
            (replying(401, b"who are you"), 1, "the request was refused"),
            (replying(302, Location="http://elsewhere/"), 1, "the request was refused"),
            (replying(200, b"<html>"), 1, "the answer could not be understood"),
            (replying(200, b'{"choices": [{"mess'), 1, "the answer could not be understood"),
            (replying(200, {"choices": []}), 1, "the answer could not be understood"),
            (replying(200, {"error": {"message": "no"}}), 1, "the answer could not be understood"),
            (replying(200, {"error": {"code": 503}}), 3, "it could not be reached"),
        ],
    )
    @synchronous
    async def test_no_answer(self, reply: Handler, calls: int, reason: str) -> None:
        verdict, asked = await self.verdict(reply, seconds=0.2 if reply is hang else 5.0)
        assert (verdict.status, verdict.reason) == ("ERROR", f"the judge did not answer: {reason}")
        assert len(asked) == calls
        vote = vote_of(verdict)
        assert (vote.verdict, vote.latency_ms) == (None, None)
        assert vote.error

    @synchronous
    async def test_a_server_that_is_not_there(self) -> None:
        async with judge_at("http://127.0.0.1:9/v1") as judge:
            verdict = await judge.verdict(TASK, EVIDENCE)
        assert (verdict.status, verdict.reason) == ("ERROR", "the judge did not answer: it could not be reached")

    @synchronous
    async def test_one_that_comes_back(self) -> None:
        verdict, asked = await self.verdict(replying(500), replying(429), saying("pass"))
        assert (verdict.status, len(asked), vote_of(verdict).calls) == ("PASS", 3, 3)

    @pytest.mark.parametrize(
        "content",
        [
            "",
            "The answer is fine.",
            '{"reasoning": "half of it',
            {"reasoning": "x", "verdict": "perhaps"},
            {"verdict": "pass"},
            "{" * 1_000_000,
            "x" * 1_100_000,
            [1, 2],
            "合格だと思います",
        ],
    )
    @synchronous
    async def test_an_answer_that_cannot_be_read_is_asked_for_once_more(self, content: Any) -> None:
        verdict, asked = await self.verdict(completion(content))
        assert (verdict.status, verdict.reason) == ("ERROR", "the judge's answer cannot be read")
        assert len(asked) == 2
        verdict, asked = await self.verdict(completion(content), saying("fail"))
        assert verdict.status == "FAIL"
        system, user, said, again = asked[1]["messages"]
        assert [system, user] == asked[0]["messages"]
        assert (said["role"], len(said["content"]) <= 4_000) == ("assistant", True)
        assert again["role"] == "user"
        assert again["content"].startswith("Your answer cannot be used: ")
        assert vote_of(verdict).input_tokens == 200

    @synchronous
    async def test_prose_round_the_json(self) -> None:
        verdict, asked = await self.verdict(completion('Well:\n```json\n{"reasoning":"r","verdict":"Pass",}\n```'))
        assert (verdict.status, len(asked)) == ("PASS", 1)

    @synchronous
    async def test_missing_items(self) -> None:
        chat = ScriptedChat(saying_items("relevant"), saying_items("relevant", "relevant"))
        async with serving(chat) as url, judge_at(url) as judge:
            verdict = await judge.verdict(PRECISION, answered(chunks=["a", "b"]))
        assert (verdict.numerator, len(chat.asked)) == (2, 2)
        assert "no item: 2" in chat.asked[1]["messages"][3]["content"]

    @pytest.mark.parametrize("status", [400, 422])
    @synchronous
    async def test_a_server_without_response_format_is_asked_without_it(self, status: int) -> None:
        async def old(request: web.Request) -> web.StreamResponse:
            asked.append("response_format" in await request.json())
            if asked[-1]:
                return web.json_response({"error": "unknown field"}, status=status)
            return web.json_response(saying("pass"))

        asked: list[bool] = []
        async with serving(old) as url, judge_at(url) as judge:
            for text in ("one", "two", "three"):
                assert (await judge.verdict(TASK, answered(text))).status == "PASS"
        assert asked == [True, False, False, False]

    @synchronous
    async def test_a_refusal_for_another_reason_teaches_nothing(self) -> None:
        chat = ScriptedChat(replying(400), replying(400), saying("pass"))
        async with serving(chat) as url, judge_at(url) as judge:
            refused = await judge.verdict(TASK, EVIDENCE)
            assert refused.reason == "the judge did not answer: the request was refused"
            await judge.verdict(TASK, EVIDENCE)
        assert ["response_format" in request for request in chat.asked] == [True, False, True]

    @synchronous
    async def test_a_judge_that_is_down_is_not_tried_again_and_again(self) -> None:
        chat = ScriptedChat(*[replying(500)] * (3 * DOWN_AFTER + 2), saying("pass"), replying(500))
        async with serving(chat) as url, judge_at(url) as judge:
            calls = []
            for number in range(DOWN_AFTER + 4):
                before = len(chat.asked)
                await judge.verdict(TASK, answered(str(number)))
                calls.append(len(chat.asked) - before)
        assert calls == [3] * DOWN_AFTER + [1, 1, 1, 3], "one answer, and there is patience again"

    @synchronous
    async def test_the_key_is_in_no_record(self) -> None:
        async def telltale(request: web.Request) -> web.StreamResponse:
            said = request.headers["Authorization"]
            return web.json_response({"error": {"message": said}}, status=403)

        async with serving(telltale) as url, judge_at(url) as judge:
            verdict = await judge.verdict(TASK, EVIDENCE)
        record = msgspec.json.encode((verdict, judge.settings)).decode()
        assert "Bearer ***" in record
        assert "key-of-the-judge" not in record


@synchronous
async def test_no_more_at_once_than_was_said() -> None:
    async def slow(_: web.Request) -> web.StreamResponse:
        waiting.add(token := object())
        at_once.append(len(waiting))
        await asyncio.sleep(0.02)
        waiting.remove(token)
        return web.json_response(saying("pass"))

    waiting: set[object] = set()
    at_once: list[int] = []
    async with serving(slow) as url, judge_at(url, concurrency=3, votes=2) as judge:
        begun = time.perf_counter()
        await asyncio.gather(*(judge.verdict(TASK, answered(str(number))) for number in range(9)))
        wall = (time.perf_counter() - begun) * 1000
        assert judge.use.calls == judge.use.votes == judge.use.measured == 18
        assert judge.use.mean_latency_ms is not None
        assert 20 <= judge.use.mean_latency_ms < wall, "waiting for a slot is no latency"
    assert max(at_once) == 3


def test_what_was_used_adds_up() -> None:
    one = JudgeUse(calls=1, votes=1, latency_ms=10, measured=1)
    assert one + JudgeUse(calls=2, cached=1, latency_ms=20, measured=1) == JudgeUse(
        calls=3, votes=1, cached=1, latency_ms=30, measured=2
    )
    assert JudgeUse().mean_latency_ms is None
