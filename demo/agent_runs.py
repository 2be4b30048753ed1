"""What the demo and the recording of its judge have in common: the runs on the sample agent."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ANSWERS = HERE / "judge_answers.jsonl"
CASES_OF_EACH_DATASET = 6
_SETTINGS = "[telemetry]\nport = 0  # any that is free\n"


def in_folder(folder: Path) -> Path:
    """The folder, made a project."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "liftbay.toml").write_text(_SETTINGS, encoding="utf-8")
    return folder


def run_options(scope: str, *judge: str) -> list[str]:
    """The arguments of `liftbay run` on the first cases of each dataset of the scope."""
    options = ["--agent", "demo", "--dataset", "demo-open", "--limit", str(CASES_OF_EACH_DATASET), "--turn-settle", "0"]
    return ["run", "--scope", scope, *options, *judge]


def liftbay(folder: Path, *arguments: str, language: tuple[str, ...] = ()) -> None:
    """Show a command and run it in the folder. Raises `CalledProcessError` where it fails."""
    print("\n$ liftbay", *arguments, flush=True)
    subprocess.run([sys.executable, "-m", "liftbay", *language, *arguments], check=True, cwd=folder)
