"""The names on the agent's spans: OpenTelemetry's GenAI conventions; `liftbay.*` where these have none."""

from __future__ import annotations

import json
from typing import Any

AGENT = "product-centre"

OPERATION = "gen_ai.operation.name"
AGENT_NAME = "gen_ai.agent.name"
AGENT_VERSION = "gen_ai.agent.version"
CONVERSATION = "gen_ai.conversation.id"
OUTPUT_MESSAGES = "gen_ai.output.messages"

SKILL_NAME = "gen_ai.skill.name"
TOOL_NAME = "gen_ai.tool.name"
CALL_ID = "gen_ai.tool.call.id"
CALL_ARGUMENTS = "gen_ai.tool.call.arguments"
CALL_RESULT = "gen_ai.tool.call.result"
ERROR_TYPE = "error.type"

QUERY = "gen_ai.retrieval.query.text"
DOCUMENTS = "gen_ai.retrieval.documents"

REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"

MODULE = "liftbay.module"
INTENT = "liftbay.intent"
INTENTS = "liftbay.intents"
ROUTE = "liftbay.route"
ROUNDS = "liftbay.memory.rounds"
SKILL_VERSION = "liftbay.skill.version"
LOAD_KIND = "liftbay.tool_load.kind"
LOAD_NAME = "liftbay.tool_load.name"

PERCEPTION = "perception"
PLANNING = "planning"
MEMORY = "memory"
TOOL = "tool"
GENERATION = "generation"

BIZ_CODE = "product_centre.biz_code"


def text_of(value: Any) -> str:
    """A structured value as the JSON text that stands in an attribute."""
    return json.dumps(value, ensure_ascii=False)
