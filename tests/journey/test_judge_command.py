"""Runs with a judge, as a user meets them: settings, cache, recorded answers, resume, rescope."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from chat_server import serving
from command import liftbay, read_lines
from judge_project import CASES, VERDICTS, Endpoint, make_project, with_status
from places import synchronous

from liftbay.domain.result import RunRecord

SCOPE = ("run", "--scope", "KNOWLEDGE_QA", "--json")


async def command(folder: Path, *arguments: object, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run the command while the endpoint of this process answers."""
    return await asyncio.to_thread(lambda: liftbay(*arguments, cwd=folder, timeout=60, prefix=(), **changes))


def report_of(result: subprocess.CompletedProcess[str], code: int = 0) -> dict[str, Any]:
    """The report that was printed."""
    assert result.returncode == code, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def newest(folder: Path) -> RunRecord:
    """The record of the newest run."""
    connection = sqlite3.connect(folder / ".liftbay" / "liftbay.db")
    (text,) = connection.execute("SELECT record FROM runs ORDER BY number DESC LIMIT 1").fetchone()
    connection.close()
    return msgspec.json.decode(text, type=RunRecord)


@synchronous
async def test_every_judged_metric_is_decided_and_asked_once(tmp_path: Path) -> None:
    make_project(tmp_path)
    endpoint = Endpoint()
    async with serving(endpoint) as url:
        options = (*SCOPE, "--judge", url, "--judge-language", "ja")
        report = report_of(await command(tmp_path, *options, LIFTBAY_JUDGE_API_KEY="secret-of-the-judge"))
        assert report["passRate"]["value"] == 1
        assert set(with_status(report, "errors").values()) == {0}
        assert len(endpoint.asked) == VERDICTS
        assert endpoint.keys == {"Bearer secret-of-the-judge"}
        assert {request["model"] for request in endpoint.asked} == {"the-only-one"}
        record = newest(tmp_path)
        assert record.request.judge is not None
        assert (record.request.judge.url, record.request.judge.model) == (url, "the-only-one")
        assert record.request.judge.language == "ja"
        assert record.judge is not None
        assert (record.judge.calls, record.judge.cached, record.judge.errors) == (VERDICTS, 0, 0)
        assert (record.judge.input_tokens, record.judge.output_tokens) == (100 * VERDICTS, 20 * VERDICTS)
        again = report_of(await command(tmp_path, *options))
    assert again["passRate"]["value"] == 1
    assert len(endpoint.asked) == VERDICTS, "the second run asks the cache"
    record = newest(tmp_path)
    assert record.judge is not None
    assert (record.judge.calls, record.judge.cached, record.judge.mean_latency_ms) == (0, VERDICTS, None)
    assert "secret-of-the-judge" not in (tmp_path / ".liftbay" / "liftbay.db").read_bytes().decode("latin-1")


@synchronous
async def test_the_judge_of_the_project_and_how_to_do_without(tmp_path: Path) -> None:
    endpoint = Endpoint()
    async with serving(endpoint) as url:
        make_project(
            tmp_path,
            f'[judge]\nurl = "{url}?code=topsecret"\nmodel = "m"\nvotes = 3\nparameters = {{ top_p = 0.5 }}\n'
            'api_key_env = "MY_KEY"\n',
        )
        report_of(await command(tmp_path, *SCOPE, "--judge-votes", "2", MY_KEY="mine"))
        assert len(endpoint.asked) == 2 * VERDICTS
        assert {(one["model"], one["top_p"], one["temperature"]) for one in endpoint.asked} == {("m", 0.5, 0.7)}
        assert {one["seed"] for one in endpoint.asked} == {0, 1}
        assert endpoint.keys == {"Bearer mine"}
        settings = newest(tmp_path).request.judge
        assert settings is not None
        assert "topsecret" not in msgspec.json.encode(settings).decode()
        without = report_of(await command(tmp_path, *SCOPE, "--judge", "off"))
    assert set(with_status(without, "errors").values()) == {CASES}
    assert without["metrics"]["task_completion_rate"]["errors"] == {"no judge configured": CASES}
    assert newest(tmp_path).request.judge is None


@synchronous
async def test_recorded_answers_need_no_endpoint(tmp_path: Path) -> None:
    make_project(tmp_path)
    endpoint = Endpoint()
    async with serving(endpoint) as url:
        await command(tmp_path, *SCOPE, "--judge", url, "--judge-language", "ja")
    exported = await command(tmp_path, "judge", "export", "answers.jsonl")
    assert exported.returncode == 0, exported.stderr
    lines = read_lines(tmp_path / "answers.jsonl")
    assert len(lines) == VERDICTS
    assert [line["key"] for line in lines] == sorted(line["key"] for line in lines)

    fresh = ("--store", f"sqlite:///{tmp_path / 'fresh.db'}")
    report = report_of(await command(tmp_path, *SCOPE, "--judge", "cache:answers.jsonl", *fresh))
    assert report["passRate"]["value"] == 1
    assert set(with_status(report, "errors").values()) == {0}

    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines[3:]))
    result = await command(tmp_path, *SCOPE, "--judge", "cache:answers.jsonl", *fresh)
    report = report_of(result, code=1)
    assert sum(with_status(report, "errors").values()) == 3
    assert {reason for one in report["metrics"].values() for reason in one["errors"]} == {"not in the recorded answers"}
    assert "the recorded answers lack 3" in result.stderr
    assert any("do not hold 3 of the 20" in warning for warning in report["warnings"])


@synchronous
async def test_answers_go_into_another_store(tmp_path: Path) -> None:
    make_project(tmp_path)
    endpoint = Endpoint()
    other = ("--store", f"sqlite:///{tmp_path / 'other.db'}")
    async with serving(endpoint) as url:
        await command(tmp_path, *SCOPE, "--judge", url)
        await command(tmp_path, "judge", "export", "answers.jsonl")
        for new in (VERDICTS, 0):
            result = await command(tmp_path, "judge", "import", "answers.jsonl", *other)
            assert result.stdout == f"{VERDICTS} answers read, {new} of them new\n", result.stderr
        report_of(await command(tmp_path, *SCOPE, "--judge", url, *other))
    assert len(endpoint.asked) == VERDICTS


@synchronous
async def test_a_file_that_holds_no_answers(tmp_path: Path) -> None:
    make_project(tmp_path)
    (tmp_path / "bad.jsonl").write_text('{"key": "a"}\n')
    for arguments in (("judge", "import", "bad.jsonl"), (*SCOPE, "--judge", "cache:bad.jsonl")):
        result = await command(tmp_path, *arguments)
        assert (result.returncode, result.stdout) == (2, "")
        assert "bad.jsonl:1: answer" in result.stderr


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--judge", "my-judge"), "this names no judge"),
        (("--judge", "http://host/v1?key=1"), "may hold a secret"),
        (("--judge", "http://me:pass@host/v1"), "user name or a password"),
        (("--judge", "missing.toml"), "no such file"),
        (("--judge", "cache:missing.jsonl"), "no such file"),
        (("--judge", "judge.toml"), "liftbay sets seed itself"),
        (("--judge-model", "m"), "there is no judge"),
        (("--judge", "http://host/v1", "--judge-votes", "100"), "<= 99"),
        (("--judge", "http://host/v1", "--judge-language", "de"), "'de'"),
        (("--judge", "http://host/v1", "--judge-cache", "maybe"), "'maybe'"),
    ],
)
def test_mistakes(tmp_path: Path, options: tuple[str, ...], why: str) -> None:
    make_project(tmp_path)
    (tmp_path / "judge.toml").write_text('url = "http://host/v1"\nparameters = { seed = 1 }\n')
    result = liftbay(*SCOPE, *options, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert why in result.stderr


@synchronous
async def test_a_run_that_goes_on_keeps_its_judge(tmp_path: Path) -> None:
    make_project(tmp_path)
    endpoint = Endpoint()
    async with serving(endpoint) as url:
        report_of(await command(tmp_path, *SCOPE, "--judge", url, "--judge-language", "ja"))
        refused = await command(tmp_path, "run", "--resume", "last", "--judge-votes", "3")
        assert refused.returncode == 2
        assert "keeps what it was started with" in refused.stderr
        connection = sqlite3.connect(tmp_path / ".liftbay" / "liftbay.db")
        connection.execute("DELETE FROM results WHERE case_id = 'KQA-4'")
        connection.execute("UPDATE runs SET results = results - 1")
        connection.execute("DELETE FROM judge_answers")
        connection.commit()
        connection.close()
        report = report_of(await command(tmp_path, "run", "--resume", "last", "--json"))
    assert report["cases"]["total"] == CASES
    assert len(endpoint.asked) == VERDICTS + 4
    record = newest(tmp_path)
    assert record.judge is not None
    assert record.judge.calls == VERDICTS + 4, "what both starts took"


@synchronous
async def test_rescope_judges_only_what_is_not_judged_yet(tmp_path: Path) -> None:
    make_project(tmp_path)
    endpoint = Endpoint()
    async with serving(endpoint) as url:
        judge = ("--judge", url, "--judge-cache", "off", "--json")
        report_of(await command(tmp_path, *SCOPE))
        report = report_of(await command(tmp_path, "rescope", "last", "END_TO_END", *judge))
        assert report["metrics"]["task_completion_rate"]["conditional"]["value"] == 1
        assert set(with_status(report, "errors").values()) == {0}
        assert len(endpoint.asked) == VERDICTS

        await command(tmp_path, *SCOPE, "--judge", url)
        asked = len(endpoint.asked)
        report = report_of(await command(tmp_path, "rescope", "last", "END_TO_END", *judge))
        assert report["metrics"]["faithfulness_rate"]["conditional"]["value"] == 1
        assert len(endpoint.asked) == asked, "all of it was judged"


def test_rescope_asks_nobody_that_is_not_named(tmp_path: Path) -> None:
    make_project(tmp_path, '[judge]\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\n')
    report_of(liftbay(*SCOPE, "--judge", "off", cwd=tmp_path))
    report = report_of(liftbay("rescope", "last", "END_TO_END", "--json", cwd=tmp_path))
    assert report["metrics"]["task_completion_rate"]["errors"] == {"no judge configured": CASES}
    refused = liftbay("rescope", "last", "END_TO_END", "--judge-model", "m", cwd=tmp_path)
    assert (refused.returncode, "there is no judge" in refused.stderr) == (2, True)


@synchronous
async def test_a_judge_that_moved_is_not_the_same(tmp_path: Path) -> None:
    make_project(tmp_path)
    async with serving(Endpoint()) as url:
        for address in (url, f"{url}/other"):
            (tmp_path / "judge.toml").write_text(f'url = "{address}"\nmodel = "m"\n')
            if address == url:
                report_of(await command(tmp_path, *SCOPE, "--judge", "judge.toml"))
        result = await command(tmp_path, "run", "--resume", "last")
    assert result.returncode == 2
    assert f"has changed since the run began: it was {url}" in result.stderr


@synchronous
async def test_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import liftbay as package  # noqa: PLC0415 - the command has its name here

    make_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    endpoint = Endpoint()
    async with serving(endpoint) as url:
        report = await package.run_async("KNOWLEDGE_QA", "python:shop:answer", judge=url, judge_model="m")
    assert report.pass_rate.value == 1
    assert {request["model"] for request in endpoint.asked} == {"m"}
