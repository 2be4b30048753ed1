"""`make demo-benchmark`: generate and evaluate the small dataset beside this file against a scripted endpoint.

Needs no network, no key and no model. The endpoint is started on a free port and stopped at the end.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUTPUT = HERE / "output" / "benchmark"
LIFTBAY = (sys.executable, "-m", "liftbay")
# Give `--lang ja` to the demo to see it in Japanese.
LANGUAGE = sys.argv[1:]


def liftbay(*arguments: str) -> None:
    """Show a command and run it."""
    print("\n$ liftbay", *arguments, flush=True)
    subprocess.run([*LIFTBAY, *LANGUAGE, *arguments], check=True)


def main() -> int:
    """Run the demo; returns the exit code."""
    shutil.rmtree(OUTPUT, ignore_errors=True)
    os.chdir(HERE.parent)
    endpoint = subprocess.Popen(
        [sys.executable, str(HERE / "scripted_endpoint.py"), "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert endpoint.stdout is not None
        line = endpoint.stdout.readline()
        if not line:
            print("the scripted endpoint did not start", file=sys.stderr)
            return 1
        base_url = line.split()[2]
        print("This demo asks a SCRIPTED endpoint: there is no model behind it. Its mistakes are written down in")
        print("demo/dataset/answers.jsonl, so that every class of the breakdown is there to see.")
        common = ("--data", "demo/dataset", "--output-dir", "demo/output/benchmark")
        liftbay("jmultiwoz", "generate", *common, "--base-url", base_url)
        result = "demo/output/benchmark/result_demo_scripted-model.jsonl"
        liftbay("jmultiwoz", "evaluate", *common, "--result", result, "--breakdown")
    except subprocess.CalledProcessError as error:
        return error.returncode
    except KeyboardInterrupt:
        return 130
    finally:
        endpoint.terminate()
        endpoint.wait()
    print("\nThe answers were scripted; the scores say nothing about a real model. All files: demo/output/benchmark/")
    print("Next: docs/tutorial/first-benchmark.md points liftbay at an endpoint of your own.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
