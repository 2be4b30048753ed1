"""One writer, no torn line, no answer lost."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from liftbay.benchmarks.jmultiwoz_tc.result_file import ResultFile
from liftbay.datasets.jmultiwoz_tc_records import ResultRecord
from liftbay.domain.toolcall import ToolCall
from liftbay.errors import InputError, StoreError


def record(id_: str, error: str | None = None) -> ResultRecord:
    return ResultRecord(id_, "d", [] if error else [ToolCall("f", {"街": "東京"})], error)


def ids(path: Path) -> list[str]:
    with ResultFile(path) as results:
        return [one.data_id for one in results.records()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A result file of two records, the second an error."""
    path = tmp_path / "result_m.jsonl"
    with ResultFile(path) as results:
        results.append(record("a"))
        results.append(record("b", "TimeoutError"))
    return path


def test_records_are_in_the_form_of_the_benchmark(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == (
        '{"data_id":"a","dialogue_id":"d","tool_calls":[{"name":"f","arguments":{"街":"東京"}}]}\n'
        '{"data_id":"b","dialogue_id":"d","tool_calls":[],"error":"TimeoutError"}\n'
    )


@pytest.mark.parametrize(
    "torn", [b'{"data_id":"c"', b"{", '{"data_id":"東'.encode()[:-1], b"\0\0\0", b'{"data_id":"c"}']
)
def test_a_torn_last_line_is_removed(path: Path, torn: bytes) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert ids(path) == ["a", "b"]
    assert path.read_bytes() == whole


def test_a_last_line_that_only_lacks_its_end_is_kept(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])
    with ResultFile(path) as results:
        results.append(record("c"))
    assert ids(path) == ["a", "b", "c"]


def test_every_cut_of_the_file_loses_no_whole_line(path: Path) -> None:
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert ids(path) == (["a", "b"] if size == len(whole) - 1 else ["a"] if size >= first - 1 else [])


def test_a_torn_line_longer_than_what_is_read_at_once(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"data_id":"' + b"x" * 3_000_000)
    assert ids(path) == ["a", "b"]
    assert path.read_bytes() == whole


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "result_m.jsonl"
    path.write_bytes(b'{"model": "m"}')
    with pytest.raises(InputError):
        ids(path)
    assert path.read_bytes() == b'{"model": "m"}'


def test_a_bad_line_in_the_middle_is_named(path: Path) -> None:
    path.write_bytes(b"nonsense\n" + path.read_bytes())
    with pytest.raises(InputError) as caught:
        ids(path)
    assert caught.value.place == f"{path}:1"


def test_a_second_writer_is_refused_while_the_first_lives(path: Path) -> None:
    with ResultFile(path), pytest.raises(StoreError, match="another process"), ResultFile(path):
        pass
    assert ids(path) == ["a", "b"]


def test_the_lock_dies_with_its_process(path: Path) -> None:
    program = (
        "import sys, pathlib, time\n"
        "from liftbay.benchmarks.jmultiwoz_tc.result_file import ResultFile\n"
        "with ResultFile(pathlib.Path(sys.argv[1])):\n"
        "    print('locked', flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(StoreError, match="another process"):
            ids(path)
        other.kill()
        other.wait()
    assert ids(path) == ["a", "b"]


def test_dropping_errors_keeps_the_rest_and_the_lock(path: Path) -> None:
    path.chmod(0o640)
    with ResultFile(path) as results:
        assert results.drop_errors() == 1
        with pytest.raises(StoreError, match="another process"), ResultFile(path):
            pass
        results.append(record("c"))
    assert ids(path) == ["a", "c"]
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(path.parent.iterdir()) == [path]


def test_dropping_errors_fails_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = path.read_bytes()
    with ResultFile(path) as results:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="No space left"):
            results.drop_errors()
        results.append(record("c"))
    assert path.read_bytes().startswith(before)
    assert ids(path) == ["a", "b", "c"]
    assert list(path.parent.iterdir()) == [path]


def test_a_full_disk_leaves_whole_records_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def short_then_full(handle: int, data: bytes) -> int:
        if len(data) > 20:
            return write(handle, data[:20])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with ResultFile(path) as results:
        before = path.read_bytes()
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", lambda handle, data: short_then_full(handle, data[:40]))
            with pytest.raises(StoreError, match="No space left"):
                results.append(ResultRecord("c", "d", [ToolCall("f", {})]))
        assert path.read_bytes() == before
        results.append(record("d"))
    assert ids(path) == ["a", "b", "d"]


def test_what_was_appended_can_be_taken_back(path: Path) -> None:
    with ResultFile(path) as results:
        size = results.size
        results.append(record("c"))
        results.cut(size)
        results.append(record("e"))
    assert ids(path) == ["a", "b", "e"]


def test_what_a_killed_process_left_is_swept_away(path: Path) -> None:
    (path.parent / f".{path.name}.abc123.part").write_bytes(b"half")
    (path.parent / ".result_other.jsonl.abc123.part").write_bytes(b"of another model")
    assert ids(path) == ["a", "b"]
    assert {left.name for left in path.parent.iterdir()} == {path.name, ".result_other.jsonl.abc123.part"}
