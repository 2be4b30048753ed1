"""A hotel desk built with the OpenAI Agents SDK: two tools, one of which fails, and a colleague asked as a tool."""

from __future__ import annotations

import json
import os

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, Tool, function_tool
from openai import AsyncOpenAI


@function_tool
def find_hotels(city: str, nights: int) -> str:
    """Hotels with a free room."""
    return json.dumps([{"name": f"{city} Inn", "price": 9000 * nights}], ensure_ascii=False)


@function_tool(failure_error_function=None)
def reserve(hotel: str) -> str:
    """Reserve a room."""
    raise ValueError(f"{hotel} is full")


@function_tool
def weather(city: str) -> str:
    """The weather."""
    return f"sunny in {city}"


async def answer(question: str, *, streams: bool = False) -> str:
    """The desk's answer, or why there is none."""
    client = AsyncOpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key="none", max_retries=0)
    model = OpenAIChatCompletionsModel("desk-model", client)
    settings = ModelSettings(include_usage=True)
    guide = Agent("guide", instructions="You know the town.", tools=[weather], model=model, model_settings=settings)
    tools: list[Tool] = [find_hotels, guide.as_tool("ask_guide", "Knows the town.")]
    if "reserve" in question:
        tools.append(reserve)
    desk = Agent("desk", instructions="You run a hotel desk.", tools=tools, model=model, model_settings=settings)
    try:
        if streams:
            running = Runner.run_streamed(desk, question)
            async for _ in running.stream_events():
                pass
            return str(running.final_output)
        return str((await Runner.run(desk, question)).final_output)
    except Exception as error:
        return f"failed: {error}"
