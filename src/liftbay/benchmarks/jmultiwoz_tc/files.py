"""Where the benchmark's files are and what they are called."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from liftbay.datasets.data_file import DataFile, files_in

TOOLS = "tools.json"
INPUT = "jmultiwoz_tc_input.jsonl"
GROUND = "jmultiwoz_tc_ground.jsonl"


class BenchmarkFiles(msgspec.Struct, frozen=True):
    """The three files of the dataset."""

    tools: DataFile
    input: DataFile
    ground: DataFile
    data: Path | None  # the folder or the archive that they were looked for in


def find_files(
    data: Path | None = None,
    *,
    tools: Path | None = None,
    input: Path | None = None,
    ground: Path | None = None,
) -> BenchmarkFiles:
    """The files of `data` (a folder or the zip) or else of the current folder; a path given by itself wins."""
    if data is None:
        found = {name: DataFile(Path(name)) for name in (TOOLS, INPUT, GROUND)}
    else:
        found = files_in(data, (TOOLS, INPUT, GROUND))
    for name, path in ((TOOLS, tools), (INPUT, input), (GROUND, ground)):
        if path is not None:
            found[name] = DataFile(path)
    return BenchmarkFiles(found[TOOLS], found[INPUT], found[GROUND], data)


def safe_model_name(model: str) -> str:
    """The model's name as it stands in file names."""
    return model.replace("/", "_")


def model_of_result(path: Path) -> str:
    """The safe model name in the name of a result file, or `unknown`."""
    match = re.fullmatch(r"result_(.+)\.jsonl", path.name)
    return match.group(1) if match else "unknown"
