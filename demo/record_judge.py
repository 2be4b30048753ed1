"""`make record-judge JUDGE=URL [JUDGE_MODEL=NAME]`: record anew what the judge of the demo says.

Runs ALL on the cases of the demo against any OpenAI-compatible endpoint; its key, if it needs one, comes from
LIFTBAY_JUDGE_API_KEY. Can be stopped and started again: answers that are there are not asked for twice.
"""

import argparse
import json
import subprocess
import sys

from agent_runs import ANSWERS, HERE, in_folder, liftbay, run_options

RECORDING = HERE / "output" / "recording"
SECONDS_OF_ONE_ANSWER = 900  # a small machine reads a long conversation for minutes


def main() -> int:
    """Record; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", required=True, help="address of the endpoint")
    parser.add_argument("--judge-model", help="the model; default: the only one that there is")
    parser.add_argument("--judge-language", default="ja", choices=("ja", "en"), help="of the prompts; default: ja")
    parser.add_argument("--judge-concurrency", type=int, default=2, help="questions at once; default: 2")
    given = parser.parse_args()
    folder = in_folder(RECORDING)
    settings = {
        "url": given.judge,
        "model": given.judge_model,
        "language": given.judge_language,
        "concurrency": given.judge_concurrency,
        "timeout": SECONDS_OF_ONE_ANSWER,
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items() if value is not None]
    (folder / "judge.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    try:
        liftbay(folder, *run_options("ALL", "--judge", "judge.toml"))
        liftbay(folder, "judge", "export", str(ANSWERS))
    except subprocess.CalledProcessError as error:
        return error.returncode
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
