"""The tables of the specification itself, where it lies beside the working copy, against the catalog."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from liftbay.catalog.dataset_types import DATASET_TYPES
from liftbay.catalog.metrics import METRICS
from liftbay.catalog.probes import PROBES
from liftbay.catalog.rows import metrics_fed_by
from liftbay.catalog.scopes import SCOPES
from liftbay.domain.vocabulary import DatasetType

SPEC = Path(__file__).resolve().parents[3] / "shared" / "spec"
PAGES = (SPEC / "1-vocabulary-and-metrics.md", SPEC / "2-datasets-and-scopes.md")
pytestmark = pytest.mark.skipif(
    not all(page.exists() for page in PAGES), reason="the specification does not lie beside the working copy"
)
UNFED = {"user_satisfaction": "online feedback", "tool_load_success_rate": "any trace that reports loading"}


def table(page: Path, first: str) -> Iterator[list[str]]:
    """The rows of the table whose first column is named `first`."""
    inside = False
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith(f"| {first} |"):
            inside = True
        elif inside and not line.startswith("|"):
            return
        elif inside and not line.startswith("|---"):
            yield cells


def names(cell: str) -> list[str]:
    """The names in backquotes."""
    return re.findall(r"`([^`]+)`", cell)


def test_quality_metrics() -> None:
    found = {}
    types: list[str] = []
    for identity, _, module, basis, on, _ in table(PAGES[0], "id"):
        name = names(identity)[0]
        if on in UNFED.values():
            assert UNFED[name] == on
            types = []
        elif on != "same":
            types = on.split(", ")
        found[name] = (module.replace("-", "_"), basis, types)
    assert found == {
        name: (metric.module.value, metric.basis.value, [each.value for each in metric.dataset_types])
        for name, metric in METRICS.items()
    }


def test_probes() -> None:
    page = PAGES[0].read_text(encoding="utf-8")
    told = set(names(page[page.index("## Cost probes") : page.index("## Prerequisites")]))
    assert told == set(PROBES)


def test_judge_tasks() -> None:
    told = {names(cell)[0] for cell, *_ in table(PAGES[0], "judge task | metrics")}
    assert told == {metric.judge_task.value for metric in METRICS.values() if metric.judge_task}


def test_dataset_types() -> None:
    found = {}
    for name, japanese, _, size, metrics in table(PAGES[1], "type"):
        listed = metrics.replace(
            "intent_accuracy / recall / precision", "intent_accuracy, intent_recall, intent_precision"
        )
        found[names(name)[0]] = (japanese, int(re.findall(r"\d+", size)[0]), set(listed.split(", ")))
    assert found == {
        name.value: (row.name.ja, row.recommended_size, set(metrics_fed_by(name)))
        for name, row in DATASET_TYPES.items()
    }


def test_scopes() -> None:
    rows = {names(cells[0])[0]: cells for cells in table(PAGES[1], "scope") if names(cells[0])}
    composed = [scope for scope in SCOPES if scope not in set(DatasetType)]
    assert list(rows) == composed
    for name, (_, datasets, _, main) in rows.items():
        scope = SCOPES[name]
        told = list(DatasetType) if datasets.startswith("all 8") else datasets.split(", ")
        assert list(scope.dataset_types) == told
        assert scope.main_metric == main
