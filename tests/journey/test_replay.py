"""Recorded answers through `liftbay run`: trajectories with several trials, and a result file of JMultiWOZ-TC."""

from __future__ import annotations

import itertools
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest
from command import DATASET, liftbay, write_lines

from liftbay.scoring.rates import clustered_rate

TRIALS = 4
REWARDS = {f"task-{number}": rewards for number, rewards in enumerate(itertools.product((1.0, 0.0), repeat=3))}


def trajectories() -> list[dict[str, Any]]:
    """Eight tasks, four trials each; trial by trial, as such files are."""
    chance = random.Random(11)
    records = []
    for trial in range(TRIALS):
        for task, rewards in REWARDS.items():
            reward = (*rewards, 0.5 if task == "task-7" else 1.0)[trial]
            calls = [
                {"id": f"{n}", "type": "function", "function": {"name": name, "arguments": '{"n": 1}'}}
                for n, name in enumerate(chance.choices(("find", "book"), k=trial))
            ]
            said = [
                {"role": "tool", "tool_call_id": call["id"], "content": "Error: no" if n == 2 else "{}"}
                for n, call in enumerate(calls)
            ]
            talk = [
                {"role": "user", "content": f"do {task}"},
                {"role": "assistant", "content": None, "tool_calls": calls or None},
                *said,
                {"role": "assistant", "content": "done"},
            ]
            records.append({"task_id": task, "trial": trial, "reward": reward, "traj": talk})
    return records


@pytest.fixture(scope="module", params=["json", "jsonl"])
def replayed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report on a trajectory file, in one of its two forms."""
    folder = tmp_path_factory.mktemp("replay")
    path = folder / f"talks.{request.param}"
    if request.param == "jsonl":
        write_lines(path, trajectories())
    else:
        path.write_text(json.dumps(trajectories(), indent=2))
    result = liftbay("run", "--scope", "END_TO_END", "--agent", f"replay:{path}", "--json", cwd=folder)
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def passes() -> list[list[bool]]:
    """Which trials of each task passed: a reward of 1."""
    found: dict[str, list[bool]] = {}
    for record in trajectories():
        found.setdefault(record["task_id"], []).append(record["reward"] >= 1)
    return list(found.values())


def test_pass_at_k_and_pass_hat_k_are_the_means_over_all_subsets(replayed: dict[str, Any]) -> None:
    for name, of_subset in (("passAtK", any), ("passHatK", all)):
        expected = []
        for k in range(1, TRIALS + 1):
            shares = []
            for trials in passes():
                subsets = list(itertools.combinations(trials, k))
                shares.append(sum(map(of_subset, subsets)) / len(subsets))
            expected.append(sum(shares) / len(shares))
        assert replayed[name] == pytest.approx(expected)
    assert replayed["trials"] == TRIALS
    assert 1 > replayed["passHatK"][0] > replayed["passHatK"][1] > replayed["passHatK"][3] > 0


def test_intervals_are_clustered_by_task(replayed: dict[str, Any]) -> None:
    rate = clustered_rate([(sum(trials), TRIALS) for trials in passes()])
    expected = {"value": rate.value, "low": rate.low, "high": rate.high, "n": rate.n}
    assert replayed["passRate"] == pytest.approx(expected)
    assert replayed["main"]["conditional"] == pytest.approx(expected)
    assert replayed["main"]["metric"] == "task_completion_rate"
    independent = clustered_rate([(float(passed), 1) for trials in passes() for passed in trials])
    assert independent.low is not None
    assert replayed["passRate"]["low"] < independent.low, "trials of a task are not independent"


def test_no_judge_is_asked(replayed: dict[str, Any]) -> None:
    cases = replayed["cases"]
    assert (cases["total"], cases["undecided"]) == (len(REWARDS) * TRIALS, 0)
    assert cases["passed"] == sum(map(sum, passes()))
    assert replayed["metrics"]["task_completion_rate"]["errors"] == {}
    assert replayed["missingDatasetTypes"] == ["KNOWLEDGE_QA", "MULTI_TURN", "ABNORMAL_INPUT"]


def test_tool_calls_are_counted_with_their_success(replayed: dict[str, Any]) -> None:
    made = [
        (call["function"]["name"], position != 2)
        for record in trajectories()
        for position, call in enumerate(record["traj"][1]["tool_calls"] or ())
    ]
    for name in ("find", "book"):
        succeeded = [success for tool, success in made if tool == name]
        assert replayed["tools"][name] == {
            "calls": len(succeeded),
            "succeeded": sum(succeeded),
            "failed": len(succeeded) - sum(succeeded),
            "unknown": 0,
            "mocked": 0,
            "unmocked": 0,
        }
    calls = replayed["probes"]["tool_calls"]["values"]
    assert (calls["mean"], calls["n"]) == (len(made) / 32, 32)
    assert replayed["probes"]["model_calls"]["values"]["mean"] == 2


def test_a_run_exported_and_replayed_says_the_same(tmp_path: Path) -> None:
    cases = [
        {"id": f"T-{n}", "datasetType": "TOOL_CALL", "userInput": str(n), "expectedTools": [{"name": "f"}]}
        for n in range(6)
    ]
    write_lines(tmp_path / "cases.jsonl", cases)
    (tmp_path / "bot.py").write_text(
        "def answer(text, trial):\n"
        "    if text == '5': raise ValueError('broken')\n"
        "    calls = [{'name': 'f', 'arguments': {}, 'success': True}] * ((int(text) + trial) % 2)\n"
        "    return {'text': 'done', 'trace': {'toolCalls': calls}}\n"
    )
    common = ("run", "--scope", "TOOL_CALL", "--dataset", "cases.jsonl", "--trials", 3, "--retries", 0, "--json")
    live = liftbay(*common, "--agent", "python:bot:answer", cwd=tmp_path)
    assert live.returncode == 0, live.stderr
    first = json.loads(live.stdout)
    exported = liftbay("runs", "export", first["run"], "--output", "run.jsonl", cwd=tmp_path)
    assert exported.returncode == 0, exported.stderr
    again = json.loads(liftbay(*common, "--agent", "replay:run.jsonl", cwd=tmp_path).stdout)
    differing = {"run", "agent", "probes", "tradeOffs"}
    assert {name for name in first if first[name] != again[name]} <= differing
    assert (first["cases"]["undecided"], first["passHatK"][2]) == (3, 0)


def _result_file(path: Path) -> Path:
    """A result file for the whole benchmark: mostly right, some wrong in every way, some errors."""
    chance = random.Random(42)
    with zipfile.ZipFile(DATASET) as archive, archive.open("jmultiwoz_tc_ground.jsonl") as gold, path.open("w") as out:
        for line in gold:
            record = json.loads(line)
            calls = record.pop("ground_truth")
            match chance.choices(range(6), weights=(80, 4, 4, 4, 4, 4))[0]:
                case 1:  # nothing called, or something superfluous
                    calls = [] if calls else [{"name": "find_hotel", "arguments": {"city": "札幌"}}]
                case 2:  # a wrong argument
                    calls = [{**call, "arguments": {**call["arguments"], "extra": 1}} for call in calls]
                case 3:  # another tool
                    calls = [{**call, "name": "other"} for call in calls]
                case 4:  # twice, and the other way round: still right
                    calls = calls[::-1] + calls
                case 5:
                    record["error"] = "TimeoutError"
                    calls = []
            out.write(json.dumps(record | {"tool_calls": calls}, ensure_ascii=False) + "\n")
    return path


@pytest.mark.skipif(
    not DATASET.exists(), reason="the published dataset is optional: ../shared/data/jmultiwoz_tc/dataset.zip"
)
def test_the_whole_benchmark_through_run_has_the_lines_of_evaluate(tmp_path: Path) -> None:
    answers = _result_file(tmp_path / "result_model.jsonl")
    run = liftbay(
        *("run", "--scope", "TOOL_CALL", "--dataset", f"jmultiwoz:{DATASET}", "--agent", f"replay:{answers}"),
        *("--concurrency", 64, "--json"),
        cwd=tmp_path,
        timeout=110,
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    evaluate = liftbay(
        *("jmultiwoz", "evaluate", "--data", DATASET, "--result", answers, "--output-dir", tmp_path, "--json"),
        cwd=tmp_path,
    )
    assert evaluate.returncode == 0, evaluate.stderr
    lines = json.loads(evaluate.stdout)
    assert report["jmultiwoz"] == lines
    assert [line["総データ数"] for line in lines] == [31303] * 5
    assert lines[0]["出力ミスのデータ数"] > 1000
    assert len({line["全体の正答率(%)"] for line in lines}) == 5
    cases = report["cases"]
    assert (cases["total"], cases["undecided"]) == (31303, lines[0]["出力ミスのデータ数"])
    assert report["datasets"][0]["cases"] == 31303
    assert report["passRate"]["n"] == lines[0]["評価対象数"]
