"""The fifteen scopes, and what decides a case where a scope's main metric cannot."""

from __future__ import annotations

import msgspec

from liftbay.catalog.dataset_types import DATASET_TYPES
from liftbay.catalog.probes import PROBES
from liftbay.domain.vocabulary import Bilingual, DatasetType, Module


class Scope(msgspec.Struct, frozen=True):
    """What a run can cover. `module` narrows the metrics to those of one module; None takes all that are fed."""

    id: str
    name: Bilingual
    dataset_types: tuple[DatasetType, ...]
    probes: tuple[str, ...]
    main_metric: str
    reason: Bilingual
    module: Module | None = None


class ModuleRule(msgspec.Struct, frozen=True):
    """The module's own metric for a dataset type that does not feed the main metric of the module's scope."""

    metric: str
    reason: Bilingual
    fallback: str | None = None  # decides where the metric is not applicable


_COST = ("model_calls", "tool_calls", "input_tokens", "output_tokens")
_MODULE_LATENCIES = (
    "intent_latency",
    "planning_latency",
    "memory_injection_latency",
    "retrieval_latency",
    "tool_call_latency",
    "hot_update_latency",
)

_DATASET_SCOPES = tuple(
    Scope(row.id.value, row.name, (row.id,), tuple(PROBES), row.main_metric, row.reason)
    for row in DATASET_TYPES.values()
)

_COMPOSED_SCOPES = (
    Scope(
        "END_TO_END",
        Bilingual("End to end", "エンドツーエンド"),
        (
            DatasetType.BASIC_FUNCTION,
            DatasetType.KNOWLEDGE_QA,
            DatasetType.MULTI_TURN,
            DatasetType.ABNORMAL_INPUT,
        ),
        (*_COST, "time_to_first_token", "response_latency", *_MODULE_LATENCIES),
        "task_completion_rate",
        Bilingual(
            "Seen from outside, what counts is whether the task was achieved in the end.",
            "外から見れば、最終的にタスクが達成されたかどうかがすべてである。",
        ),
    ),
    Scope(
        "PERCEPTION",
        Bilingual("Perception module", "知覚モジュール"),
        (
            DatasetType.BASIC_FUNCTION,
            DatasetType.KNOWLEDGE_QA,
            DatasetType.MULTI_INTENT,
            DatasetType.AMBIGUOUS_INTENT,
        ),
        ("intent_latency",),
        "intent_accuracy",
        Bilingual(
            "Perception is there to understand what the user wants.",
            "知覚の役割は、ユーザーの意図を理解することにある。",
        ),
        Module.PERCEPTION,
    ),
    Scope(
        "PLANNING",
        Bilingual("Planning module", "計画モジュール"),
        (DatasetType.BASIC_FUNCTION, DatasetType.KNOWLEDGE_QA, DatasetType.TOOL_CALL),
        ("planning_latency",),
        "routing_accuracy",
        Bilingual("Planning is there to decide which way to go.", "計画の役割は、進む道筋を決めることにある。"),
        Module.PLANNING,
    ),
    Scope(
        "MEMORY",
        Bilingual("Memory module", "記憶モジュール"),
        (DatasetType.KNOWLEDGE_QA, DatasetType.MULTI_TURN, DatasetType.LONG_DIALOGUE_DECAY),
        ("memory_injection_latency", "retrieval_latency"),
        "short_term_retention_rate",
        Bilingual(
            "Memory is there to keep hold of what was said.",
            "記憶の役割は、対話の内容を覚えておくことにある。",
        ),
        Module.MEMORY,
    ),
    Scope(
        "TOOL",
        Bilingual("Tool module", "ツールモジュール"),
        (DatasetType.TOOL_CALL,),
        ("tool_call_latency", "hot_update_latency"),
        "tool_call_accuracy",
        Bilingual(
            "The tool module is there to call exactly the tools that are needed.",
            "ツールモジュールの役割は、必要なツールを過不足なく呼び出すことにある。",
        ),
        Module.TOOL,
    ),
    Scope(
        "CORE_MODULE",
        Bilingual("Core modules", "コアモジュール"),
        tuple(DatasetType),
        (*_COST, *_MODULE_LATENCIES),
        "task_completion_rate",
        Bilingual(
            "What counts is the task that the modules achieve together.",
            "問われるのは、各モジュールが連携してタスクを達成できたかである。",
        ),
    ),
    Scope(
        "ALL",
        Bilingual("Everything", "すべて"),
        tuple(DatasetType),
        tuple(PROBES),
        "task_completion_rate",
        Bilingual(
            "Whatever else is measured, the task that the user gave comes first.",
            "何を測るにしても、まず問われるのはユーザーの依頼を果たせたかである。",
        ),
    ),
)

SCOPES: dict[str, Scope] = {row.id: row for row in (*_DATASET_SCOPES, *_COMPOSED_SCOPES)}

MODULE_RULES: dict[tuple[str, DatasetType], ModuleRule] = {
    ("PLANNING", DatasetType.TOOL_CALL): ModuleRule(
        "tool_decision_accuracy",
        Bilingual(
            "These cases expect no route; what planning decides in them is whether to call, and which kind of tool.",
            "これらのケースに期待ルートはなく、計画が決めるのは、呼び出すか否かと、どの種類のツールを使うかである。",
        ),
    ),
    ("MEMORY", DatasetType.KNOWLEDGE_QA): ModuleRule(
        "retrieval_recall",
        Bilingual(
            "These cases have no earlier turns; what memory gives them is the knowledge that is retrieved. The case "
            "passes when every point is covered.",
            "これらのケースに以前のターンはなく、記憶が担うのは知識の検索である。"
            "すべての知識ポイントがカバーされていれば合格とする。",
        ),
        fallback="task_completion_rate",
    ),
}
