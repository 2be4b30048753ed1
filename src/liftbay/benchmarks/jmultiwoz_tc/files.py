"""What the files that belong to a model are called."""

from __future__ import annotations

import re
from pathlib import Path


def safe_model_name(model: str) -> str:
    """The model's name as it stands in file names."""
    return model.replace("/", "_")


def model_of_result(path: Path) -> str:
    """The safe model name in the name of a result file, or `unknown`."""
    match = re.fullmatch(r"result_(.+)\.jsonl", path.name)
    return match.group(1) if match else "unknown"
