"""Which answer of the mock data a call gets."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import msgspec

from liftbay.domain.case import MockAnswer, MockData
from liftbay.ports import Intercepted
from liftbay.scoring.arguments import lenient_value, same_value

UNMOCKED = "unmocked call"


class MockAnswers:
    """The answers of one mock data, by tool."""

    def __init__(self, data: MockData) -> None:
        self._of_tool = {
            tool: [(None if answer.match is None else _compared(answer.match), answer) for answer in answers]
            for tool, answers in data.tools.items()
        }

    def answer(self, tool: str, arguments: Mapping[str, Any]) -> Intercepted:
        """The first answer whose `match` fits, else the first without `match`, else that there is none.

        A match fits where each argument that it names has that value. The Unicode form does not count (NFKC), nor
        does how a whole number is written (`2`, `2.0`, `"2"`): a call that differs only so is judged by its
        metric, and is no gap in the mock data. What the call has besides is not looked at.
        """
        answers = self._of_tool.get(tool, [])
        given = _compared(dict(arguments)) if any(match is not None for match, _ in answers) else {}
        for match, answer in answers:
            if match is not None and all(name in given and same_value(given[name], match[name]) for name in match):
                return _answered(answer)
        for match, answer in answers:
            if match is None:
                return _answered(answer)
        return unmocked()


def unmocked() -> Intercepted:
    """What a call gets that no mock answers."""
    return Intercepted(error=UNMOCKED, unmocked=True)


def _answered(answer: MockAnswer) -> Intercepted:
    """The answer as its own copy: who changes a result does not change the mock."""
    result = None if answer.result is msgspec.UNSET else copy.deepcopy(answer.result)
    return Intercepted(result=result, error=answer.error, latency_ms=answer.latency_ms)


def _compared(arguments: dict[str, Any]) -> dict[str, Any]:
    compared: dict[str, Any] = lenient_value(_whole_numbers(arguments))
    return compared


def _whole_numbers(value: Any) -> Any:
    """`value` with every float that is a whole number as an integer."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole_numbers(item) for item in value]
    return value
