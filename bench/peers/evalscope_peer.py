"""The cases of `engine.py` with evalscope: `evalscope_peer.py ADDRESS CASES TOOLS COUNT CONCURRENCY FOLDER`.

Its benchmark for tool calls of one's own, `general_fc`, on a local file: whether a tool is called as it should be.
The cache is off, nothing is streamed, no performance is collected, no report is analysed.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path

from evalscope import TaskConfig, run_task  # type: ignore[import-not-found]


def main() -> None:
    """Run; ends with 1 where the figures are not those expected."""
    address, cases, tools, count, concurrency, folder = sys.argv[1:]
    known = json.loads(Path(tools).read_text("utf-8"))
    data = Path(folder) / "data"
    data.mkdir()
    total = right = 0
    with (
        Path(cases).open(encoding="utf-8") as lines,
        (data / "default_test.jsonl").open("w", encoding="utf-8") as written,
    ):
        for record in map(json.loads, islice(lines, int(count))):
            should = record["expectedTools"][0]["name"] == known[0]["function"]["name"]
            total, right = total + 1, right + should
            messages = [{"role": "user", "content": record["userInput"]}]
            line = {"messages": messages, "tools": known, "should_call_tool": should}
            written.write(json.dumps(line, ensure_ascii=False) + "\n")
    run_task(
        TaskConfig(
            model="bench",
            api_url=f"{address}/v1",
            api_key="dummy",
            eval_type="openai_api",
            datasets=["general_fc"],
            dataset_args={"general_fc": {"local_path": str(data), "subset_list": ["default"]}},
            eval_batch_size=int(concurrency),
            use_cache=None,
            stream=False,
            collect_perf=False,
            work_dir=str(Path(folder) / "work"),
            no_timestamp=True,
        )
    )
    reviewed = [
        json.loads(line)["sample_score"]["score"]["value"]["passed"]
        for file in (Path(folder) / "work" / "reviews").rglob("*.jsonl")
        for line in file.read_text("utf-8").splitlines()
    ]
    if (len(reviewed), sum(map(bool, reviewed))) != (total, right):
        sys.exit(f"{sum(map(bool, reviewed))} of {len(reviewed)} right, expected {right} of {total}")


if __name__ == "__main__":
    main()
