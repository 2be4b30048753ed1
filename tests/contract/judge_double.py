"""A judge's endpoint that answers as the test says, and trials for it to judge."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from liftbay.domain.case import Case, ConversationRound
from liftbay.domain.episode import Episode, Evidence, Turn
from liftbay.domain.judging import JudgeSettings
from liftbay.domain.trace import Chunk, EvalTrace, Retrieval, ToolCallRecord
from liftbay.domain.vocabulary import DatasetType
from liftbay.llm.asking import Asker
from liftbay.llm.judge import LlmJudge
from liftbay.ports import JudgeCache
from liftbay.stores.memory import MemoryStore
from liftbay.transport.chat_endpoint import ChatEndpoint
from liftbay.transport.retry import RetryPolicy

AT_ONCE = RetryPolicy(
    timeout_tries=3, timeout_wait=0.0, server_tries=3, backoff_first=0.0, backoff_longest=0.0, retry_after_longest=0.0
)


@asynccontextmanager
async def judge_at(
    url: str, store: JudgeCache | None = None, *, seconds: float = 5.0, **settings: Any
) -> AsyncIterator[LlmJudge]:
    """A judge that asks an endpoint, and does not wait before it asks again."""
    chosen = {"model": "m-1", "language": "en", "url": url, **settings}
    endpoint = ChatEndpoint(url, "key-of-the-judge", connections=8, timeout=seconds)
    asker = Asker(endpoint, concurrency=chosen.get("concurrency", 4), retries=AT_ONCE)
    await asker.start()
    judge = LlmJudge(JudgeSettings(**chosen), asker, store or MemoryStore())
    try:
        yield judge
    finally:
        await judge.close()


def completion(content: Any, *, tokens: tuple[int, int] | None = (100, 20), finish: str = "stop") -> dict[str, Any]:
    """A chat completion that says `content`: text, or a value as JSON."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    usage = {} if tokens is None else {"usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}}
    return {"model": "served-name", "choices": [choice], **usage}


def saying(verdict: str, reasoning: str = "because") -> dict[str, Any]:
    """A completion with one verdict."""
    return completion({"reasoning": reasoning, "verdict": verdict})


def saying_items(*verdicts: str) -> dict[str, Any]:
    """A completion with a verdict for each id from 1 on."""
    items = [{"id": n, "reasoning": f"why {n}", "verdict": verdict} for n, verdict in enumerate(verdicts, 1)]
    return completion({"items": items})


def answered(
    answer: str = "It is out of stock.",
    *,
    chunks: list[str] | None = None,
    calls: list[ToolCallRecord] | None = None,
    user_input: str = "Why can it not be sold?",
    **case: Any,
) -> Evidence:
    """One turn, its answer, and what the trace says was retrieved and called; without both a black box."""
    trace = None
    if chunks is not None or calls is not None:
        found = [Chunk(text, id=f"c-{n}") for n, text in enumerate(chunks or (), 1)]
        retrievals = [Retrieval(count=len(found), chunks=found)] if found else []
        trace = EvalTrace(tool_calls=calls, retrievals=None if chunks is None else retrievals)
    type_ = case.pop("dataset_type", DatasetType.KNOWLEDGE_QA)
    annotated = Case(id="1", dataset_type=type_, user_input=user_input, **case)
    return Evidence(annotated, Episode("s", [Turn(1, user_input, answer, trace)]))


def talked(*rounds: tuple[list[int], list[str], str]) -> Evidence:
    """A conversation: what each round refers to, the keywords it should hold, and its answer."""
    chain = [
        ConversationRound(round=n, user_input=f"input {n}", refers_to=refers_to, expected_contains=keywords)
        for n, (refers_to, keywords, _) in enumerate(rounds, 1)
    ]
    case = Case(id="talk", dataset_type=DatasetType.MULTI_TURN, conversation_chain=chain)
    turns = [Turn(n, f"input {n}", answer) for n, (*_, answer) in enumerate(rounds, 1)]
    return Evidence(case, Episode("s", turns))
