"""Inputs, requests and what becomes of answers, with a stand-in for the endpoint."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from liftbay.benchmarks.jmultiwoz_tc.generate import (
    FAULTS_IN_A_ROW,
    FIRST_ANSWERS,
    Inputs,
    Progress,
    Request,
    Sampling,
    generate,
)
from liftbay.benchmarks.jmultiwoz_tc.result_file import ResultFile
from liftbay.datasets.data_file import DataFile
from liftbay.datasets.jmultiwoz_tc_files import read_tools
from liftbay.datasets.jmultiwoz_tc_records import ResultRecord
from liftbay.domain.toolcall import ToolCall
from liftbay.errors import AgentError, AgentProtocol, AgentRefused, AgentTimeout, AgentUnreachable, InputError, RunError
from liftbay.transport.chat_endpoint import ChatChoice, ChatEndpoint, ChatMessage, ChatToolCall, FunctionCall
from liftbay.transport.retry import RetryPolicy

ONCE = RetryPolicy(timeout_tries=1, server_tries=1)


def write_inputs(path: Path, count: int) -> DataFile:
    records = [
        {"data_id": f"d{number}", "dialogue_id": "c", "question": [{"role": "user", "content": f"{number}番"}]}
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return DataFile(path)


@pytest.fixture
def results(tmp_path: Path) -> ResultFile:
    """An empty result file, not yet opened."""
    return ResultFile(tmp_path / "result_m.jsonl")


def choice(*calls: tuple[str, str | dict[str, Any]], finish_reason: str = "stop") -> ChatChoice:
    tool_calls = [ChatToolCall(FunctionCall(name, arguments)) for name, arguments in calls]
    return ChatChoice(ChatMessage(tool_calls=tool_calls or None), finish_reason)


class Scripted:
    """Stands in for `ChatEndpoint`: answers by the number in the question."""

    def __init__(self, answer: Callable[[int], ChatChoice]) -> None:
        self.answer = answer
        self.asked: list[int] = []
        self.busy = self.busiest = 0

    async def chat(self, body: bytes) -> ChatChoice:
        number = int(json.loads(body)["messages"][0]["content"].removesuffix("番"))
        self.asked.append(number)
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        await asyncio.sleep(0)
        self.busy -= 1
        return self.answer(number)


def run(
    endpoint: Scripted, inputs: Inputs, results: ResultFile, *, concurrency: int = 4
) -> tuple[Progress, list[ResultRecord]]:
    with inputs, results:
        progress = Progress(inputs.pending)
        inputs.leave_out(record.data_id for record in results.records())
        asyncio.run(
            generate(
                cast(ChatEndpoint, endpoint),
                Request("m", [{"type": "function"}], Sampling()),
                inputs,
                results,
                concurrency=concurrency,
                policy=ONCE,
                progress=progress,
            )
        )
        return progress, sorted(results.records(), key=lambda record: int(record.data_id[1:]))


def one_answer(tmp_path: Path, answer: Callable[[int], ChatChoice]) -> ResultRecord:
    return run(Scripted(answer), Inputs(write_inputs(tmp_path / "i.jsonl", 1), None), ResultFile(tmp_path / "r.jsonl"))[
        1
    ][0]


def test_every_input_is_asked_once_and_no_more_than_allowed_at_a_time(tmp_path: Path, results: ResultFile) -> None:
    endpoint = Scripted(lambda number: choice(("f", {"n": number})))
    progress, records = run(endpoint, Inputs(write_inputs(tmp_path / "i.jsonl", 50), None), results)
    assert sorted(endpoint.asked) == list(range(50))
    assert endpoint.busiest == 4
    assert [record.tool_calls for record in records] == [[ToolCall("f", {"n": number})] for number in range(50)]
    assert (progress.answered, progress.errors, progress.done) == (50, 0, 50)


def test_what_is_in_the_result_file_is_not_asked_again(tmp_path: Path, results: ResultFile) -> None:
    file = write_inputs(tmp_path / "i.jsonl", 10)
    first, second = Scripted(lambda _: choice()), Scripted(lambda _: choice())
    run(first, Inputs(file, 4), results)
    run(second, Inputs(file, None), results)
    assert sorted(first.asked) == [0, 1, 2, 3]
    assert sorted(second.asked) == [4, 5, 6, 7, 8, 9]


def test_arguments_may_come_as_text_or_as_an_object(tmp_path: Path) -> None:
    record = one_answer(tmp_path, lambda _: choice(("f", '{"a": 1}'), ("g", {"b": "東京"})))
    assert record.tool_calls == [ToolCall("f", {"a": 1}), ToolCall("g", {"b": "東京"})]
    assert record.error is None


@pytest.mark.parametrize("arguments", ["", "[]", "1", '"{}"', '{"a": ', "{'a': 1}", '{"a": NaN}', "null"])
def test_arguments_that_are_no_object_are_an_error_record(tmp_path: Path, arguments: str) -> None:
    record = one_answer(tmp_path, lambda _: choice(("f", arguments)))
    assert record.tool_calls == []
    assert str(record.error).startswith("AgentProtocol: the arguments of f are not a JSON object")


def test_an_answer_that_was_cut_says_so(tmp_path: Path) -> None:
    record = one_answer(tmp_path, lambda _: choice(("f", '{"a":'), finish_reason="length"))
    assert "token limit" in str(record.error)


def raising(error: Exception) -> Callable[[int], ChatChoice]:
    def answer(number: int) -> ChatChoice:
        raise error

    return answer


def test_a_timeout_is_recorded_under_the_name_of_the_benchmark(tmp_path: Path) -> None:
    assert one_answer(tmp_path, raising(AgentTimeout("no answer"))).error == "TimeoutError"
    (tmp_path / "refused").mkdir()
    assert one_answer(tmp_path / "refused", raising(AgentRefused("HTTP 400"))).error == "AgentRefused: HTTP 400"


def test_first_answers_that_are_all_refusals_stop_the_run_and_leave_no_trace(
    tmp_path: Path, results: ResultFile
) -> None:
    endpoint = Scripted(raising(AgentRefused("HTTP 400: no tools", remedy="start it with tools")))
    with pytest.raises(RunError, match=f"refused the first {FIRST_ANSWERS} requests") as caught:
        run(endpoint, Inputs(write_inputs(tmp_path / "i.jsonl", 100), None), results, concurrency=7)
    assert caught.value.remedy == "start it with tools"
    assert results.path.read_bytes() == b""
    assert len(endpoint.asked) <= FIRST_ANSWERS + 7


def test_refusals_after_an_answer_are_error_records(tmp_path: Path, results: ResultFile) -> None:
    def answer(number: int) -> ChatChoice:
        if number % 30 == 5:
            return choice()
        raise AgentRefused("HTTP 400")

    progress, _ = run(Scripted(answer), Inputs(write_inputs(tmp_path / "i.jsonl", 60), None), results)
    assert (progress.answered, progress.errors) == (2, 58)


@pytest.mark.parametrize("fault", [AgentRefused("HTTP 401"), AgentProtocol("<html>"), AgentTimeout("slow")])
def test_a_fault_that_begins_half_way_stops_the_run(tmp_path: Path, results: ResultFile, fault: AgentError) -> None:
    def answer(number: int) -> ChatChoice:
        if number < 50:
            return choice()
        raise fault

    with pytest.raises(RunError, match="gave no answer for 40 records in a row"):
        run(Scripted(answer), Inputs(write_inputs(tmp_path / "i.jsonl", 500), None), results, concurrency=2)
    with results:
        assert 90 <= len(list(results.records())) <= 91


def test_a_model_that_only_writes_broken_arguments_is_measured_to_the_end(tmp_path: Path, results: ResultFile) -> None:
    endpoint = Scripted(lambda _: choice(("f", '{"a":')))
    progress, _ = run(endpoint, Inputs(write_inputs(tmp_path / "i.jsonl", 100), None), results)
    assert progress.errors == 100


@pytest.mark.parametrize("depth", [150, 151, 900, 5000, 200_000])
def test_arguments_without_a_bottom_are_an_error_record(tmp_path: Path, depth: int) -> None:
    """What a model writes that repeats itself."""
    record = one_answer(tmp_path, lambda _: choice(("f", '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}")))
    assert (record.error is None) == (depth <= 150)
    (tmp_path / "open").mkdir()
    record = one_answer(tmp_path / "open", lambda _: choice(("f", '{"a":' + "[" * depth)))
    assert record.error is not None


def test_answers_that_were_cut_before_a_call_are_counted(tmp_path: Path, results: ResultFile) -> None:
    endpoint = Scripted(lambda number: choice(finish_reason="length" if number < 3 else "stop"))
    progress, _ = run(endpoint, Inputs(write_inputs(tmp_path / "i.jsonl", 10), None), results)
    assert (progress.cut, progress.answered) == (3, 10)


def test_fewer_refusals_than_that_are_error_records(tmp_path: Path, results: ResultFile) -> None:
    endpoint = Scripted(raising(AgentRefused("HTTP 400")))
    progress, records = run(endpoint, Inputs(write_inputs(tmp_path / "i.jsonl", FIRST_ANSWERS - 1), None), results)
    assert progress.errors == len(records) == FIRST_ANSWERS - 1
    assert progress.last_error == "AgentRefused: HTTP 400"


def test_an_endpoint_that_is_gone_stops_the_run(tmp_path: Path, results: ResultFile) -> None:
    with pytest.raises(RunError, match="gave no answer for 40 records in a row"):
        run(
            Scripted(raising(AgentUnreachable("no"))),
            Inputs(write_inputs(tmp_path / "i.jsonl", 200), None),
            results,
            concurrency=1,
        )
    with results:
        assert len(list(results.records())) == FAULTS_IN_A_ROW


def test_the_request_holds_the_question_as_it_is() -> None:
    sampling = Sampling(temperature=0.0, max_tokens=9, seed=1, extra_body={"top_k": 1, "tool_choice": "required"})
    body = Request("m", [{"type": "function"}], sampling).body(msgspec.Raw(b'[ {"role":"user"} ]'))
    assert body.startswith(b'{"messages":[ {"role":"user"} ],')
    assert json.loads(body) == {
        "messages": [{"role": "user"}],
        "model": "m",
        "tools": [{"type": "function"}],
        "tool_choice": "required",
        "temperature": 0.0,
        "max_tokens": 9,
        "seed": 1,
        "top_k": 1,
    }
    assert json.loads(Request("m", [], Sampling()).body(msgspec.Raw(b"[]")))["tool_choice"] == "auto"


@pytest.mark.parametrize("name", ["model", "messages", "tools", "stream"])
def test_the_extra_body_cannot_replace_what_is_measured(name: str) -> None:
    with pytest.raises(InputError, match=f"must not hold {name}"):
        Request("m", [], Sampling(extra_body={name: None}))


def test_a_limit_reads_no_further(tmp_path: Path) -> None:
    file = write_inputs(tmp_path / "i.jsonl", 5)
    with Inputs(file, 3) as three, Inputs(file, None) as all_, Inputs(file, 9) as nine:
        assert [record.data_id for record in three] == ["d0", "d1", "d2"]
        assert (three.records, all_.records, nine.records) == (3, 5, 5)
        assert three.sha256 == all_.sha256


def test_ids_that_are_left_out_are_not_pending(tmp_path: Path) -> None:
    with Inputs(write_inputs(tmp_path / "i.jsonl", 5), 4) as inputs:
        inputs.leave_out(["d1", "d1", "d4", "unknown"])
        assert inputs.pending == 3
        assert [record.data_id for record in inputs] == ["d0", "d2", "d3"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"data_id":"d0","dialogue_id":"c","question":[{}]}', "duplicated data_id, for example d0"),
        ('{"data_id":"x","dialogue_id":"c","question":"hello"}', "expected a list of messages"),
        ('{"data_id":"x","dialogue_id":"c","question":[ ]}', "expected a list of messages"),
        ('{"data_id":"x","dialogue_id":"c","ground_truth":[]}', "this is a file of right answers"),
        ('{"data_id":"x","question":[{}]}', "field is missing"),
    ],
)
def test_a_bad_input_is_found_before_the_first_request(tmp_path: Path, line: str, says: str) -> None:
    file = write_inputs(tmp_path / "i.jsonl", 2)
    file.path.write_text(file.path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=says):
        Inputs(file, None)


def test_an_input_in_another_encoding_is_found(tmp_path: Path) -> None:
    path = tmp_path / "i.jsonl"
    path.write_bytes('{"data_id":"x","dialogue_id":"c","question":[{"content":"東京"}]}'.encode("cp932"))
    with pytest.raises(InputError, match="CP932"):
        Inputs(DataFile(path), None)


def test_tools_are_a_list_of_objects(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text('[{"b": 1, "a": 2}]')
    tools, digest = read_tools(DataFile(path))
    path.write_text('[ {"a": 2, "b": 1} ]')
    assert read_tools(DataFile(path)) == (tools, digest)
    for text in ("{}", "[]", "[1]"):
        path.write_text(text)
        with pytest.raises(InputError, match="list of tool definitions"):
            read_tools(DataFile(path))
