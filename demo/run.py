"""`make demo`: END_TO_END on the sample agent, judged by recorded answers of a model, with an HTML report.

Needs no network, no key and no model. Give `--lang ja` for Japanese. Ends with 1 where the record lacks an answer:
then the agent, the cases or a prompt have changed, and `make record-judge` has to be run again.
"""

import os
import shutil
import subprocess
import sys

from agent_runs import ANSWERS, HERE, in_folder, liftbay, run_options

OUTPUT = HERE / "output" / "agent"


def main() -> int:
    """Run the demo; returns the exit code."""
    language = tuple(sys.argv[1:])
    shutil.rmtree(OUTPUT, ignore_errors=True)
    folder = in_folder(OUTPUT)
    answers = os.path.relpath(ANSWERS, folder)
    print(
        "This demo asks no model. The agent works by rules; what the judge says was recorded from a SMALL model, whose"
    )
    print("verdicts are hardly better than chance: docs/explanation/judge.md. Look at the form, not at the figures.")
    try:
        liftbay(folder, *run_options("END_TO_END", "--judge", f"cache:{answers}"), language=language)
        liftbay(folder, "report", "last", "--output", "report.html", language=language)
    except subprocess.CalledProcessError as error:
        return error.returncode
    except KeyboardInterrupt:
        return 130
    print(f"\nOpen {os.path.relpath(folder / 'report.html')} in a browser.")
    print("Next: docs/tutorial/first-run.md evaluates an agent of your own.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
