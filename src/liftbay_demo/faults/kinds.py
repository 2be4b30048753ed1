"""The kinds of fault: of which module each is, and which signal of an evaluation it should move."""

from __future__ import annotations

import msgspec

from liftbay_demo import spans


class Kind(msgspec.Struct, frozen=True):
    """A kind of fault. `fails` is False where no case fails of it: its signal is a measured value."""

    name: str
    module: str
    moves: tuple[str, ...]  # metrics or probes
    fails: bool = True


_ROUTES = ("intent_accuracy", "routing_accuracy", "fallback_trigger_accuracy")
_MEMORY = ("short_term_retention_rate", "memory_decay_curve")
_COMPLETION = "task_completion_rate"

KINDS = (
    Kind("wrong_intent", spans.PERCEPTION, ("intent_accuracy", "intent_recall", "intent_precision")),
    Kind("forced_skill", spans.PERCEPTION, _ROUTES),
    Kind("never_falls_back", spans.PERCEPTION, ("fallback_trigger_accuracy", "intent_precision")),
    Kind("missed_second_intent", spans.PERCEPTION, ("multi_intent_recognition_rate",)),
    Kind("understands_nothing", spans.PERCEPTION, ("intent_accuracy", "intent_recall")),
    Kind("wrong_route", spans.PLANNING, ("routing_accuracy",)),
    Kind("needless_tool", spans.PLANNING, ("tool_decision_accuracy", "tool_call_accuracy")),
    Kind("missing_tool", spans.PLANNING, ("tool_call_accuracy", _COMPLETION)),
    Kind("no_retrieval", spans.PLANNING, ("retrieval_decision_accuracy",)),
    Kind("asks_what_was_said", spans.PLANNING, ("tool_call_accuracy",)),
    Kind("wrong_parameter", spans.TOOL, ("parameter_mapping_accuracy",)),
    Kind("missing_parameter", spans.TOOL, ("parameter_mapping_accuracy",)),
    Kind("swapped_parameter", spans.TOOL, ("parameter_mapping_accuracy",)),
    Kind("tool_error", spans.TOOL, ("tool_call_success_rate",)),
    Kind("mcp_down", spans.TOOL, ("tool_load_success_rate", "tool_call_success_rate")),
    Kind("skill_not_loaded", spans.TOOL, ("tool_load_success_rate",)),
    Kind("empty_result", spans.TOOL, (_COMPLETION,)),
    Kind("window_too_short", spans.MEMORY, _MEMORY),
    Kind("forgotten_entity", spans.MEMORY, _MEMORY),
    Kind("asks_again", spans.MEMORY, _MEMORY),
    Kind("ignores_correction", spans.MEMORY, _MEMORY),
    Kind("empty_retrieval", spans.MEMORY, ("retrieval_recall",)),
    Kind("irrelevant_retrieval", spans.MEMORY, ("retrieval_precision", "retrieval_recall")),
    Kind("truncated_chunk", spans.MEMORY, ("retrieval_recall",)),
    Kind("outdated_passage", spans.MEMORY, ("retrieval_recall",)),
    Kind("invented_fact", spans.GENERATION, ("faithfulness_rate",)),
    Kind("contradicted_source", spans.GENERATION, ("faithfulness_rate",)),
    Kind("format_ignored", spans.GENERATION, ("instruction_adherence_rate",)),
    Kind("core_left_out", spans.GENERATION, (_COMPLETION,)),
    Kind("evasive_answer", spans.GENERATION, (_COMPLETION,)),
    Kind("slow_module", spans.PLANNING, ("planning_latency",), fails=False),
    Kind("dear_module", spans.PERCEPTION, ("model_calls", "input_tokens", "output_tokens"), fails=False),
)
