"""Which remedy a fault has: by the metric that shows it, and by the module that is blamed for it."""

from __future__ import annotations

from liftbay.domain.blame import Candidate, Culprit
from liftbay.domain.remedy import Fix

FIXED_BY = {
    "intent_accuracy": Fix.SKILL_TEXT,
    "intent_recall": Fix.SKILL_TEXT,
    "intent_precision": Fix.SKILL_TEXT,
    "fallback_trigger_accuracy": Fix.SKILL_TEXT,
    "multi_intent_recognition_rate": Fix.PLANNING_PROMPT,
    "ambiguity_clarification_rate": Fix.ANSWER_PROMPT,
    "routing_accuracy": Fix.PLANNING_PROMPT,
    "tool_decision_accuracy": Fix.TOOL_SCHEMA,
    "retrieval_decision_accuracy": Fix.PLANNING_PROMPT,
    "short_term_retention_rate": Fix.MEMORY_WINDOW,
    "memory_decay_curve": Fix.MEMORY_WINDOW,
    "retrieval_precision": Fix.RETRIEVAL,
    "retrieval_recall": Fix.RETRIEVAL,
    "tool_load_success_rate": Fix.MCP_TOOL,
    "tool_call_accuracy": Fix.TOOL_SCHEMA,
    "tool_call_success_rate": Fix.MCP_TOOL,
    "parameter_mapping_accuracy": Fix.TOOL_SCHEMA,
    "instruction_adherence_rate": Fix.ANSWER_PROMPT,
    "faithfulness_rate": Fix.ANSWER_PROMPT,
    "abnormal_input_handling_rate": Fix.ANSWER_PROMPT,
}

_BY_CULPRIT = {
    Culprit.PERCEPTION: Fix.SKILL_TEXT,
    Culprit.PLANNING: Fix.PLANNING_PROMPT,
    Culprit.TOOL: Fix.MCP_TOOL,
    Culprit.GENERATION: Fix.ANSWER_PROMPT,
}
_OF_ITS_METRIC = (Culprit.PERCEPTION, Culprit.PLANNING)
_TOOL_PROBLEMS = {"argument": Fix.TOOL_SCHEMA, "load": Fix.MCP_TOOL}


def fix_of(candidate: Candidate, *, conversation: bool) -> Fix | None:
    """What mends it; None: nothing in the agent does, the trial did not finish."""
    culprit, kinds = candidate.culprit, {kind for kind, _ in candidate.about}
    if culprit is Culprit.MEMORY:
        return Fix.MEMORY_WINDOW if conversation and not kinds & {"point"} else Fix.RETRIEVAL
    if culprit is Culprit.TOOL:
        return next((fix for kind, fix in _TOOL_PROBLEMS.items() if kind in kinds), Fix.MCP_TOOL)
    if culprit in _OF_ITS_METRIC and candidate.metric in FIXED_BY:
        return FIXED_BY[candidate.metric]
    return _BY_CULPRIT.get(culprit)
