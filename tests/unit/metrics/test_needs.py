"""What each metric says it needs of a trace, against what its decision does without it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import msgspec
import pytest

import liftbay.metrics
from liftbay.catalog.metrics import METRICS
from liftbay.domain.case import Case, ExpectedTool
from liftbay.domain.episode import Episode, Evidence, Turn
from liftbay.domain.metric import Metric
from liftbay.domain.trace import Chunk, EvalTrace, Perception, Planning, Retrieval, ToolCallRecord, ToolLoad
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import DatasetType, Route, VerdictStatus
from liftbay.scoring.reported_parts import reported_parts

FULL = EvalTrace(
    perception=Perception(skill_hit=True, skill="booking", intents=["book", "pay"]),
    planning=Planning(Route.SKILL_MISS),
    tool_calls=[ToolCallRecord("find", {"n": 1}, True)],
    tool_loads=[ToolLoad("mcp", "hotels", True)],
    retrievals=[Retrieval(1, [Chunk("a")])],
)
# Expects something of every part.
CASE = Case(
    id="1",
    dataset_type=DatasetType.TOOL_CALL,
    user_input="?",
    expected_skill="booking",
    expected_route=Route.SKILL_MISS,
    expected_intent="book",
    expected_intents=["book", "pay"],
    expected_tools=[ExpectedTool("find", {"n": 1})],
)
NEEDING = [metric for metric in METRICS.values() if metric.decide is not None and metric.needs]


def verdict(metric: Metric, trace: EvalTrace) -> Verdict | None:
    """What the metric decides on this trace."""
    assert metric.decide is not None
    return metric.decide(Evidence(CASE, Episode("s", [Turn(1, "?", "answer", trace)])))


def without(trace: EvalTrace, part: str) -> EvalTrace:
    """The trace as if this part had not been reported."""
    name, _, field = part.partition(".")
    if not field:
        return msgspec.structs.replace(trace, **{name: None})
    fields = ("skill", "skill_hit") if field == "skill" else (field,)
    changes: dict[str, Any] = dict.fromkeys(fields)
    value = getattr(trace, name)
    if isinstance(value, list):
        return msgspec.structs.replace(trace, **{name: [msgspec.structs.replace(one, **changes) for one in value]})
    return msgspec.structs.replace(trace, **{name: msgspec.structs.replace(value, **changes)})


def test_most_metrics_that_the_trace_decides_need_something() -> None:
    assert len(NEEDING) >= 12


@pytest.mark.parametrize("metric", NEEDING, ids=lambda metric: metric.id)
def test_with_all_that_it_needs_it_decides(metric: Metric) -> None:
    assert set(metric.needs) <= reported_parts(FULL)
    found = verdict(metric, FULL)
    assert found is not None
    assert found.status in (VerdictStatus.PASS, VerdictStatus.SCORE)


@pytest.mark.parametrize(
    ("metric", "part"),
    [(metric, part) for metric in NEEDING for part in metric.needs],
    ids=lambda value: value if isinstance(value, str) else value.id,
)
def test_without_a_part_that_it_needs_it_is_not_applicable_and_names_the_part(metric: Metric, part: str) -> None:
    lacking = without(FULL, part)
    assert part not in reported_parts(lacking)
    found = verdict(metric, lacking)
    assert found is not None
    assert (found.status, found.missing) == (VerdictStatus.NOT_APPLICABLE, part)


@pytest.mark.parametrize("metric", NEEDING, ids=lambda metric: metric.id)
def test_what_it_does_not_need_may_be_missing(metric: Metric) -> None:
    others = {part for other in NEEDING for part in other.needs if not _inside(part, metric.needs)}
    for part in others:
        found = verdict(metric, without(FULL, part))
        assert found is not None
        assert found.missing is None, part


def _inside(part: str, needs: tuple[str, ...]) -> bool:
    """Whether a part is one of those needed, or holds one."""
    return any(need == part or need.startswith(f"{part}.") for need in needs)


def missing_in_source(name: str) -> set[str]:
    """The parts that the source of a metric may name as missing."""
    source = (Path(liftbay.metrics.__path__[0]) / f"{name}.py").read_text(encoding="utf-8")
    return {
        str(keyword.value.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "missing" and isinstance(keyword.value, ast.Constant)
    }


@pytest.mark.parametrize("name", METRICS)
def test_every_part_that_may_be_missing_is_one_that_it_needs(name: str) -> None:
    metric = METRICS[name]
    if metric.decide is None:
        assert missing_in_source(name) == set()
    else:
        assert missing_in_source(name) == set(metric.needs)
