"""What a developer changes to mend a fault."""

from __future__ import annotations

from enum import StrEnum


class Fix(StrEnum):
    """What is changed."""

    SKILL_TEXT = "skill_text"
    PLANNING_PROMPT = "planning_prompt"
    TOOL_SCHEMA = "tool_schema"
    MCP_TOOL = "mcp_tool"
    RETRIEVAL = "retrieval"
    MEMORY_WINDOW = "memory_window"
    ANSWER_PROMPT = "answer_prompt"
