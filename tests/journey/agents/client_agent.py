"""An agent by hand: the openai client, and no framework; it only says which tools it would call."""

from __future__ import annotations

import os
from typing import Any

from openai import OpenAI

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "find_hotels",
            "description": "Hotels with a free room.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "nights": {"type": "integer"}}},
        },
    }
]


async def answer(question: str, *, streams: bool = False) -> str:
    """What the model says first."""
    client = OpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key="none", max_retries=0)
    client.embeddings.create(model="embedder", input=question)
    asked: Any = {
        "model": "desk-model",
        "messages": [{"role": "user", "content": question}],
        **({"tools": TOOLS} if "hotel" in question else {}),
    }
    if streams:
        parts = client.chat.completions.create(stream=True, stream_options={"include_usage": True}, **asked)
        return "".join(part.choices[0].delta.content or "" for part in parts if part.choices)
    return client.chat.completions.create(**asked).choices[0].message.content or ""
