"""What traces can feed: every scope, and every part that anything needs."""

from __future__ import annotations

import pytest

from liftbay.catalog.metrics import METRICS
from liftbay.catalog.probes import PROBES
from liftbay.catalog.readiness import ScopeReadiness, readiness
from liftbay.catalog.resolve import resolve
from liftbay.catalog.scopes import SCOPES
from liftbay.telemetry.attributes import carried_by

NEEDS = [*(metric.needs for metric in METRICS.values()), *(probe.needs for probe in PROBES.values())]
NEEDED = sorted({part for needs in NEEDS for part in needs})


def of_scope(scope: str, *parts: str) -> ScopeReadiness:
    """What a scope has of traces that report these parts."""
    (found,) = (one for one in readiness(parts) if one.scope == scope)
    return found


def test_every_scope_in_the_order_of_the_table() -> None:
    assert [one.scope for one in readiness(())] == list(SCOPES)
    assert len(SCOPES) == 15


def test_nothing_lacks_where_everything_is_reported() -> None:
    for found in readiness(NEEDED):
        assert (found.ready, found.lacking_metrics, found.lacking_probes) == (True, (), ())


def test_a_black_box_lacks_all_that_anything_needs() -> None:
    for found in readiness(()):
        plan = resolve(found.scope)
        needing = {name: METRICS[name].needs for name in plan.metrics if METRICS[name].needs}
        assert {lack.id: lack.parts for lack in found.lacking_metrics} == needing
        probes = {name: PROBES[name].needs for name in plan.probes if PROBES[name].needs}
        assert {lack.id: lack.parts for lack in found.lacking_probes} == probes
        deciding = {main.metric for main in plan.main_metric_by_dataset.values()}
        assert found.ready == (not deciding & needing.keys())
    ready = {found.scope for found in readiness(()) if found.ready}
    assert {"BASIC_FUNCTION", "MULTI_TURN", "ABNORMAL_INPUT", "END_TO_END"} <= ready
    assert not ready & {"TOOL_CALL", "PERCEPTION", "PLANNING", "TOOL", "ALL"}


@pytest.mark.parametrize("part", NEEDED)
def test_only_what_needs_a_part_lacks_it(part: str) -> None:
    for found in readiness(set(NEEDED) - {part}):
        plan = resolve(found.scope)
        lacking = {lack.id: lack.parts for lack in (*found.lacking_metrics, *found.lacking_probes)}
        needing = {name for name in plan.metrics if part in METRICS[name].needs}
        assert lacking == dict.fromkeys(needing | {name for name in plan.probes if part in PROBES[name].needs}, (part,))
        assert found.ready == (not needing & set(found.main_metrics))


def test_the_main_metrics_are_those_of_the_dataset_types() -> None:
    planning = of_scope("PLANNING")
    assert planning.main_metrics == ("routing_accuracy", "tool_decision_accuracy")
    assert of_scope("PLANNING", "planning.route").ready is False
    assert of_scope("PLANNING", "planning.route", "tool_calls").ready is True


def test_every_part_that_is_needed_has_a_carrier() -> None:
    assert len(NEEDED) > 15
    assert all(carried_by(part).genai for part in NEEDED)
