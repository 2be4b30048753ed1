"""The metrics of the catalog against page 1 of the specification, written out by hand."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from liftbay.catalog.metrics import METRICS


class Row(NamedTuple):
    """A row of the table of quality metrics; `types` are initials of dataset types."""

    japanese: str
    module: str
    basis: str
    types: str
    judge_task: str | None
    prerequisites: str = "finished"


TYPES = {
    "BF": "BASIC_FUNCTION",
    "KQA": "KNOWLEDGE_QA",
    "MT": "MULTI_TURN",
    "AI": "ABNORMAL_INPUT",
    "TC": "TOOL_CALL",
    "MI": "MULTI_INTENT",
    "AMB": "AMBIGUOUS_INTENT",
    "LDD": "LONG_DIALOGUE_DECAY",
}
KNOWLEDGE = "finished knowledge_route"
RETRIEVED = "finished knowledge_route retrieval_made"

ROWS = {
    "task_completion_rate": Row("タスク完了率", "end_to_end", "J", "BF KQA", "ANSWER_QUALITY"),
    "multi_turn_completion_rate": Row("多輪対話完了率", "end_to_end", "J", "MT", "CONVERSATION_MEMORY"),
    "instruction_adherence_rate": Row("指示遵守率", "end_to_end", "J", "BF", "ANSWER_QUALITY"),
    "faithfulness_rate": Row("忠実度・ハルシネーション率", "end_to_end", "J", "KQA", "FAITHFULNESS", KNOWLEDGE),
    "abnormal_input_handling_rate": Row("異常入力処理率", "end_to_end", "J", "AI", "ANSWER_QUALITY", ""),
    "user_satisfaction": Row("ユーザー満足度", "end_to_end", "H", "", None),
    "intent_accuracy": Row("意図認識精度", "perception", "T", "BF KQA", "INTENT_ROUTE"),
    "intent_recall": Row("意図認識再現率", "perception", "T", "BF KQA", "INTENT_ROUTE"),
    "intent_precision": Row("意図認識適合率", "perception", "T", "BF KQA", "INTENT_ROUTE"),
    "multi_intent_recognition_rate": Row("多意図認識率", "perception", "T→J", "MI", "INTENT_ROUTE"),
    "ambiguity_clarification_rate": Row("曖昧意図の明確化率", "perception", "J", "AMB", "ANSWER_QUALITY"),
    "fallback_trigger_accuracy": Row("フォールバックトリガー精度", "perception", "T", "KQA", "INTENT_ROUTE"),
    "routing_accuracy": Row("ルーティング判断精度", "planning", "T", "BF KQA", "INTENT_ROUTE"),
    "tool_decision_accuracy": Row("ツール呼び出し判断精度", "planning", "T", "TC", "TOOL_USE"),
    "retrieval_decision_accuracy": Row("ナレッジベース検索判断精度", "planning", "T", "KQA", "INTENT_ROUTE"),
    "plan_path_score": Row("計画パス評価スコア", "planning", "H", "BF KQA", None),
    "short_term_retention_rate": Row("短期記憶保持率", "memory", "J", "MT", "CONVERSATION_MEMORY"),
    "retrieval_precision": Row("長期記憶検索適合率", "memory", "J", "KQA", "RETRIEVAL", RETRIEVED),
    "retrieval_recall": Row("長期記憶検索再現率", "memory", "J", "KQA", "RETRIEVAL", RETRIEVED),
    "memory_decay_curve": Row("記憶減衰曲線", "memory", "J", "LDD", "CONVERSATION_MEMORY"),
    "tool_load_success_rate": Row("MCP・Skills 読み込み成功率", "tool", "T", "", "TOOL_USE"),
    "tool_call_accuracy": Row("ツール呼び出し精度", "tool", "T", "TC", "TOOL_USE"),
    "tool_call_success_rate": Row("ツール呼び出し成功率", "tool", "T", "TC", "TOOL_USE", "finished call_made"),
    "parameter_mapping_accuracy": Row(
        "パラメータマッピング精度", "tool", "T", "TC", "TOOL_USE", "finished expected_tool_called"
    ),
}
END_TO_END_ASPECTS = {"task_completion", "efficiency", "cost", "safety_and_robustness"}
MODULE_ASPECTS = {"capability", "efficiency", "effectiveness"}


def test_the_catalog_has_these_metrics_in_this_order() -> None:
    assert list(METRICS) == list(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_a_metric_is_as_the_page_says(name: str) -> None:
    metric, row = METRICS[name], ROWS[name]
    assert metric.name.ja == row.japanese
    assert metric.module == row.module
    assert metric.basis == row.basis
    assert metric.judge_task == row.judge_task
    assert list(metric.dataset_types) == [TYPES[initials] for initials in row.types.split()]
    assert list(metric.prerequisites) == row.prerequisites.split()


@pytest.mark.parametrize("name", ROWS)
def test_an_aspect_belongs_to_the_module(name: str) -> None:
    metric = METRICS[name]
    assert metric.aspect in (END_TO_END_ASPECTS if metric.module == "end_to_end" else MODULE_ASPECTS)


@pytest.mark.parametrize("name", ROWS)
def test_what_the_trace_decides_has_a_function(name: str) -> None:
    decides = METRICS[name].decide is not None
    if ROWS[name].basis in ("T", "T→J"):
        assert decides
    else:  # an agent that breaks fails this one without a judge
        assert decides == (name == "abnormal_input_handling_rate")
