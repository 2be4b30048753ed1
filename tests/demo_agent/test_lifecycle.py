"""What lasts over a restart, what changes while the agent runs, and how it ends."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

Ask = Callable[..., dict[str, Any]]
Serve = Callable[..., AbstractContextManager[str]]

P = "1005006120457665"


def test_sessions_survive_a_restart(tmp_path: Path, serve: Serve, ask: Ask) -> None:
    with serve("--data", str(tmp_path)) as address:
        ask(address, "私は運営の佐藤です", "s")
        ask(address, f"{P} の韓国の在庫は?", "s")
    with serve("--data", str(tmp_path), "--version", "7") as address:
        assert "佐藤" in ask(address, "私の名前は?", "s")["text"]
        assert f"商品 {P}" in ask(address, "日本は?", "s")["text"]
        assert _json(f"{address}/version")["version"] == "7"


def test_a_published_skill_is_in_effect_at_once(tmp_path: Path, serve: Serve, ask: Ask) -> None:
    with serve("--data", str(tmp_path)) as address:
        file = tmp_path / "skills" / "stock-query" / "SKILL.md"
        changed = file.read_text().replace('output: ["結論", "在庫の内訳"]', 'output: ["まとめ", "明細"]')
        _put(f"{address}/skills/stock-query", {"version": "2.0.0", "content": changed})
        _wait_for(address, "stock-query", "2.0.0")
        assert "## まとめ" in ask(address, f"{P} の在庫", "s")["text"]
        _put(f"{address}/skills/stock-query", {"version": "2.1.0"})
        _wait_for(address, "stock-query", "2.1.0")
        assert "## まとめ" in ask(address, f"{P} の在庫", "s")["text"]

        (tmp_path / "skills" / "tag-analysis" / "SKILL.md").write_text("broken")
        until = time.monotonic() + 5
        while not _json(f"{address}/skills")["failures"]:
            assert time.monotonic() < until
        assert "## タグ一覧" in ask(address, f"{P} のタグ", "s")["text"]  # the version before stays in use
        loads = {load["name"]: load["error"] for load in _json(f"{address}/ready")["loads"]}
        assert loads["tag-analysis"]
        assert loads["product"] is None

        for name, body in (("nothing", {"version": "1"}), ("..%2Fx", {"version": "1"}), ("stock-query", {})):
            with pytest.raises(urllib.error.HTTPError) as caught:
                _put(f"{address}/skills/{name}", body)
            caught.value.close()
            assert caught.value.code == 400


def _wait_for(address: str, name: str, version: str) -> None:
    until = time.monotonic() + 5
    while version not in {one["version"] for one in _json(f"{address}/skills")["skills"] if one["name"] == name}:
        assert time.monotonic() < until


def _json(address: str) -> Any:
    with urllib.request.urlopen(address) as response:
        return json.load(response)


def _put(address: str, body: dict[str, str]) -> None:
    request = urllib.request.Request(address, json.dumps(body).encode(), method="PUT")
    with urllib.request.urlopen(request) as response:
        assert response.status == 200
