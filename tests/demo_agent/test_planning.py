"""What is done about a message, and what of the conversation it takes over."""

from __future__ import annotations

from liftbay_demo.domain import Dialogue, Message, Plan, Route
from liftbay_demo.memory.replay import replayed
from liftbay_demo.perception.offline import OfflinePerception
from liftbay_demo.planning.offline import OfflinePlanning

P, Q = "1005006120457665", "1005006157674360"


def plan_of(perception: OfflinePerception, planning: OfflinePlanning, *said: str) -> Plan:
    messages = [message for text in said[:-1] for message in (Message("user", text), Message("assistant", "はい。"))]
    dialogue = replayed(messages, perception, planning)
    return planning.planned(said[-1], perception.understood(said[-1], dialogue), dialogue)


def calls_of(plan: Plan) -> list[tuple[str, dict[str, object]]]:
    return [(call.name, call.arguments) for step in plan.steps for call in step.calls]


def test_a_follow_up_takes_over_what_it_leaves_out(perception: OfflinePerception, planning: OfflinePlanning) -> None:
    plan = plan_of(perception, planning, f"{P} の韓国の在庫は?", "日本は?")
    assert calls_of(plan) == [("query_stock", {"productId": P, "country": "JP"})]
    plan = plan_of(perception, planning, f"{P} の韓国の在庫は?", "韓国じゃなくてフランスでした")
    assert calls_of(plan) == [("query_stock", {"productId": P, "country": "FR"})]
    plan = plan_of(perception, planning, f"{P} の韓国の在庫は?", f"{Q} だと?")
    assert calls_of(plan) == [("query_stock", {"productId": Q, "country": "KR"})]


def test_references_reach_beyond_the_turn_before(perception: OfflinePerception, planning: OfflinePlanning) -> None:
    said = [f"{P} のタグを見て", f"{Q} のタグを見て", "返品期間は何日?"]
    assert calls_of(plan_of(perception, planning, *said, "その商品の在庫は?")) == [("query_stock", {"productId": Q})]
    assert calls_of(plan_of(perception, planning, *said, "最初の商品の在庫は?")) == [("query_stock", {"productId": P})]


def test_what_is_missing_is_asked_for(perception: OfflinePerception, planning: OfflinePlanning) -> None:
    plan = plan_of(perception, planning, "なぜ売れないのか診断して")
    assert plan.route is Route.SKILL_HIT
    assert plan.steps[0].missing == ("productId", "country")
    assert calls_of(plan) == []
    plan = plan_of(perception, planning, "在庫を教えて", P)
    assert calls_of(plan) == [("query_stock", {"productId": P})]


def test_what_has_not_its_form_is_not_used(perception: OfflinePerception, planning: OfflinePlanning) -> None:
    plan = plan_of(perception, planning, "商品 10050061 の在庫は?")
    assert calls_of(plan) == []
    assert [one.value for one in plan.steps[0].malformed] == ["10050061"]
    assert calls_of(plan_of(perception, planning, f"{P} の変更履歴を1年分", "はい、お願いします")) == [
        ("query_change_log", {"productId": P, "days": 180})
    ]


def test_what_is_kept_in_mind(perception: OfflinePerception, planning: OfflinePlanning) -> None:
    profile = plan_of(perception, planning, "私は審査担当の田中です。表はいらないです").store
    assert (profile.name, profile.role, profile.no_tables) == ("田中", "審査担当", True)
    assert Dialogue().profile.name is None


def test_a_question_that_leans_on_the_last_is_looked_up_with_it(
    perception: OfflinePerception, planning: OfflinePlanning
) -> None:
    plan = plan_of(perception, planning, "動画の形式の決まりは?", "その容量は?")
    assert plan.steps[0].query == "動画の形式の決まりは? その容量は?"
