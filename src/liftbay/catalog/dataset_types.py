"""The eight dataset types: how big and how built, and the metric that decides their cases."""

from __future__ import annotations

import msgspec

from liftbay.domain.vocabulary import Bilingual, DatasetType


class DatasetTypeInfo(msgspec.Struct, frozen=True, rename="camel"):
    """One dataset type. A conversation is one case, so its recommended size counts conversations."""

    id: DatasetType
    name: Bilingual
    recommended_size: int  # cases, at least
    built: Bilingual
    main_metric: str
    reason: Bilingual  # why this metric decides


_ROWS = (
    DatasetTypeInfo(
        DatasetType.BASIC_FUNCTION,
        Bilingual("Basic Skills", "基本スキル"),
        50,
        Bilingual(
            "Skill by Skill; where an analysis needs live data, mock tool results stand in.",
            "Skill ごとに作成する。リアルタイムのデータが必要な分析では、モックのツール結果を使う。",
        ),
        "task_completion_rate",
        Bilingual(
            "Unless the user's question is settled in the end, nothing before it counts.",
            "最終的にユーザーの問いが解決しなければ、途中がどうであれ合格とは言えない。",
        ),
    ),
    DatasetTypeInfo(
        DatasetType.KNOWLEDGE_QA,
        Bilingual("Knowledge questions", "知識応答"),
        100,
        Bilingual(
            "Questions and answers drawn from the knowledge base: with an answer, without one (fallback), with a "
            "partial match, and negative samples: plausible things that do not exist, questions to be declined.",
            "ナレッジベースから質問と回答の組を作る。答えがあるもの、ないもの（フォールバック）、部分的に一致するもの、"
            "負例（もっともらしいが存在しないもの、回答を断るべき質問）を含める。",
        ),
        "task_completion_rate",
        Bilingual(
            "A question that is not answered correctly is not passed.",
            "質問に正しく答えられていなければ合格にはならない。",
        ),
    ),
    DatasetTypeInfo(
        DatasetType.MULTI_TURN,
        Bilingual("Multi-turn dialogue", "多輪対話"),
        10,
        Bilingual(
            "Chains of 2–5 turns: references back, changes of topic, pronouns, the user correcting the agent, facts "
            "that were confirmed already.",
            "2〜5 ターンの対話。前の発言の参照、話題の切り替え、指示語、ユーザーによる訂正、確認済みの事実を含める。",
        ),
        "multi_turn_completion_rate",
        Bilingual(
            "What matters is the course of the whole conversation, not a single answer.",
            "問われるのは個々の応答ではなく、対話全体の流れである。",
        ),
    ),
    DatasetTypeInfo(
        DatasetType.ABNORMAL_INPUT,
        Bilingual("Abnormal input", "異常入力"),
        20,
        Bilingual(
            "Empty, very long and garbled input, special characters, prompt injection.",
            "空、極端に長い入力、文字化け、特殊文字、プロンプトインジェクション。",
        ),
        "abnormal_input_handling_rate",
        Bilingual(
            "There is no task to complete; what counts is that the situation is handled well.",
            "完了すべきタスクはなく、その場に適切に対処できたかが重要である。",
        ),
    ),
    DatasetTypeInfo(
        DatasetType.TOOL_CALL,
        Bilingual("Tool calls", "ツール呼び出し"),
        20,
        Bilingual(
            "Tool by tool: with right, missing and wrong parameters.",
            "ツールごとに、パラメータが正しい場合、欠けている場合、誤っている場合を作成する。",
        ),
        "tool_call_accuracy",
        Bilingual(
            "Everything rests on the choice of the right tools; small deviations in detail are tolerable.",
            "正しいツールを選ぶことが大前提であり、細部の小さなずれは許容できる。",
        ),
    ),
    DatasetTypeInfo(
        DatasetType.MULTI_INTENT,
        Bilingual("Multiple intents", "マルチ意図"),
        20,
        Bilingual("Compound requests with 2–3 intents.", "2〜3 個の意図を含む複合的な依頼。"),
        "multi_intent_recognition_rate",
        Bilingual(
            "An intent that is overlooked is missing from everything that follows.",
            "見落とした意図は、その後の実行からも抜け落ちる。",
        ),
    ),
    DatasetTypeInfo(
        DatasetType.AMBIGUOUS_INTENT,
        Bilingual("Ambiguous intents", "曖昧意図"),
        20,
        Bilingual(
            "Unclear requests: a vague wish, a key parameter missing, an unclear reference.",
            "意味が不明確、重要なパラメータの欠落、指示対象が曖昧といった依頼。",
        ),
        "ambiguity_clarification_rate",
        Bilingual(
            "Asking back beats guessing, and making things up is out: behaving rightly matters more than being right.",
            "推測するより問い返すべきで、捏造は許されない。答えの正否よりも、振る舞いの正しさが重要である。",
        ),
    ),
    DatasetTypeInfo(
        DatasetType.LONG_DIALOGUE_DECAY,
        Bilingual("Decay in long dialogues", "長文対話減衰"),
        10,
        Bilingual(
            "Chains of 5 rounds and more, with questions at key rounds that need earlier information.",
            "5 ラウンド以上の対話。要所のラウンドに、以前の情報を必要とする質問を置く。",
        ),
        "memory_decay_curve",
        Bilingual(
            "It tests memory alone: how much is still held is the yardstick.",
            "記憶力だけを対象とし、どれだけ保持しているかを基準とする。",
        ),
    ),
)

DATASET_TYPES: dict[DatasetType, DatasetTypeInfo] = {row.id: row for row in _ROWS}
