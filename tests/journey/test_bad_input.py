"""What a user gets wrong, and what liftbay says to it: the cause, the place, the remedy, the exit code."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import LIFTBAY, environment, liftbay, write_lines

from liftbay.cli.main import main

CALL = {"name": "f", "arguments": {"街": "東京"}}
TOOLS = "tools.json"
INPUT = "jmultiwoz_tc_input.jsonl"
GROUND = "jmultiwoz_tc_ground.jsonl"
RESULT = "result_m.jsonl"


def records(*ids: str, **fields: Any) -> list[dict[str, Any]]:
    return [{"data_id": id_, "dialogue_id": "d", **fields} for id_ in ids]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A good dataset of three records, and a good result file for it."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / TOOLS).write_text('[{"type": "function", "function": {"name": "f"}}]')
    write_lines(folder / INPUT, records("a", "b", "c", question=[{"role": "user", "content": "こんにちは"}]))
    write_lines(folder / GROUND, records("a", "b", "c", ground_truth=[CALL]))
    write_lines(folder / RESULT, records("a", "b", "c", tool_calls=[CALL]))
    return folder


class Said:
    """What a command printed and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


Evaluate = Callable[..., Said]


@pytest.fixture
def evaluate(data: Path, capsys: pytest.CaptureFixture[str]) -> Evaluate:
    """Evaluate the result file in `data`, in this process."""

    def run(*arguments: object) -> Said:
        options = ["--lang", "en", "jmultiwoz", "evaluate", "--data", str(data), "--result", str(data / RESULT)]
        code = main([*options, "--output-dir", str(data / "out"), *map(str, arguments)])
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return run


def assert_mistake(said: Said, data: Path, *texts: str) -> None:
    """The user's mistake is named, and nothing was written."""
    assert said.code == 2, said.err
    assert said.err.startswith("liftbay: error: ")
    assert "Traceback" not in said.err
    for text in texts:
        assert text in said.err
    assert not (data / "out").exists()


def test_good_input_is_scored(evaluate: Evaluate, data: Path) -> None:
    said = evaluate()
    assert said.code == 0
    assert said.out.count("100.00") == 4
    assert said.err == ""
    assert {path.name for path in (data / "out").iterdir()} == {"score_m.json", "incorrect_m.json"}


@pytest.mark.parametrize("name", [RESULT, GROUND])
def test_missing_file(evaluate: Evaluate, data: Path, name: str) -> None:
    (data / name).unlink()
    assert_mistake(evaluate(), data, f"{data / name}: there is no such file", "remedy: ")


def test_missing_input_file_is_a_warning(evaluate: Evaluate, data: Path) -> None:
    (data / INPUT).unlink()
    write_lines(data / RESULT, records("a", "b", "c", tool_calls=[]))
    said = evaluate()
    assert said.code == 0
    assert f"liftbay: warning: there is no input file {data / INPUT}" in said.err
    log = (data / "out" / "incorrect_m.json").read_text().splitlines()
    assert [json.loads(line)["question"] for line in log] == [None] * 6


def test_archive_without_the_three_files(evaluate: Evaluate, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "dataset.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(data / TOOLS, TOOLS)
    assert_mistake(evaluate("--data", path), data, f"{path}: it does not hold {INPUT}, {GROUND}", "--data takes")


def test_archive_with_a_path_that_leaves_the_folder(evaluate: Evaluate, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "dataset.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in (TOOLS, INPUT, GROUND):
            archive.write(data / name, name)
        archive.writestr("../../escaped", "x")
    assert_mistake(evaluate("--data", path), data, 'leaves the folder: "../../escaped"')


def test_archive_in_place_of_the_folder(evaluate: Evaluate, data: Path, tmp_path: Path) -> None:
    path = Path(shutil.make_archive(str(tmp_path / "dataset"), "zip", data))
    assert evaluate("--data", path).code == 0


def test_invalid_json_at_a_line(evaluate: Evaluate, data: Path) -> None:
    with (data / RESULT).open("a") as file:
        file.write('{"data_id": "d",\n')
    assert_mistake(evaluate(), data, f"{data / RESULT}:4: invalid JSON", "column")


def test_record_without_data_id(evaluate: Evaluate, data: Path) -> None:
    write_lines(data / RESULT, [{"dialogue_id": "d", "tool_calls": []}])
    assert_mistake(evaluate(), data, f"{data / RESULT}:1: data_id: the field is missing")


@pytest.mark.parametrize("name", [RESULT, GROUND, INPUT])
def test_duplicate_ids(evaluate: Evaluate, data: Path, name: str) -> None:
    text = (data / name).read_text()
    (data / name).write_text(text + text.splitlines()[1] + "\n")
    assert_mistake(evaluate(), data, f"{data / name}:4: 1 duplicated data_id, for example b")


def test_unknown_ids(evaluate: Evaluate, data: Path) -> None:
    write_lines(data / RESULT, records("a", "b", "c", "x", "y", tool_calls=[CALL]))
    said = evaluate("--json")
    assert said.code == 0
    assert "2 records of the result file have an id that is not among the right answers, for example x" in said.err
    assert json.loads(said.out)[0]["総データ数"] == 3


def test_ids_missing(evaluate: Evaluate, data: Path) -> None:
    write_lines(data / RESULT, records("b", tool_calls=[CALL]))
    said = evaluate("--json")
    assert said.code == 0
    assert "2 ids of the right answers are not in the result file, for example a" in said.err
    assert json.loads(said.out)[0]["総データ数"] == 1


@pytest.mark.parametrize(("arguments", "found"), [("{}", "str"), ([], "array"), (None, "null"), (1, "int")])
def test_arguments_that_are_not_an_object(evaluate: Evaluate, data: Path, arguments: Any, found: str) -> None:
    write_lines(data / RESULT, records("a", tool_calls=[{"name": "f", "arguments": arguments}]))
    place = f"{data / RESULT}:1: tool_calls[0].arguments: expected object, found {found}"
    assert_mistake(evaluate(), data, place)


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_empty_result_file(evaluate: Evaluate, data: Path, content: str) -> None:
    (data / RESULT).write_text(content, encoding="utf-8")
    assert_mistake(evaluate(), data, "the file holds no record")


def test_result_file_that_is_really_the_score_file(evaluate: Evaluate, data: Path) -> None:
    evaluate("--output-dir", data)
    said = evaluate("--result", data / "score_m.json")
    assert_mistake(said, data, "this is a score file (score_*.json), where a result file (result_*.jsonl) is needed")
    said = evaluate("--ground", data / INPUT)
    assert_mistake(said, data, "this is a file of inputs", "where a file of right answers")


@pytest.mark.parametrize("name", [RESULT, GROUND])
def test_cp932_instead_of_utf8(evaluate: Evaluate, data: Path, name: str) -> None:
    (data / name).write_text((data / name).read_text(encoding="utf-8"), encoding="cp932")
    assert_mistake(evaluate(), data, f"{data / name}:1: the text is not UTF-8; it looks like CP932", "iconv -f CP932")


def test_cp932_in_a_question_that_the_log_needs(evaluate: Evaluate, data: Path) -> None:
    (data / INPUT).write_text((data / INPUT).read_text(encoding="utf-8"), encoding="cp932")
    write_lines(data / RESULT, records("a", tool_calls=[]))
    assert_mistake(evaluate(), data, f"{data / INPUT}:1: question: the text is not UTF-8")


@pytest.mark.parametrize("name", [RESULT, GROUND, INPUT])
def test_byte_order_mark_and_crlf(evaluate: Evaluate, data: Path, name: str) -> None:
    text = "\ufeff" + (data / name).read_text(encoding="utf-8").replace("\n", "\r\n")
    (data / name).write_bytes(text.encode())
    assert evaluate().out.count("100.00") == 4


def test_a_line_of_five_megabytes(evaluate: Evaluate, data: Path) -> None:
    big = {"name": "f", "arguments": {"街": "京" * 1_700_000}}
    write_lines(data / RESULT, records("a", "b", "c", tool_calls=[big]))
    assert (data / RESULT).stat().st_size > 15_000_000
    said = evaluate("--breakdown")
    assert said.code == 0
    assert said.out.splitlines()[1].endswith(" 0.00")


def without_rights() -> tuple[str, ...]:
    """A command that runs another without root's right to write anywhere; empty where nobody needs it."""
    if os.geteuid() != 0:
        return ()
    if not shutil.which("setpriv"):
        pytest.skip("root writes anywhere, and there is no setpriv to give that right up")
    return ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")


def test_no_write_permission(data: Path, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    result = liftbay(
        *("jmultiwoz", "evaluate", "--data", data, "--result", data / RESULT, "--output-dir", locked),
        prefix=without_rights(),
    )
    assert result.returncode == 2
    assert "no file can be written there: Permission denied" in result.stderr
    assert "remedy: choose another place with --output-dir" in result.stderr
    assert list(locked.iterdir()) == []


def test_no_read_permission(data: Path) -> None:
    (data / RESULT).chmod(0)
    result = liftbay(
        *("jmultiwoz", "evaluate", "--data", data, "--result", data / RESULT, "--output-dir", data / "out"),
        prefix=without_rights(),
    )
    assert result.returncode == 2
    assert f"{data / RESULT}: no permission to read the file" in result.stderr


def test_disk_full(data: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands in for the end of the disk: the same failed write, another number."""
    write_lines(data / RESULT, records("a", tool_calls=[{"name": "f", "arguments": {"x": "y" * 100_000}}]))
    out = tmp_path / "out"
    out.mkdir()
    (out / "score_m.json").write_text("old")
    output = ("--output-dir", str(out))
    result = subprocess.run(
        [*LIFTBAY, "jmultiwoz", "evaluate", "--data", str(data), "--result", str(data / RESULT), *output],
        env=environment(),
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)),
        check=False,
    )
    assert result.returncode == 1
    assert f"{out / 'incorrect_m.json'}: writing failed: File too large" in result.stderr
    assert "remedy: make room on the disk" in result.stderr
    assert (out / "score_m.json").read_text() == "old"
    assert list(out.iterdir()) == [out / "score_m.json"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["evaluate"], "Missing option '--result'"),
        (["evaluate", "--result", "x", "--wrong"], "No such option"),
        (["generate", "--concurrency", "0"], "concurrency"),
        (["generate", "--concurrency", "many"], "concurrency"),
        (["generate", "--extra-body", "[1]"], "not a JSON object"),
        (["generate", "--base-url", "localhost:8000"], "not an http address"),
        (["generate", "--timeout", "nan"], "--timeout nan: this is not a number"),
        (["generate", "--temperature", "inf"], "--temperature inf: this is not a number"),
        (["generate", "--temperature", "1", "--extra-body", '{"temperature": 0}'], "temperature is given twice"),
        (["nothing"], "No such command"),
        (["compare", "one"], "Missing argument"),
    ],
)
def test_wrong_options(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str
) -> None:
    monkeypatch.chdir(data)
    assert main(["--lang", "en", "jmultiwoz", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_remedy_with_braces(data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data)
    assert main(["--lang", "en", "jmultiwoz", "generate", "--extra-body", "{"]) == 2
    assert """--extra-body '{"top_k": 1}'""" in capsys.readouterr().err


def test_no_endpoint(data: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--data", str(data), "--base-url", "http://127.0.0.1:9/v1", "--output-dir", str(tmp_path / "out")]
    assert main(["--lang", "en", "jmultiwoz", "generate", *options]) == 1
    said = capsys.readouterr().err
    assert "http://127.0.0.1:9/v1/models: the connection failed" in said
    assert "remedy: check that the server runs" in said
    assert not (tmp_path / "out").exists()


def test_output_folder_that_is_a_file(evaluate: Evaluate, data: Path) -> None:
    (data / "out").touch()
    said = evaluate()
    assert said.code == 2
    assert f"{data / 'out'}: no file can be written there: File exists" in said.err
