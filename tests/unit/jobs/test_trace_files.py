"""Traces read from files: each form, and each mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span
from places import a_result

from liftbay.domain.trace import EvalTrace, ToolCallRecord
from liftbay.errors import InputError
from liftbay.jobs.trace_files import traces_in

TRACE = {"toolCalls": [{"name": "find"}]}
READ = EvalTrace(tool_calls=[ToolCallRecord("find")])


def file(folder: Path, *lines: Any) -> Path:
    """A file of these JSON values, or texts, one a line."""
    path = folder / "traces"
    path.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines))
    return path


def names(traces: list[EvalTrace | None]) -> list[list[str]]:
    """The tools of each trace."""
    return [[call.name for call in (trace and trace.tool_calls) or ()] for trace in traces]


def test_traces_as_one_value_a_list_and_lines(tmp_path: Path) -> None:
    for lines, count in (
        ((json.dumps(TRACE, indent=2),), 1),
        ((json.dumps([TRACE, TRACE]),), 2),
        ((TRACE, "", TRACE), 2),
    ):
        assert traces_in(file(tmp_path, *lines)) == [READ] * count
    assert traces_in(file(tmp_path, "\ufeff" + json.dumps(TRACE))) == [READ]
    assert traces_in(file(tmp_path, {})) == [EvalTrace()]
    assert traces_in(file(tmp_path, "[]")) == []


def test_results_of_a_run_give_one_a_turn(tmp_path: Path) -> None:
    result = a_result(1)
    turn = result.episode.turns[0]
    episode = msgspec.structs.replace(result.episode, turns=[turn, msgspec.structs.replace(turn, trace=None)])
    lines = [msgspec.to_builtins(msgspec.structs.replace(result, episode=episode))] * 2
    assert traces_in(file(tmp_path, *lines)) == [turn.trace, None] * 2


def test_spans_are_put_together_by_trace_whatever_line_they_stand_in(tmp_path: Path) -> None:
    def line(trace_id: str, number: int) -> dict[str, Any]:
        attributes = [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
            {"key": "gen_ai.tool.name", "value": {"stringValue": f"tool {number}"}},
        ]
        span = {"traceId": trace_id * 32, "spanId": f"{number:016x}", "name": "x", "attributes": attributes}
        times = {"startTimeUnixNano": str(number), "endTimeUnixNano": str(number + 1)}
        return {"resourceSpans": [{"scopeSpans": [{"spans": [span | times]}]}]}

    path = file(tmp_path, line("a", 1), line("b", 2), TRACE, line("a", 3))
    assert names(traces_in(path)) == [["find"], ["tool 1", "tool 3"], ["tool 2"]]


def test_a_trace_of_spans_that_no_dialect_knows_is_none(tmp_path: Path) -> None:
    span = {"traceId": "a" * 32, "spanId": "b" * 16, "name": "GET /", "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    assert traces_in(file(tmp_path, {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})) == [None]


def test_protobuf_is_protobuf_whatever_its_first_bytes_look_like(tmp_path: Path) -> None:
    """A request begins with a line feed and its length, which may be that of a brace or a bracket."""
    begins: set[bytes] = set()
    for length in range(100):
        span = Span(
            trace_id=b"a" * 16, span_id=b"b" * 8, name="n" * length, start_time_unix_nano=1, end_time_unix_nano=2
        )
        whole = ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=[span])])])
        sent = whole.SerializeToString()
        begins.add(sent.lstrip()[:1])
        (tmp_path / "traces.pb").write_bytes(sent)
        assert traces_in(tmp_path / "traces.pb") == [None]
    assert {b"{", b"["} <= begins, "else this shows nothing"


@pytest.mark.parametrize(
    ("lines", "place", "cause"),
    [
        (["  \n "], "", "the file is empty"),
        (["some,text"], "", "the spans cannot be read"),
        ([TRACE, {"resourceSpans": 1}], ":2", "the spans cannot be read"),
        ([[TRACE, {"x": 1}]], ": [1]", "this is no trace"),
        ([TRACE, 7], ":2", "this is no trace"),
        ([TRACE, {**TRACE, "plannig": {}}], ":2: plannig", "unknown key"),
        ([TRACE, {"planning": {"route": "LEFT"}}], ":2", "Invalid enum value"),
        ([TRACE, '{"toolCalls'], ":2", "invalid JSON"),
        ([{"episode": {}}], "", "Object missing required field"),
        (["[" * 9000], "", "invalid JSON"),
        ([TRACE, "[" * 9000], ":2", "invalid JSON"),
    ],
)
def test_each_mistake_has_its_place(tmp_path: Path, lines: list[Any], place: str, cause: str) -> None:
    path = file(tmp_path, *lines)
    with pytest.raises(InputError) as caught:
        traces_in(path)
    assert caught.value.place == f"{path}{place}"
    assert str(caught.value).startswith(cause)


def test_a_folder_or_nothing(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="the file cannot be read"):
            traces_in(path)
