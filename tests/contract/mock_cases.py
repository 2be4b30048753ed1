"""Cases with and without mock data, and mock data for them."""

from __future__ import annotations

from typing import Any

from liftbay.domain.case import Case, MockAnswer, MockData
from liftbay.domain.vocabulary import DatasetType, EvalMode


def mocked(mock_data_id: str | None = "hotels") -> Case:
    """A case that is answered from mock data."""
    return Case(id="case", dataset_type=DatasetType.TOOL_CALL, eval_mode=EvalMode.E2E_MOCK, mock_data_id=mock_data_id)


def real() -> Case:
    """A case that runs for real."""
    return Case(id="case", dataset_type=DatasetType.TOOL_CALL)


def hotels(**tools: list[MockAnswer]) -> dict[str, MockData]:
    """The mock data `hotels` with these tools."""
    return {"hotels": MockData("hotels", tools)}


def said(result: Any, *, latency_ms: float = 0.0, **match: Any) -> MockAnswer:
    """An answer, for these arguments only if any are named."""
    return MockAnswer(match=match or None, result=result, latency_ms=latency_ms)
