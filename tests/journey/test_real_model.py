"""A few records of the published data against a real model, where one is named.

Set `LIFTBAY_TEST_ENDPOINT` to the address of an OpenAI-compatible endpoint, such as `http://127.0.0.1:8801/v1`.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from command import DATASET, LIFTBAY, environment, liftbay, read_lines

ENDPOINT = os.environ.get("LIFTBAY_TEST_ENDPOINT")

pytestmark = [
    pytest.mark.skipif(not ENDPOINT, reason="no real model: LIFTBAY_TEST_ENDPOINT names no endpoint"),
    pytest.mark.skipif(not DATASET.exists(), reason="the published dataset is optional"),
]


def test_generate_killed_and_resumed_then_evaluated(tmp_path: Path) -> None:
    options = ["jmultiwoz", "generate", "--data", str(DATASET), "--base-url", str(ENDPOINT), "--limit", "4"]
    options += ["--model", "real", "--temperature", "0", "--seed", "1", "--max-tokens", "200", "--concurrency", "1"]
    options += ["--timeout", "300", "--output-dir", str(tmp_path)]
    result = tmp_path / "result_real.jsonl"
    with subprocess.Popen([*LIFTBAY, *options], env=environment(), stderr=subprocess.DEVNULL) as process:
        while not result.exists() or len(result.read_bytes().splitlines()) < 2:
            assert process.poll() is None
            time.sleep(0.1)
        process.kill()
    kept = read_lines(result)[:2]
    assert liftbay(*options, timeout=900).returncode == 0
    records = read_lines(result)
    assert records[:2] == kept
    assert sorted(record["data_id"] for record in records) == [f"jmultiwoz_tc_0_turn_{turn}" for turn in range(4)]
    assert [record for record in records if "error" in record] == []
    evaluation = liftbay(
        *("jmultiwoz", "evaluate", "--data", DATASET, "--result", result, "--output-dir", tmp_path, "--json")
    )
    assert json.loads(evaluation.stdout)[0]["評価対象数"] == 4
