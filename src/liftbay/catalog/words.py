"""The fixed words of the vocabulary as people read them."""

from __future__ import annotations

from liftbay.domain.metric import Prerequisite
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, Dimension, JudgeTask, Module
from liftbay.language import language

MODULES = {
    Module.END_TO_END: Bilingual("end to end", "エンドツーエンド"),
    Module.PERCEPTION: Bilingual("perception", "知覚"),
    Module.PLANNING: Bilingual("planning", "計画"),
    Module.MEMORY: Bilingual("memory", "記憶"),
    Module.TOOL: Bilingual("tool", "ツール"),
    Module.GENERATION: Bilingual("generation", "生成"),
}

DIMENSIONS = {
    Dimension.QUALITY: Bilingual("quality", "品質"),
    Dimension.COST: Bilingual("cost", "コスト"),
    Dimension.PERFORMANCE: Bilingual("performance", "パフォーマンス"),
}

ASPECTS = {
    Aspect.TASK_COMPLETION: Bilingual("task completion", "タスク完成度"),
    Aspect.EFFICIENCY: Bilingual("efficiency", "効率"),
    Aspect.COST: Bilingual("cost", "コスト"),
    Aspect.SAFETY_AND_ROBUSTNESS: Bilingual("safety and robustness", "安全性と堅牢性"),
    Aspect.CAPABILITY: Bilingual("capability", "能力"),
    Aspect.EFFECTIVENESS: Bilingual("effectiveness", "有効性"),
}

BASES = {
    Basis.JUDGE: Bilingual("judge", "審判"),
    Basis.TRACE: Bilingual("trace", "トレース"),
    Basis.HUMAN: Bilingual("human", "人"),
    Basis.TRACE_THEN_JUDGE: Bilingual("trace, else judge", "トレース、なければ審判"),
}

JUDGE_TASKS = {
    JudgeTask.ANSWER_QUALITY: Bilingual("answer quality", "回答品質"),
    JudgeTask.FAITHFULNESS: Bilingual("faithfulness", "忠実性"),
    JudgeTask.INTENT_ROUTE: Bilingual("intent and route", "意図・ルート"),
    JudgeTask.TOOL_USE: Bilingual("tool use", "ツール"),
    JudgeTask.RETRIEVAL: Bilingual("retrieval", "検索"),
    JudgeTask.CONVERSATION_MEMORY: Bilingual("conversation and memory", "多輪・記憶"),
}

PREREQUISITES = {
    Prerequisite.FINISHED: Bilingual("the trial finished", "試行が完了した"),
    Prerequisite.KNOWLEDGE_ROUTE: Bilingual(
        "the request was not routed to a Skill where none covers it",
        "Skill の範囲外の依頼が Skill に振り分けられていない",
    ),
    Prerequisite.RETRIEVAL_MADE: Bilingual("a retrieval was made", "検索が実行された"),
    Prerequisite.EXPECTED_TOOL_CALLED: Bilingual("an expected tool was called", "期待されるツールが呼び出された"),
    Prerequisite.CALL_MADE: Bilingual("a tool was called", "ツールが呼び出された"),
}


def text_of(text: Bilingual) -> str:
    """A text in the language in use."""
    return text.ja if language() == "ja" else text.en
