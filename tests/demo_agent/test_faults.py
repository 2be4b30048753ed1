"""The agent with faults: each does what it says, where it applies, and nothing elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from liftbay_demo import spans
from liftbay_demo.domain import (
    KNOWLEDGE_QA,
    Asked,
    Chunk,
    Dialogue,
    Kind,
    Mentions,
    Outcome,
    Perceived,
    Profile,
    Request,
    Route,
    ToolCall,
    Turn,
)
from liftbay_demo.faults import generation, held_out, memory, perception, planning, tool
from liftbay_demo.faults.faulty import NAMES
from liftbay_demo.faults.kinds import KINDS
from liftbay_demo.faults.setting import Fault, FaultError, faults_in
from liftbay_demo.perception.offline import OfflinePerception
from liftbay_demo.planning.offline import OfflinePlanning

Ask = Callable[..., dict[str, Any]]
Serve = Callable[..., AbstractContextManager[str]]

P = "1005006120457665"
Q = "1005007274258846"
SKILLS = ("product-query", "stock-query", "tag-analysis")
STOCK = f"{P} の韓国の在庫を教えて"
RULE = "SKU の上限は何件?"


def test_every_module_has_at_least_four_kinds_and_names_are_unique() -> None:
    modules = [kind.module for kind in KINDS if kind.fails]
    for module in (spans.PERCEPTION, spans.PLANNING, spans.MEMORY, spans.TOOL, spans.GENERATION):
        assert modules.count(module) >= 4
    assert len(NAMES) == len(KINDS) + len(held_out.HELD_OUT)
    assert len(held_out.HELD_OUT) == 5
    assert all(kind.moves for kind in KINDS)


def test_faults_are_read_from_a_text() -> None:
    assert faults_in("wrong_route:0.5:7, tool_error", NAMES) == (Fault("wrong_route", 0.5, 7), Fault("tool_error"))
    assert faults_in("", NAMES) == ()


@pytest.mark.parametrize("text", ["no_such", "wrong_route:2", "wrong_route:x", "wrong_route:1:x", "wrong_route:nan"])
def test_texts_that_set_no_fault_are_refused(text: str) -> None:
    with pytest.raises(FaultError):
        faults_in(text, NAMES)


def test_a_rate_strikes_about_its_share_and_the_same_messages_each_time() -> None:
    messages = [f"message {number}" for number in range(2000)]
    struck = [Fault("wrong_route", 0.3, 7).strikes(message) for message in messages]
    assert 500 < sum(struck) < 700
    assert struck == [Fault("wrong_route", 0.3, 7).strikes(message) for message in messages]
    assert struck != [Fault("wrong_route", 0.3, 8).strikes(message) for message in messages]
    assert all(Fault("wrong_route").strikes(message) for message in messages)
    assert not any(Fault("wrong_route", 0.0).strikes(message) for message in messages)


def test_perception_takes_one_thing_for_another() -> None:
    skill = Request("a", Kind.SKILL, "stock-query", "stock-query")
    question = Request("b", Kind.KNOWLEDGE, nearest="tag-analysis")
    both = Perceived((skill, question))

    wrong = perception.wrong_intent(both, SKILLS)
    assert wrong.intents == ["tag-analysis", KNOWLEDGE_QA]
    forced = perception.forced_skill(both, SKILLS)
    assert forced.intents == ["stock-query", "tag-analysis"]
    clinging = perception.never_falls_back(both, SKILLS)
    assert (clinging.requests[1].intent, clinging.requests[1].skill) == (KNOWLEDGE_QA, "tag-analysis")
    assert perception.missed_second_intent(both, SKILLS).intents == ["stock-query"]


def test_perception_leaves_alone_what_a_fault_does_not_concern() -> None:
    talk = Perceived((Request("hi", Kind.SMALL_TALK),))
    assert all(misunderstood(talk, SKILLS) == talk for misunderstood in perception.PERCEPTION.values())


def test_planning_decides_wrongly(perception: OfflinePerception, planning: OfflinePlanning) -> None:
    plan = _plan(perception, planning, STOCK)
    other = planning_faults("wrong_route")(plan)
    assert (other.route, other.steps[0].query, other.steps[0].calls) == (Route.SKILL_MISS, STOCK, ())
    assert [call.name for call in planning_faults("needless_tool")(plan).steps[0].calls] == [
        "query_stock",
        "query_product",
    ]
    assert planning_faults("missing_tool")(plan).steps[0].calls == ()
    assert planning_faults("no_retrieval")(plan) == plan
    question = _plan(perception, planning, RULE)
    assert question.steps[0].query is not None
    assert planning_faults("no_retrieval")(question).steps[0].query is None
    assert planning_faults("needless_tool")(question) == question


def planning_faults(kind: str) -> planning.Replanned:
    return planning.PLANNING[kind]


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("wrong_parameter", {"productId": "1005006120457666", "country": "KR"}),
        ("missing_parameter", {"productId": P}),
        ("swapped_parameter", {"productId": "KR", "country": P}),
    ],
)
def test_arguments_are_mapped_wrongly(
    perception: OfflinePerception, planning: OfflinePlanning, kind: str, arguments: dict[str, str]
) -> None:
    plan = _plan(perception, planning, STOCK)
    assert plan.steps[0].calls == (ToolCall("query_stock", {"productId": P, "country": "KR"}),)
    assert tool.MAPPING[kind](plan).steps[0].calls == (ToolCall("query_stock", arguments),)


@pytest.mark.parametrize(
    ("arguments", "others"),
    [
        ({"country": "JP"}, {"country": "KR"}),
        ({"days": 30}, {"days": 60}),
        ({"traceId": "0" * 29 + "f"}, {"traceId": "0" * 29 + "a"}),
        ({"title": "皿"}, {"title": "新皿"}),
        ({}, {}),
    ],
)
def test_a_wrong_value_has_the_form_of_the_right_one(arguments: dict[str, Any], others: dict[str, Any]) -> None:
    changed = tool.wrong_parameter(arguments)
    assert changed.keys() == others.keys()
    assert "country" in others or changed == others
    assert not arguments or changed != arguments


def test_a_server_that_is_down_refuses_its_own_tools_only() -> None:
    assert tool.refusal("mcp_down", 7, ToolCall("query_stock")) is not None
    assert tool.refusal("mcp_down", 7, ToolCall("query_trace")) is None
    assert tool.refusal("mcp_down", 8, ToolCall("query_trace")) is not None
    assert tool.refusal("tool_error", 7, ToolCall("query_trace")) is not None
    assert tool.refusal("wrong_route", 7, ToolCall("query_trace")) is None


def test_memory_loses_what_was_said() -> None:
    dialogue = _dialogue()
    short = memory.window_too_short(dialogue)
    assert (len(short.turns), short.profile.last, short.rounds) == (1, {"productId": Q}, 2)
    forgotten = memory.forgotten_entity(dialogue)
    assert (len(forgotten.turns), forgotten.profile.last, forgotten.profile.products) == (2, {}, ())
    assert all(asked.values == {} for turn in forgotten.turns for asked in turn.asked)


def test_memory_asks_again_only_for_what_an_earlier_turn_named(
    perception: OfflinePerception, planning: OfflinePlanning
) -> None:
    first = _plan(perception, planning, STOCK)
    assert memory.asks_again(first) == first
    dialogue = _dialogue()
    later = planning.planned("その在庫は?", perception.understood("その在庫は?", dialogue), dialogue)
    assert later.steps[0].calls
    again = memory.asks_again(later)
    assert (again.steps[0].calls, again.steps[0].missing) == ((), ("productId",))


def test_memory_clings_to_what_was_corrected() -> None:
    corrected = Perceived((Request("", Kind.SKILL, mentions=Mentions({"productId": (P,)})),))
    clung = memory.ignores_correction("そっちじゃなくてこれ", corrected, _dialogue())
    assert clung.requests[0].mentions.values == {"productId": (Q,)}
    assert memory.ignores_correction("これの在庫", corrected, _dialogue()) == corrected


def test_retrieval_finds_nothing_or_something_else_or_less() -> None:
    async def retrieve(query: str) -> list[Chunk]:
        return [Chunk("kb-return#1" if query.startswith("返品") else f"{query}#1", "0123456789" * 10)]

    async def found(kind: str) -> list[Chunk]:
        return await memory.RETRIEVAL[kind]("kb-sku", retrieve)

    assert asyncio.run(found("empty_retrieval")) == []
    assert [chunk.id for chunk in asyncio.run(found("irrelevant_retrieval"))] == ["kb-return#1"]
    assert [len(chunk.content) for chunk in asyncio.run(found("truncated_chunk"))] == [12]


def test_generation_words_wrongly_what_was_gathered() -> None:
    text = "## 結論\n在庫は 372 です。\n\n## 内訳\n| SKU | 数 |\n| --- | --- |\n| A | 208 |"
    assert "372" not in generation.invented_fact(text)
    assert generation.invented_fact(text).count("## ") == 2
    assert "373" in generation.contradicted_source(text)
    assert generation.contradicted_source("変更できません。") == "変更できます。"
    assert generation.format_ignored(text) == "在庫は 372 です。"
    assert generation.format_ignored("在庫は 372 です。") == "在庫は 372 です。"
    assert "372" not in generation.core_left_out(text)
    assert generation.core_left_out("30日です。\n(出典: 返品)").endswith("\n(出典: 返品)")


def test_nothing_is_understood_asked_for_again_or_said(
    perception: OfflinePerception, planning: OfflinePlanning
) -> None:
    unclear = perception_faults("understands_nothing")(perception.understood(STOCK, Dialogue()), SKILLS)
    assert unclear.requests[0].kind is Kind.UNCLEAR
    asked = planning_faults("asks_what_was_said")(_plan(perception, planning, STOCK)).steps[0]
    assert (asked.calls, len(asked.missing)) == ((), 1)
    assert "372" not in generation.evasive_answer("在庫は 372 です。")


def perception_faults(kind: str) -> perception.Misunderstood:
    return perception.PERCEPTION[kind]


def test_a_result_may_come_empty() -> None:
    call = ToolCall("query_stock")
    assert tool.empty_result(Outcome(call, {"success": True, "data": {"a": 1}})).result["data"] == {}
    assert tool.empty_result(Outcome(call, error="no")) == Outcome(call, error="no")


def test_passages_may_come_from_an_older_edition() -> None:
    async def retrieve(query: str) -> list[Chunk]:
        return [Chunk("a", "上限は30件")]

    assert asyncio.run(memory.outdated_passage("上限", retrieve)) == [Chunk("a", "上限は31件")]


def test_held_out_planning_takes_another_tool(perception: OfflinePerception, planning: OfflinePlanning) -> None:
    changed = held_out.neighbouring_tool(_plan(perception, planning, STOCK))
    assert changed.steps[0].calls == (ToolCall("query_product", {"productId": P}),)


def test_held_out_perception_hears_half(perception: OfflinePerception) -> None:
    whole = perception.understood(STOCK, Dialogue())
    half = asyncio.run(held_out.half_heard(STOCK, Dialogue(), perception.perceive))
    assert half.intents != whole.intents
    assert half.requests[0].mentions == whole.requests[0].mentions


def test_held_out_memory_mixes_passages() -> None:
    async def retrieve(query: str) -> list[Chunk]:
        kind = "kb-return" if query.startswith("返品") else "kb-sku"
        return [Chunk(f"{kind}#{number}", "") for number in (1, 2, 3)]

    found = asyncio.run(held_out.mixed_passages("SKU", retrieve))
    assert [chunk.id for chunk in found] == ["kb-return#1", "kb-return#2", "kb-sku#3"]


def test_held_out_results_and_figures() -> None:
    call = ToolCall("query_stock")
    outcome = Outcome(call, {"success": True, "data": {"productId": P, "rows": [{"n": 3, "ok": True, "s": "皿"}]}})
    data = {"productId": "1005006120457666", "rows": [{"n": 4, "ok": True, "s": "皿"}]}
    assert held_out.result_of_another(outcome).result == {"success": True, "data": data}
    assert held_out.result_of_another(Outcome(call, error="no")) == Outcome(call, error="no")
    assert held_out.figures_dropped("在庫は 372 です。") == "在庫は  です。"


def test_a_request_may_bring_faults_and_an_unknown_one_is_refused(ask: Ask, address: str) -> None:
    right = ask(address, STOCK, "right")["text"]
    assert "## " in right
    wrong = ask(address, STOCK, "wrong", faults="tool_error:1.0:7")["text"]
    assert "500 internal error" in wrong
    assert ask(address, STOCK, "flat", faults="format_ignored")["text"].count("## ") == 0
    assert ask(address, STOCK, "again")["text"] == right
    refused = ask(address, STOCK, "refused", faults="no_such")
    assert refused["status"] == 400
    assert "no_such" in refused["error"]


def test_an_agent_may_be_started_with_faults_that_a_request_lifts(serve: Serve, ask: Ask) -> None:
    with serve(env={"DEMO_FAULTS": "empty_retrieval:1.0:7"}) as address:
        assert "記載がない" in ask(address, RULE, "faulty")["text"]
        assert "出典" in ask(address, RULE, "sound", faults="")["text"]


def _plan(perception: OfflinePerception, planning: OfflinePlanning, message: str) -> Any:
    return planning.planned(message, perception.understood(message, Dialogue()), Dialogue())


def _dialogue() -> Dialogue:
    turns = tuple(
        Turn("", "", (Asked("", Kind.SKILL, "stock-query", {"productId": (product,)}),)) for product in (P, Q)
    )
    return Dialogue(turns, Profile(last={"productId": Q, "country": "KR"}, products=(P, Q)), 2)
