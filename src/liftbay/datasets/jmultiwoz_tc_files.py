"""Where the files of JMultiWOZ-TC are, and its tool definitions."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec

from liftbay.datasets.data_file import DataFile, files_in, read_json
from liftbay.errors import InputError, at

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


def read_tools(file: DataFile) -> tuple[list[Any], str]:
    """The tool definitions and the SHA-256 of their canonical text. Raises `InputError` where there are none."""
    tools = read_json(file)
    if not isinstance(tools, list) or not tools or not all(isinstance(tool, dict) for tool in tools):
        raise InputError(
            "expected a JSON list of tool definitions",
            place=at(file),
            remedy="give the benchmark's tools.json with --tools or --data",
        )
    text = json.dumps(tools, sort_keys=True)
    return tools, hashlib.sha256(text.encode("ascii")).hexdigest()
