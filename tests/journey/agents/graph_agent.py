"""A help desk built with LangGraph: it searches its manual, then a model answers with tools."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

MANUAL = ("Breakfast is from 7 to 10.", "The bath closes at midnight.", "Rooms are cleaned at noon.")


class Manual(BaseRetriever):
    """Finds the sentences that share a word with the question."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        words = set(query.lower().split())
        return [
            Document(sentence, id=str(number), metadata={"page": number})
            for number, sentence in enumerate(MANUAL)
            if words & set(sentence.lower().split())
        ]


@tool
def find_hotels(city: str, nights: int) -> list[dict[str, Any]]:
    """Hotels with a free room."""
    return [{"name": f"{city} Inn", "price": 9000 * nights}]


@tool
def reserve(hotel: str) -> str:
    """Reserve a room."""
    raise ValueError(f"{hotel} is full")


async def answer(question: str, *, streams: bool = False) -> str:
    """The desk's answer."""
    tools = [find_hotels, reserve] if "reserve" in question else [find_hotels]
    model = ChatOpenAI(model="desk-model", api_key="none", streaming=streams, stream_usage=True, max_retries=0)  # type: ignore[arg-type]
    bound = model.bind_tools(tools)

    async def look_up(state: MessagesState) -> dict[str, Any]:
        found = await Manual().ainvoke(str(state["messages"][-1].content))
        return {"messages": [SystemMessage("\n".join(one.page_content for one in found))]}

    async def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node(look_up)
    graph.add_node(think)
    graph.add_node("tools", ToolNode(tools, handle_tool_errors=True))
    graph.add_edge(START, "look_up")
    graph.add_edge("look_up", "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    ended = await graph.compile().ainvoke({"messages": [HumanMessage(question)]})
    return str(ended["messages"][-1].content)
