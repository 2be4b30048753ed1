"""Results of tools in the form of MCP, and back into that of the trace."""

from __future__ import annotations

from typing import Any

import msgspec
from mcp_types import CallToolResult, TextContent

from liftbay.ports import Intercepted


def mocked_result(answer: Intercepted, output_schema: dict[str, Any] | None) -> CallToolResult:
    """What mock data answers, as the real server would have said it.

    A text stands as it is, anything else as its JSON text. A tool with an output schema has structured content
    besides; where the schema wraps a plain value as `{"result": ...}`, as servers of the Python SDK do, so do we.
    """
    if answer.error is not None:
        return failed_result(answer.error)
    result = answer.result
    text = result if isinstance(result, str) else msgspec.json.encode(result).decode()
    structured = None
    if output_schema is not None:
        if _wraps(output_schema) and not (isinstance(result, dict) and list(result) == ["result"]):
            structured = {"result": result}
        elif isinstance(result, dict):
            structured = result
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)


def failed_result(error: str) -> CallToolResult:
    """A result that says that the tool failed."""
    return CallToolResult(content=[TextContent(type="text", text=error)], is_error=True)


def result_in_trace(result: CallToolResult, output_schema: dict[str, Any] | None) -> Any:
    """The result as the trace keeps it: the structured content, else the text, else all content; None of an error."""
    if result.is_error:
        return None
    structured = result.structured_content
    if structured is not None:
        wrapped = output_schema is not None and _wraps(output_schema) and isinstance(structured, dict)
        return structured.get("result") if wrapped else structured
    if all(isinstance(part, TextContent) for part in result.content):
        return text_of(result)
    return [part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in result.content]


def text_of(result: CallToolResult) -> str:
    """The text parts of a result."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def _wraps(output_schema: dict[str, Any]) -> bool:
    return list(output_schema.get("properties", ())) == ["result"]
