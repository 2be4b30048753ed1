"""Why calls are wrong: alignment of calls, counts per tool and argument, depth, intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftbay.benchmarks.jmultiwoz_tc.breakdown import Breakdown, FaultCounts, align, break_down, read_depths
from liftbay.benchmarks.jmultiwoz_tc.score import Scored, decide
from liftbay.datasets.data_file import DataFile
from liftbay.datasets.jmultiwoz_tc_records import GoldRecord, ResultRecord
from liftbay.domain.toolcall import ToolCall
from liftbay.errors import InputError
from liftbay.scoring.arguments import ArgumentFault


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments)


def scored(
    id_: str, gold: list[ToolCall], made: list[ToolCall], dialogue: str = "d", error: str | None = None
) -> Scored:
    right = GoldRecord(id_, dialogue, gold)
    result = ResultRecord(id_, dialogue, made, error)
    return Scored(right, result, decide(right, result))


def test_equal_calls_are_matched_before_similar_ones() -> None:
    found = align([call("f", a=1), call("f", a=2)], [call("f", a=3), call("f", a=1)])
    assert found.correct == [call("f", a=1)]
    assert found.same_tool == [(call("f", a=2), call("f", a=3))]


def test_the_most_similar_call_of_a_tool_is_its_pair() -> None:
    expected = [call("f", a=1, b=1)]
    found = align(expected, [call("f", a=9, b=9), call("f", a=1, b=9)])
    assert found.same_tool == [(expected[0], call("f", a=1, b=9))]
    assert found.superfluous == [call("f", a=9, b=9)]


def test_what_is_left_is_a_wrong_tool_then_missed_or_superfluous() -> None:
    found = align([call("f"), call("g")], [call("h")])
    assert found.wrong_tool == [(call("f"), call("h"))]
    assert found.missed == [call("g")]
    assert align([], [call("h")]).superfluous == [call("h")]


def test_a_repeated_call_counts_once() -> None:
    found = align([call("f", a=1)], [call("f", a=1), call("f", a=1)])
    assert found == ([call("f", a=1)], [], [], [], [])


calls = st.lists(
    st.builds(ToolCall, st.sampled_from("fgh"), st.dictionaries(st.sampled_from("ab"), st.integers(0, 2))), max_size=4
)


@given(calls, calls)
def test_every_distinct_call_is_in_exactly_one_class(expected: list[ToolCall], made: list[ToolCall]) -> None:
    found = align(expected, made)
    pairs = [*found.same_tool, *found.wrong_tool]

    def texts(of: list[ToolCall]) -> list[str]:
        return sorted(msgspec.json.encode(one, order="sorted").decode() for one in of)

    assert texts([*found.correct, *found.missed, *(one for one, _ in pairs)]) == sorted(set(texts(expected)))
    assert texts([*found.correct, *found.superfluous, *(other for _, other in pairs)]) == sorted(set(texts(made)))
    assert not (found.missed and found.superfluous)
    assert all(one.name == other.name for one, other in found.same_tool)
    assert all(one.name != other.name for one, other in found.wrong_tool)


@pytest.fixture
def found() -> Breakdown:
    return break_down(
        [
            scored("1", [call("f", a="カフェ", b=1)], [call("f", a="ｶﾌｪ", b="1")]),
            scored("2", [call("f", a="カフェ")], [call("f", a="かふぇ", c=0)]),
            scored("3", [call("f", a="x", b=2)], [call("f", a="y")], dialogue="e"),
            scored("4", [call("f", a="x")], [call("g")], dialogue="e"),
            scored("5", [call("f")], [], dialogue="e"),
            scored("6", [], [call("g")], dialogue="e"),
            scored("7", [call("f", a="x")], [call("f", a="x")], dialogue="e"),
            scored("8", [call("f")], [], error="AgentProtocol: nonsense"),
        ],
        {"1": 0, "2": 1, "3": 0, "4": 1, "5": 0, "6": 0, "7": 1},
    )


def test_calls_per_tool(found: Breakdown) -> None:
    f, g = found.tools["f"], found.tools["g"]
    assert (f.expected, f.made, f.correct, f.wrong_arguments, f.missed, f.superfluous) == (6, 4, 1, 3, 1, 0)
    assert f.wrong_tool == {"g": 1}
    assert (g.expected, g.made, g.superfluous) == (0, 2, 1)
    assert (found.missed_calls, found.superfluous_calls, found.wrong_tools) == (1, 1, 1)


def test_arguments_per_tool(found: Breakdown) -> None:
    a, b, c = (found.tools["f"].arguments[name] for name in "abc")
    assert (a.expected, a.correct, a.unicode_form, a.kana_or_width, a.wrong_value) == (4, 1, 1, 1, 1)
    assert (b.expected, b.correct, b.wrong_type, b.missing) == (2, 0, 1, 1)
    assert (c.expected, c.correct, c.superfluous) == (0, 0, 1)
    assert msgspec.to_builtins(found.argument_faults) == {
        "missing": 1,
        "superfluous": 1,
        "wrongType": 1,
        "unicodeForm": 1,
        "kanaOrWidth": 1,
        "wrongValue": 1,
    }


def test_every_class_of_fault_has_its_count() -> None:
    assert set(FaultCounts.__struct_fields__) == {fault.value for fault in ArgumentFault}


def test_lenient_matching_stands_beside_exact(found: Breakdown) -> None:
    overall, calls_ = found.measures["全体"], found.measures["tool call精度"]
    assert overall.exact.value == pytest.approx(1 / 7)
    assert overall.exact.n == 7
    assert overall.lenient is not None
    assert overall.lenient.value == pytest.approx(2 / 7)
    assert calls_.lenient is not None
    assert calls_.lenient.value == pytest.approx(2 / 6)
    assert found.measures["ツール使用判断"].lenient is None


def test_accuracy_by_depth(found: Breakdown) -> None:
    assert found.by_depth is not None
    assert [(depth.turns, depth.overall.n, depth.tool_calls.n) for depth in found.by_depth] == [(0, 4, 3), (1, 3, 3)]
    assert found.by_depth[1].overall.value == pytest.approx(1 / 3)


def test_error_records_are_counted_by_reason(found: Breakdown) -> None:
    assert (found.records, found.errors, found.errors_by_reason) == (8, 1, {"AgentProtocol": 1})


def test_depth_is_the_number_of_user_turns_before(tmp_path: Path) -> None:
    path = tmp_path / "inputs.jsonl"
    path.write_text(
        '{"data_id":"a","dialogue_id":"d","question":[{"role":"user","content":"x"}]}\n'
        '{"data_id":"b","dialogue_id":"d","question":[{"role":"system","content":""},{"role":"user","content":"x"},'
        '{"role":"assistant","content":"y"},{"role":"user","content":"z"}]}\n'
    )
    assert read_depths(DataFile(path)) == {"a": 0, "b": 1}
    assert read_depths(DataFile(tmp_path / "none.jsonl")) is None


def test_a_message_without_a_role_is_named(tmp_path: Path) -> None:
    path = tmp_path / "inputs.jsonl"
    path.write_text('{"data_id":"a","dialogue_id":"d","question":[{"content":"x"}]}\n')
    with pytest.raises(InputError, match="missing") as caught:
        read_depths(DataFile(path))
    assert caught.value.place == f"{path}:1: question[0].role"
