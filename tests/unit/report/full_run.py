"""A run with something of everything: all dataset types, judged verdicts, faults, hostile texts, both languages."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from places import a_run

from liftbay.catalog.resolve import resolve, run_plan
from liftbay.domain.case import Case, ConversationRound, ExpectedTool
from liftbay.domain.episode import Episode, Fault, FaultKind, Turn
from liftbay.domain.metric import Each, Metric
from liftbay.domain.prices import Prices
from liftbay.domain.result import CaseResult, DatasetVersion, RunRecord, RunRequest, RunState
from liftbay.domain.trace import (
    Chunk,
    EvalTrace,
    Memory,
    ModelUsage,
    Perception,
    Planning,
    Retrieval,
    ToolCallRecord,
    ToolLoad,
)
from liftbay.domain.verdict import JudgedItem, Judgement, Verdict, Vote
from liftbay.domain.vocabulary import DatasetType, EvalMode, Route, VerdictStatus
from liftbay.engine.run import conclude

HOSTILE = '<script>document.title="owned"</script><img src=x onerror=alert(1)>"\'&lt; ]]> =1+1 | `x` @team \x1b[31m'
SCENES = [("stock", "在庫"), ("price", "価格"), ("ship", "配送"), ("return", "返品"), ("<b>odd</b>", "<i>奇妙</i>")]
_SOME = (
    "在庫 商品 価格 配送 返品 注文 倉庫 確認 状態 更新 販売 可能 理由 分析 設定 項目 変更 反映 期限 条件 担当",
    "一覧 詳細 登録 承認 取消 通知 履歴 SKU API MCP stock order trace id=48213 2026-11-30 エラー 例外 再試行 上限",
)
_WORDS = [word for line in _SOME for word in line.split()]
_TYPES = [*[DatasetType.KNOWLEDGE_QA] * 5, *[DatasetType.BASIC_FUNCTION] * 5, *DatasetType]
KINDS = {
    Each.CHUNK: ("relevant", "irrelevant"),
    Each.KNOWLEDGE_POINT: ("covered", "missing"),
    Each.ROUND: ("retained", "lost"),
}


def text(chance: random.Random, words: int) -> str:
    """Words that compress about as badly as real ones."""
    return "".join(f"{chance.choice(_WORDS)}{chance.choice('をにがのはで、。')}" for _ in range(words))


def a_record(cases: int, scope: str = "ALL", **changes: Any) -> RunRecord:
    """The run of these results."""
    request = RunRequest(
        scope=scope,
        agent="python:shop:answer",
        prices=Prices(input_per_million=0.4, output_per_million=1.6),
        **changes,
    )
    return a_run(
        request=request,
        state=RunState.FINISHED,
        started="2026-11-30T05:05:00.000+00:00",
        ended="2026-11-30T06:05:00.000+00:00",
        agent_name="product-centre",
        agent_version="2.3.1",
        datasets=[DatasetVersion(DatasetType.KNOWLEDGE_QA, "a1" * 32, cases, ["datasets/kqa.jsonl"])],
        planned=cases * request.trials,
        liftbay="0.0.0",
        warnings=[f"a warning with {HOSTILE}"],
    )


def results(cases: int, scope: str = "ALL", *, words: int = 40, seed: int = 7) -> Iterator[CaseResult]:
    """The results, ordered by dataset type as a store gives them."""
    chance = random.Random(seed)
    types = sorted(
        chance.choice(_TYPES) if number >= len(DatasetType) else list(DatasetType)[number] for number in range(cases)
    )
    plan = run_plan(resolve(scope))
    for number, type_ in enumerate(types):
        case = _case(chance, number, type_, words)
        episode = _episode(chance, case, words)
        judged = {
            metric.id: _verdict(chance, metric, case, episode, words)
            for metric in plan.metrics[type_]
            if metric.asks is not None and episode.finished
        }
        yield conclude(plan, case, 1, episode, judged=judged)


def _case(chance: random.Random, number: int, type_: DatasetType, words: int) -> Case:
    code, name = SCENES[min(chance.randrange(41), 40) // 10]
    asked = HOSTILE if number % 97 == 3 else text(chance, 8)
    fields: dict[str, Any] = {"user_input": asked, "reference_output": text(chance, words)}
    if type_ in (DatasetType.MULTI_TURN, DatasetType.LONG_DIALOGUE_DECAY):
        many = 3 if type_ is DatasetType.MULTI_TURN else 9
        fields = {
            "conversation_chain": [
                ConversationRound(
                    round=number,
                    user_input=text(chance, 6),
                    expected_contains=["48213"] if number > 1 else [],
                    refers_to=[1] if number in (2, 3, 5, 9) else [],
                )
                for number in range(1, many + 1)
            ],
            "reference_output": text(chance, 10),
        }
    if type_ is DatasetType.KNOWLEDGE_QA:
        fields |= {"expected_route": Route.SKILL_MISS, "expected_intent": "knowledge_qa"}
        fields["expected_knowledge"] = [text(chance, 5) for _ in range(3)]
    if type_ is DatasetType.BASIC_FUNCTION:
        skill = chance.choice(["stock_query", "trace_query", "price_check"])
        fields |= {"expected_route": Route.SKILL_HIT, "expected_intent": skill, "expected_skill": skill}
    if type_ is DatasetType.MULTI_INTENT:
        fields["expected_intents"] = ["stock_query", "price_check"]
    if type_ is DatasetType.TOOL_CALL:
        fields["expected_tools"] = [ExpectedTool("query_stock", {"productId": number, "warehouse": "東京"})]
    mode = EvalMode.E2E_MOCK if type_ is DatasetType.TOOL_CALL else EvalMode.E2E_REAL
    id_ = f"{type_.value[:3]}-{number:05}"
    return Case(id=id_, dataset_type=type_, scene_code=code, scene_name=name, eval_mode=mode, **fields)


def _episode(chance: random.Random, case: Case, words: int) -> Episode:
    turns = []
    for one in case.rounds:
        answer = HOSTILE if chance.random() < 0.02 else text(chance, words)
        trace = _trace(chance, case, words)
        latency = chance.lognormvariate(7, 0.5)
        turns.append(Turn(one.round, one.user_input, answer, trace, latency, latency / 3))
    fault = None
    if chance.random() < 0.03:
        kind = chance.choice([FaultKind.TIMEOUT, FaultKind.CRASH, FaultKind.HARNESS])
        fault, turns = Fault(kind, f"it broke: {HOSTILE}", len(turns)), turns[:-1]
    return Episode(f"s-{case.id}", turns, fault=fault, tries=3 if fault else 1)


def _trace(chance: random.Random, case: Case, words: int) -> EvalTrace:
    wrong = chance.random() < 0.2
    expected = case.expected_skill
    skill = "price_check" if wrong else expected
    route = Route.SKILL_HIT if skill else Route.SKILL_MISS
    calls: list[ToolCallRecord] = []
    if case.expected_tools:
        arguments = {"productId": case.expected_tools[0].arguments["productId"], "warehouse": "東京"}
        if chance.random() < 0.3:
            arguments["productId"] = str(arguments["productId"])
        name = "query_price" if chance.random() < 0.15 else "query_stock"
        calls = [ToolCallRecord(name, arguments, True, {"note": HOSTILE}, latency_ms=30.0, mocked=True)]
        if chance.random() < 0.1:
            calls.append(ToolCallRecord("delete_all", {}, unmocked=True))
    retrievals = []
    if case.dataset_type is DatasetType.KNOWLEDGE_QA and route is Route.SKILL_MISS:
        chunks = [Chunk(text(chance, words), f"doc-{n}", round(chance.random(), 3)) for n in range(4)]
        retrievals = [Retrieval(4, chunks, chance.lognormvariate(4, 0.4))]
    return EvalTrace(
        perception=Perception(skill is not None, skill, None, [skill or "knowledge_qa"], chance.lognormvariate(5, 0.3)),
        planning=Planning(route, None, chance.lognormvariate(4, 0.3)),
        memory=Memory(2, 3.0),
        tool_calls=calls,
        tool_loads=[ToolLoad("mcp", "stock", True), ToolLoad("skill", "price", chance.random() > 0.1)],
        retrievals=retrievals,
        model=ModelUsage(2, int(chance.lognormvariate(7, 0.4)), int(chance.lognormvariate(5, 0.5))),
    )


def _verdict(chance: random.Random, metric: Metric, case: Case, episode: Episode, words: int) -> Verdict:
    assert metric.asks is not None
    reasoning = HOSTILE if chance.random() < 0.02 else text(chance, words // 3)
    cached = chance.random() < 0.8
    vote = Vote("pass", reasoning, 0, cached, 0 if cached else 1, 900, 80, None if cached else 700.0)
    judgement = Judgement("qwen2.5-1.5b", f"{metric.id}.ja@0a1b2c3d", {"temperature": 0}, reasoning, [vote])
    if chance.random() < 0.02:
        return Verdict(metric.id, VerdictStatus.ERROR, "the judge's answer cannot be read", judgement=judgement)
    if metric.asks.each is None:
        passed = chance.random() < 0.72
        status = VerdictStatus.PASS if passed else VerdictStatus.FAIL
        return Verdict(metric.id, status, None if passed else reasoning, judgement=judgement)
    items = _items(chance, metric, case, episode, words)
    if not items:
        return Verdict(metric.id, VerdictStatus.NOT_APPLICABLE, "nothing to decide", judgement=judgement)
    n, m = sum(item.passed for item in items), len(items)
    if metric.asks.each is Each.ROUND:
        status = VerdictStatus.PASS if n == m else VerdictStatus.FAIL
        return Verdict(metric.id, status, None if n == m else reasoning, n, m, items=items, judgement=judgement)
    return Verdict(metric.id, VerdictStatus.SCORE, None, n, m, items=items, judgement=judgement)


def _items(chance: random.Random, metric: Metric, case: Case, episode: Episode, words: int) -> list[JudgedItem]:
    assert metric.asks is not None
    why = text(chance, words // 5)
    match metric.asks.each:
        case Each.CHUNK:
            trace = episode.turns[-1].trace
            chunks = trace.retrievals[0].chunks if trace and trace.retrievals else None
            return [JudgedItem(chunk.id or "", chance.random() < 0.6, why) for chunk in chunks or ()]
        case Each.KNOWLEDGE_POINT:
            return [JudgedItem(point, chance.random() < 0.8, why) for point in case.expected_knowledge or ()]
    return [
        JudgedItem(str(one.round), chance.random() < 1.02 - one.round * 0.06, why, distance=one.round - 1)
        for one in case.rounds
        if one.refers_to
    ]
