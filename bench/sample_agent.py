"""The sample agent on its own cases, without a judge: every scope, the open two thirds and the sealed third apart.

Whoever works on the agent looks at the open cases only. Where the agent were tuned to them, it would do worse on the
sealed ones: the rates stand side by side, and the deterministic main metrics must be within ten points. A trace is
complete where no verdict lacks a part of it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from liftbay.catalog.metrics import METRICS
from liftbay.catalog.scopes import SCOPES
from liftbay.domain.vocabulary import Basis
from measure import Target, conclude, print_machine

PARTS = ("demo-open", "demo-sealed")
MAIN = ("intent_accuracy", "routing_accuracy", "tool_call_accuracy", "multi_intent_recognition_rate")
POINTS = 10.0
SECONDS = 60.0
COVERAGE = 0.98


def ran(scope: str, dataset: str, folder: Path) -> tuple[dict[str, Any], float]:
    """The report of a run, and its seconds by the clock, start and end included."""
    begun = time.perf_counter()
    process = subprocess.run(
        [sys.executable, "-m", "liftbay", "run", "--scope", scope, "--agent", "demo", "--dataset", dataset, "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LIFTBAY_LANG": "en"},
    )
    if process.returncode:
        raise SystemExit(f"{scope} on {dataset} failed:\n{process.stderr[-2000:]}")
    return json.loads(process.stdout), time.perf_counter() - begun


def by_trace(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The metrics that the trace decides."""
    return {
        name: metric
        for name, metric in report["metrics"].items()
        if METRICS[name].basis in (Basis.TRACE, Basis.TRACE_THEN_JUDGE)
    }


def known(metric: dict[str, Any]) -> float:
    """The share of the applicable observations whose trace says what the metric needs; an upstream fault says it too.

    `coverage` leaves out what an upstream fault excludes: that is the agent's doing, and no gap in its trace.
    """
    observed = metric["passed"] + metric["failed"] + metric["scored"] + sum(metric["excluded"].values())
    lost = sum(metric["errors"].values()) + sum(
        count for reason, count in metric["notApplicable"].items() if reason.startswith("the trace")
    )
    return observed / (observed + lost) if observed + lost else 1.0


def shown(metric: dict[str, Any] | None) -> str:
    """A rate with its interval."""
    rate = metric["conditional"] if metric else None
    if not rate or rate["value"] is None:
        return "–"
    return f"{rate['value'] * 100:5.1f} ({rate['low'] * 100:.1f}–{rate['high'] * 100:.1f}, n = {rate['n']})"


def main() -> int:
    """Run the scopes; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scope", action="append", choices=list(SCOPES), help="only this scope; may be repeated")
    scopes = parser.parse_args().scope or list(SCOPES)
    print("bench: sample_agent")
    print_machine()
    figures: dict[str, Any] = {}
    differences: dict[str, float] = {}
    least_known, end_to_end = 1.0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for scope in scopes:
            reports = {}
            for part in PARTS:
                report, seconds = ran(scope, part, Path(folder))
                reports[part] = by_trace(report)
                figures[f"{scope} {part}"] = {"seconds": seconds, "cases": report["cases"]["total"]} | {
                    name: metric["conditional"]["value"] for name, metric in reports[part].items()
                }
                least_known = min([least_known, *map(known, reports[part].values())])
            taken = (figures[f"{scope} {part}"]["seconds"] for part in PARTS)
            print(f"{scope}: {' and '.join(f'{seconds:.1f}' for seconds in taken)} s")
            for name in reports[PARTS[0]]:
                opened, sealed = (reports[part].get(name) for part in PARTS)
                print(f"  {name:32} open {shown(opened):36} sealed {shown(sealed)}")
                if name in MAIN and opened and sealed and None not in (rates := values(opened, sealed)):
                    differences[name] = max(differences.get(name, 0.0), abs(rates[0] - rates[1]) * 100)
        if "END_TO_END" in scopes:
            _, end_to_end = ran("END_TO_END", "demo", Path(folder))
    targets = [
        *(Target(f"{name}: points between open and sealed", value, POINTS) for name, value in differences.items()),
        Target("verdicts that lack a part of the trace", 1 - least_known, 1 - COVERAGE),
        Target("END_TO_END on all cases, seconds", end_to_end, SECONDS),
    ]
    return conclude("sample_agent", targets, figures)


def values(*metrics: dict[str, Any]) -> list[Any]:
    """Their conditional rates."""
    return [metric["conditional"]["value"] for metric in metrics]


if __name__ == "__main__":
    sys.exit(main())
