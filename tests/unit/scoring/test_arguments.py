"""Exact and lenient comparison of calls, and the classes of argument faults."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftbay.domain.toolcall import ToolCall
from liftbay.scoring.arguments import (
    ArgumentFault,
    argument_faults,
    canonical_text,
    leniently_same_calls,
    same_calls,
    same_value,
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.0, -0.0, 1.0, 1.5, 1e300])
    | st.sampled_from(["", "1", "true", "カ", "ｶ", "か", "1.0"])
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)


@given(values, values)
def test_same_value_is_equality_of_canonical_texts(one: Any, other: Any) -> None:
    assert same_value(one, other) == (canonical_text(one) == canonical_text(other))


@given(values)
def test_a_value_is_the_same_after_its_keys_are_written_in_another_order(value: Any) -> None:
    def reversed_keys(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: reversed_keys(item[key]) for key in reversed(item)}
        return [reversed_keys(part) for part in item] if isinstance(item, list) else item

    assert same_value(value, reversed_keys(value))


calls = st.lists(
    st.builds(ToolCall, st.sampled_from("st"), st.dictionaries(st.sampled_from("ab"), values, max_size=2)), max_size=3
)


@given(calls, calls)
def test_calls_compare_as_sets_of_texts(one: list[ToolCall], other: list[ToolCall]) -> None:
    def texts(of: list[ToolCall]) -> set[str]:
        return {json.dumps([call.name, call.arguments], sort_keys=True) for call in of}

    assert same_calls(one, other) == (texts(one) == texts(other))


@given(calls, calls)
def test_lenient_matching_forgives_and_never_adds_a_fault(one: list[ToolCall], other: list[ToolCall]) -> None:
    assert leniently_same_calls(one, other) or not same_calls(one, other)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": "１"}, {"a": 1}, True),
        ({"a": "ｶﾌｪ"}, {"a": "カフェ"}, True),
        ({"a": {"b": ["Ａ"]}}, {"a": {"b": ["A"]}}, True),
        ({"a": "かふぇ"}, {"a": "カフェ"}, False),
        ({"a": True}, {"a": 1}, False),
        ({"a": 1.0}, {"a": 1}, False),
        ({"Ａ": 1}, {"A": 1}, False),
    ],
)
def test_lenient_matching_is_nfkc_and_integer_or_text(one: Any, other: Any, same: bool) -> None:
    assert leniently_same_calls([ToolCall("t", one)], [ToolCall("t", other)]) is same


@pytest.mark.parametrize(
    ("expected", "actual", "fault"),
    [
        ({"a": "x"}, {}, ArgumentFault.MISSING),
        ({}, {"a": None}, ArgumentFault.SUPERFLUOUS),
        ({"a": "1"}, {"a": 1}, ArgumentFault.WRONG_TYPE),
        ({"a": 1}, {"a": "１"}, ArgumentFault.WRONG_TYPE),
        ({"a": 1}, {"a": 1.0}, ArgumentFault.WRONG_TYPE),
        ({"a": 1}, {"a": True}, ArgumentFault.WRONG_TYPE),
        ({"a": True}, {"a": "True"}, ArgumentFault.WRONG_TYPE),
        ({"a": ["1"]}, {"a": [1]}, ArgumentFault.WRONG_TYPE),
        ({"a": "カフェ"}, {"a": "ｶﾌｪ"}, ArgumentFault.UNICODE_FORM),
        ({"a": "A1"}, {"a": "Ａ１"}, ArgumentFault.UNICODE_FORM),
        ({"a": {"b": "A", "c": 1}}, {"a": {"b": "Ａ", "c": "1"}}, ArgumentFault.UNICODE_FORM),
        ({"a": "カフェ"}, {"a": "かふぇ"}, ArgumentFault.KANA_OR_WIDTH),
        ({"a": "夏〜秋"}, {"a": "夏～秋"}, ArgumentFault.KANA_OR_WIDTH),
        ({"a": "1-2"}, {"a": "1ー2"}, ArgumentFault.KANA_OR_WIDTH),
        ({"a": "1-2"}, {"a": "1−2"}, ArgumentFault.KANA_OR_WIDTH),
        ({"a": "東京 駅"}, {"a": "東京駅"}, ArgumentFault.KANA_OR_WIDTH),
        ({"a": ["ア"]}, {"a": ["あ"]}, ArgumentFault.KANA_OR_WIDTH),
        ({"a": "東京"}, {"a": "大阪"}, ArgumentFault.WRONG_VALUE),
        ({"a": 1}, {"a": 2}, ArgumentFault.WRONG_VALUE),
        ({"a": 1}, {"a": "2"}, ArgumentFault.WRONG_VALUE),
        ({"a": 1}, {"a": [1]}, ArgumentFault.WRONG_VALUE),
        ({"a": ["x", "y"]}, {"a": ["y", "x"]}, ArgumentFault.WRONG_VALUE),
        ({"a": None}, {"a": "null"}, ArgumentFault.WRONG_TYPE),
    ],
)
def test_each_class_of_argument_fault(expected: Any, actual: Any, fault: ArgumentFault) -> None:
    assert argument_faults(expected, actual) == {"a": fault}


@given(st.dictionaries(st.sampled_from("abc"), values), st.dictionaries(st.sampled_from("abc"), values))
def test_there_is_a_fault_exactly_where_arguments_differ(expected: Any, actual: Any) -> None:
    assert (not argument_faults(expected, actual)) == same_value(expected, actual)
