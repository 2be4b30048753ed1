"""A hotel desk built with pydantic-ai."""

from __future__ import annotations

import os
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


async def answer(question: str, *, streams: bool = False) -> str:
    """The desk's answer, or why there is none."""
    provider = OpenAIProvider(base_url=os.environ["OPENAI_BASE_URL"], api_key="none")
    desk = Agent(OpenAIChatModel("desk-model", provider=provider), name="desk", instructions="You run a hotel desk.")

    @desk.tool_plain
    def find_hotels(city: str, nights: int) -> list[dict[str, Any]]:
        """Hotels with a free room."""
        return [{"name": f"{city} Inn", "price": 9000 * nights}]

    if "reserve" in question:

        @desk.tool_plain
        def reserve(hotel: str) -> str:
            """Reserve a room."""
            raise ValueError(f"{hotel} is full")

    try:
        if streams:
            async with desk.run_stream(question) as running:
                return str(await running.get_output())
        return str((await desk.run(question)).output)
    except ValueError as error:
        return f"failed: {error}"
