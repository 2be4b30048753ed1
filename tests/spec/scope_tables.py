"""Page 2 of the specification, and the metrics of page 1 that its dataset types feed, written out by hand."""

from __future__ import annotations

BF, KQA, MT, AI = "BASIC_FUNCTION", "KNOWLEDGE_QA", "MULTI_TURN", "ABNORMAL_INPUT"
TC, MI, AMB, LDD = "TOOL_CALL", "MULTI_INTENT", "AMBIGUOUS_INTENT", "LONG_DIALOGUE_DECAY"
TYPES = (BF, KQA, MT, AI, TC, MI, AMB, LDD)

FEEDS = {
    BF: {
        "task_completion_rate",
        "instruction_adherence_rate",
        "intent_accuracy",
        "intent_recall",
        "intent_precision",
        "routing_accuracy",
        "plan_path_score",
    },
    KQA: {
        "task_completion_rate",
        "faithfulness_rate",
        "intent_accuracy",
        "intent_recall",
        "intent_precision",
        "fallback_trigger_accuracy",
        "routing_accuracy",
        "plan_path_score",
        "retrieval_decision_accuracy",
        "retrieval_precision",
        "retrieval_recall",
    },
    MT: {"multi_turn_completion_rate", "short_term_retention_rate"},
    AI: {"abnormal_input_handling_rate"},
    TC: {
        "tool_decision_accuracy",
        "tool_call_accuracy",
        "tool_call_success_rate",
        "parameter_mapping_accuracy",
    },
    MI: {"multi_intent_recognition_rate"},
    AMB: {"ambiguity_clarification_rate"},
    LDD: {"memory_decay_curve"},
}
SIZES = {BF: 50, KQA: 100, MT: 10, AI: 20, TC: 20, MI: 20, AMB: 20, LDD: 10}
JAPANESE = {
    BF: "基本スキル",
    KQA: "知識応答",
    MT: "多輪対話",
    AI: "異常入力",
    TC: "ツール呼び出し",
    MI: "マルチ意図",
    AMB: "曖昧意図",
    LDD: "長文対話減衰",
}

OF_DATASET = {
    BF: "task_completion_rate",
    KQA: "task_completion_rate",
    MT: "multi_turn_completion_rate",
    AI: "abnormal_input_handling_rate",
    TC: "tool_call_accuracy",
    MI: "multi_intent_recognition_rate",
    AMB: "ambiguity_clarification_rate",
    LDD: "memory_decay_curve",
}
# scope × dataset type: the metric that decides and the rule that chose it; a pair that is absent is not covered.
MAIN = {
    **{(one, one): (OF_DATASET[one], "dataset") for one in TYPES},
    ("END_TO_END", BF): ("task_completion_rate", "scope"),
    ("END_TO_END", KQA): ("task_completion_rate", "scope"),
    ("END_TO_END", MT): ("multi_turn_completion_rate", "dataset"),
    ("END_TO_END", AI): ("abnormal_input_handling_rate", "dataset"),
    ("PERCEPTION", BF): ("intent_accuracy", "scope"),
    ("PERCEPTION", KQA): ("intent_accuracy", "scope"),
    ("PERCEPTION", MI): ("multi_intent_recognition_rate", "dataset"),
    ("PERCEPTION", AMB): ("ambiguity_clarification_rate", "dataset"),
    ("PLANNING", BF): ("routing_accuracy", "scope"),
    ("PLANNING", KQA): ("routing_accuracy", "scope"),
    ("PLANNING", TC): ("tool_decision_accuracy", "module"),
    ("MEMORY", KQA): ("retrieval_recall", "module"),
    ("MEMORY", MT): ("short_term_retention_rate", "scope"),
    ("MEMORY", LDD): ("memory_decay_curve", "dataset"),
    ("TOOL", TC): ("tool_call_accuracy", "scope"),
    ("CORE_MODULE", BF): ("task_completion_rate", "scope"),
    ("CORE_MODULE", KQA): ("task_completion_rate", "scope"),
    ("CORE_MODULE", MT): ("multi_turn_completion_rate", "dataset"),
    ("CORE_MODULE", AI): ("abnormal_input_handling_rate", "dataset"),
    ("CORE_MODULE", TC): ("tool_call_accuracy", "dataset"),
    ("CORE_MODULE", MI): ("multi_intent_recognition_rate", "dataset"),
    ("CORE_MODULE", AMB): ("ambiguity_clarification_rate", "dataset"),
    ("CORE_MODULE", LDD): ("memory_decay_curve", "dataset"),
    ("ALL", BF): ("task_completion_rate", "scope"),
    ("ALL", KQA): ("task_completion_rate", "scope"),
    ("ALL", MT): ("multi_turn_completion_rate", "dataset"),
    ("ALL", AI): ("abnormal_input_handling_rate", "dataset"),
    ("ALL", TC): ("tool_call_accuracy", "dataset"),
    ("ALL", MI): ("multi_intent_recognition_rate", "dataset"),
    ("ALL", AMB): ("ambiguity_clarification_rate", "dataset"),
    ("ALL", LDD): ("memory_decay_curve", "dataset"),
}
MAIN_OF_SCOPE = OF_DATASET | {
    "END_TO_END": "task_completion_rate",
    "PERCEPTION": "intent_accuracy",
    "PLANNING": "routing_accuracy",
    "MEMORY": "short_term_retention_rate",
    "TOOL": "tool_call_accuracy",
    "CORE_MODULE": "task_completion_rate",
    "ALL": "task_completion_rate",
}

# Any trace that reports loading gives this metric, so every scope that takes all metrics has it.
LOADING = {"tool_load_success_rate"}
METRICS_OF_SCOPE = {
    **{one: FEEDS[one] | LOADING for one in TYPES},
    "END_TO_END": FEEDS[BF] | FEEDS[KQA] | FEEDS[MT] | FEEDS[AI] | LOADING,
    "PERCEPTION": {
        "intent_accuracy",
        "intent_recall",
        "intent_precision",
        "multi_intent_recognition_rate",
        "ambiguity_clarification_rate",
        "fallback_trigger_accuracy",
    },
    "PLANNING": {
        "routing_accuracy",
        "tool_decision_accuracy",
        "retrieval_decision_accuracy",
        "plan_path_score",
    },
    "MEMORY": {
        "short_term_retention_rate",
        "retrieval_precision",
        "retrieval_recall",
        "memory_decay_curve",
        "task_completion_rate",  # decides where retrieval_recall is not applicable
    },
    "TOOL": {
        "tool_load_success_rate",
        "tool_call_accuracy",
        "tool_call_success_rate",
        "parameter_mapping_accuracy",
    },
    "CORE_MODULE": set().union(*FEEDS.values()) | LOADING,
    "ALL": set().union(*FEEDS.values()) | LOADING,
}

COST = {"model_calls", "tool_calls", "input_tokens", "output_tokens"}
MODULE_LATENCIES = {
    "intent_latency",
    "planning_latency",
    "memory_injection_latency",
    "retrieval_latency",
    "tool_call_latency",
    "hot_update_latency",
}
EVERY_PROBE = COST | MODULE_LATENCIES | {"cost", "time_to_first_token", "response_latency"}
PROBES_OF_SCOPE = {
    **dict.fromkeys(TYPES, EVERY_PROBE),
    "END_TO_END": EVERY_PROBE - {"cost"},
    "PERCEPTION": {"intent_latency"},
    "PLANNING": {"planning_latency"},
    "MEMORY": {"memory_injection_latency", "retrieval_latency"},
    "TOOL": {"tool_call_latency", "hot_update_latency"},
    "CORE_MODULE": COST | MODULE_LATENCIES,
    "ALL": EVERY_PROBE,
}
SCOPE_NAMES = tuple(MAIN_OF_SCOPE)
