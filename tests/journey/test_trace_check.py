"""`liftbay trace check` on everything that holds traces."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_projects import exported, project, report_of, run, tool_case
from command import liftbay, write_lines
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.util.types import Attributes

from liftbay.cli.main import main

SPANS: list[Attributes] = [
    {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find", "gen_ai.tool.call.arguments": '{"n": 1}'},
    {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 2},
]
TRACE = {"toolCalls": [{"name": "find", "arguments": {"n": 1}, "success": True, "latencyMs": 1.0}], "retrievals": []}
Checked = Callable[..., dict[str, Any]]


@pytest.fixture
def checked(capsys: pytest.CaptureFixture[str]) -> Checked:
    """What the command says of files, as JSON."""

    def check(*files: Path) -> dict[str, Any]:
        code = main(["--lang", "en", "trace", "check", "--json", *map(str, files)])
        shown = capsys.readouterr()
        assert (code, shown.err) == (0, "")
        found: dict[str, Any] = json.loads(shown.out)
        return found

    return check


def otlp() -> bytes:
    """A trace as an exporter sends it."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("agent")
    with tracer.start_as_current_span("root", attributes={"gen_ai.operation.name": "invoke_agent"}):
        for attributes in SPANS:
            with tracer.start_as_current_span("step", attributes=attributes):
                pass
    sent: bytes = encode_spans(exporter.get_finished_spans()).SerializeToString()
    return sent


def otlp_json(trace_id: str) -> dict[str, Any]:
    """The same in the form of JSON, as collectors write it into files."""
    spans = [
        {
            "traceId": trace_id,
            "spanId": f"{number:016x}",
            "name": "step",
            "startTimeUnixNano": "1000000",
            "endTimeUnixNano": "2000000",
            "attributes": [
                {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
                for key, value in (attributes or {}).items()
            ],
        }
        for number, attributes in enumerate([{"gen_ai.operation.name": "invoke_agent"}, *SPANS], start=1)
    ]
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "agent"}, "spans": spans}]}]}


def lacking(found: dict[str, Any], scope: str) -> set[str]:
    """The metrics of a scope that lack something."""
    (row,) = (one for one in found["scopes"] if one["scope"] == scope)
    return {lack["id"] for lack in row["lackingMetrics"]}


def test_every_form_says_the_same(tmp_path: Path, checked: Checked) -> None:
    (tmp_path / "otlp.pb").write_bytes(otlp())
    (tmp_path / "one.json").write_text(json.dumps(otlp_json("1" * 32), indent=2))
    write_lines(tmp_path / "lines.jsonl", [otlp_json("1" * 32), otlp_json("2" * 32)])
    forms = {name: checked(tmp_path / name) for name in ("otlp.pb", "one.json", "lines.jsonl")}
    assert [found["traces"] for found in forms.values()] == [1, 1, 2]
    for found in forms.values():
        assert found["scopes"] == forms["otlp.pb"]["scopes"]
        assert set(found["parts"]) == set(forms["otlp.pb"]["parts"])
        assert lacking(found, "TOOL_CALL") == {"tool_load_success_rate"}
        assert lacking(found, "PLANNING") == {"routing_accuracy"}
        assert found["carriers"]["planning.route"] == {"genai": "liftbay.route", "openinference": "liftbay.route"}
        assert "model.input_tokens" not in found["carriers"], "it is there"


def test_traces_of_liftbay_and_several_files_at_once(tmp_path: Path, checked: Checked) -> None:
    write_lines(tmp_path / "traces.jsonl", [TRACE, {"planning": {"route": "SKILL_HIT"}}])
    (tmp_path / "list.json").write_text(json.dumps([TRACE]))
    found = checked(tmp_path / "traces.jsonl", tmp_path / "list.json")
    assert (found["traces"], found["without"]) == (3, 0)
    assert (found["parts"]["tool_calls"], found["parts"]["planning.route"]) == (2, 1)
    ready = {row["scope"] for row in found["scopes"] if row["ready"]}
    assert {"TOOL_CALL", "PLANNING"} <= ready
    assert "PERCEPTION" not in ready


def test_a_run_and_its_export(tmp_path: Path, checked: Checked) -> None:
    (tmp_path / "traced.py").write_text(
        f"TRACE = {TRACE!r}\ndef answer(text):\n    return {{'text': text, 'trace': TRACE}} if text == 'a' else text\n"
    )
    cases = [tool_case(text, text, ("find", {"n": 1})) for text in "ab"]
    run(project(tmp_path, {"kind": "python", "function": "traced:answer"}, cases))
    stored = report_of(liftbay("trace", "check", "--run", "last", "--json", cwd=tmp_path))
    assert set(exported(tmp_path)) == {"a", "b"}
    assert stored == checked(tmp_path / "exported.jsonl")
    assert (stored["traces"], stored["without"], stored["parts"]["tool_calls.success"]) == (1, 1, 1)
    text = liftbay("trace", "check", "--run", "last", cwd=tmp_path)
    assert text.stdout.splitlines()[:3] == [
        "Traces: 1",
        "Turns without a trace: 1",
        "Scopes that these traces can feed: 10 of 15",
    ]
    nowhere = liftbay("trace", "check", "--run", "no-such-run", cwd=tmp_path)
    assert (nowhere.returncode, "the store has no such run" in nowhere.stderr) == (2, True)


def test_the_text_names_what_is_missing_and_what_carries_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_lines(tmp_path / "traces.jsonl", [TRACE, {"retrievals": [{"chunks": [{"content": "x"}]}]}])
    assert main(["--lang", "en", "trace", "check", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    names, *rows = (line.split() for line in lines[2:18])
    assert names[:2] == ["scope", "ready"]
    # What decides MULTI_INTENT lacks the intents; the last two cover it.
    assert [row[0] for row in rows if row[1] == "no"] == [
        "MULTI_INTENT",
        "PERCEPTION",
        "PLANNING",
        "CORE_MODULE",
        "ALL",
    ]
    assert lines[lines.index("Missing, and what carries it:") + 1 :][:2] == [
        "  memory.latency_ms  (for memory_injection_latency)",
        "      GenAI: gen_ai.operation.name=search_memory; liftbay.module=memory",
    ]
    assert "  tool_calls: 1/2" in lines[lines.index("Reported by some traces only:") :]
    assert "  retrievals: 2/2" not in lines


def test_in_japanese(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_lines(tmp_path / "traces.jsonl", [TRACE, {}])
    assert main(["--lang", "ja", "trace", "check", str(path)]) == 0
    shown = capsys.readouterr().out
    for said in ("トレース: 2", "評価範囲", "いいえ", "liftbay.tool_load.kind"):
        assert said in shown
    for english in ("Traces", "Missing", "ready", "carries", "only"):
        assert english not in shown
    assert main(["--lang", "ja", "trace", "check", str(tmp_path / "nowhere")]) == 2
    assert "ファイルを読み込めません" in capsys.readouterr().err


WRONG = [
    (b"", "the file is empty"),
    (b"some text\n", "the spans cannot be read: "),
    (b'{"resourceSpans": 3}', "the spans cannot be read: "),
    (b'{"toolCalls": []}\n{"toolCals', ":2: invalid JSON: "),
    (b'{"toolCalls": []}\n{"answer": "x"}', ":2: this is no trace"),
    (b'{"toolCalls": [], "modle": {}}', ": modle: unknown key\n  remedy: did you mean model?"),
    (b'{"toolCalls": 3}', "Expected `array | null`, got `int`"),
    (b"[" * 5000, "invalid JSON: maximum recursion depth"),
]


@pytest.mark.parametrize(("content", "said"), WRONG, ids=range(len(WRONG)))
def test_a_file_that_is_not_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, said: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert main(["--lang", "en", "trace", "check", str(path)]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(f"liftbay: error: {path}")
    assert said in shown.err
    assert shown.out == ""


def test_no_trace_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unknown = otlp_json("1" * 32)
    for span in unknown["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span["attributes"] = []
    write_lines(tmp_path / "unknown.jsonl", [unknown])
    assert main(["--lang", "en", "trace", "check", str(tmp_path / "unknown.jsonl")]) == 1
    assert "Traces: 0\nTurns without a trace: 1\n" in capsys.readouterr().out
    assert main(["--lang", "en", "trace", "check"]) == 2
    assert "there is nothing to check" in capsys.readouterr().err
