"""What answers were made with, without a secret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from liftbay.benchmarks.jmultiwoz_tc.manifest import (
    Session,
    changed_settings,
    read_manifest,
    without_secrets,
)
from liftbay.errors import InputError


def session(started: str = "2026-01-01T00:00:00+00:00", **changes: Any) -> Session:
    return msgspec.structs.replace(
        Session(
            started=started,
            base_url="http://localhost:8000/v1",
            tools="tools.json",
            tools_sha256="t",
            input="i.jsonl",
            input_sha256="i",
            records=10,
            skipped=0,
            temperature=None,
            max_tokens=None,
            seed=None,
            extra_body={},
            concurrency=32,
            timeout=120.0,
            max_retries=3,
            limit=None,
            retry_errors=False,
        ),
        **changes,
    )


def test_each_start_has_its_entry_and_its_end_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / "manifest_m.json"
    first = read_manifest(path, "m", "result_m.jsonl").with_session(session("1"))
    first.write(path)
    read_manifest(path, "m", "result_m.jsonl").with_session(session("1", outcome="finished")).write(path)
    read_manifest(path, "m", "result_m.jsonl").with_session(session("2")).write(path)
    again = read_manifest(path, "m", "result_m.jsonl")
    assert [(one.started, one.outcome) for one in again.sessions] == [("1", "finished"), ("2", "running")]


def test_settings_that_change_answers_are_named(tmp_path: Path) -> None:
    manifest = read_manifest(tmp_path / "none.json", "m", "r")
    assert changed_settings(manifest, session()) == []
    manifest = manifest.with_session(session("1"))
    assert changed_settings(manifest, session("2", concurrency=1, timeout=9.0, limit=3)) == []
    assert changed_settings(manifest, session("2", temperature=0.5, tools_sha256="u")) == [
        ("tools_sha256", "t", "u"),
        ("temperature", None, 0.5),
    ]


def test_a_file_that_is_no_manifest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "manifest_m.json"
    path.write_text('{"sessions": 1}')
    with pytest.raises(InputError, match="not a manifest"):
        read_manifest(path, "m", "r")


def test_secrets_are_left_out() -> None:
    body = {
        "api_key": "s",
        "max_tokens": 5,
        "n": [{"Authorization": "s", "token": "s"}],
        "X-Auth-Token": "s",
        "top_k": 1,
    }
    assert without_secrets(body) == {
        "api_key": "***",
        "max_tokens": 5,
        "n": [{"Authorization": "***", "token": "***"}],
        "X-Auth-Token": "***",
        "top_k": 1,
    }
