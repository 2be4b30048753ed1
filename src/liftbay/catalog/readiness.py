"""Which scopes the traces of an agent can feed, and what each metric and probe that they cannot feed lacks."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from liftbay.catalog.metrics import METRICS
from liftbay.catalog.probes import PROBES
from liftbay.catalog.resolve import resolve
from liftbay.catalog.scopes import SCOPES


class Lack(msgspec.Struct, frozen=True, rename="camel"):
    """A metric or a probe that cannot be had, and the parts of the trace that it lacks."""

    id: str
    parts: tuple[str, ...]


class ScopeReadiness(msgspec.Struct, frozen=True, rename="camel"):
    """What a scope would have of these traces; it is ready where nothing that decides cases lacks anything."""

    scope: str
    ready: bool
    main_metrics: tuple[str, ...]
    lacking_metrics: tuple[Lack, ...]
    lacking_probes: tuple[Lack, ...]


def readiness(reported: Collection[str]) -> list[ScopeReadiness]:
    """One item a scope, in the order of the table, of traces that report these parts (`reported_parts`)."""
    return [_of_scope(scope, reported) for scope in SCOPES]


def _of_scope(scope: str, reported: Collection[str]) -> ScopeReadiness:
    plan = resolve(scope)
    mains = tuple(dict.fromkeys(main.metric for main in plan.main_metric_by_dataset.values()))
    metrics = _lacks(((name, METRICS[name].needs) for name in plan.metrics), reported)
    probes = _lacks(((name, PROBES[name].needs) for name in plan.probes), reported)
    lacking = {lack.id for lack in metrics}
    return ScopeReadiness(scope, not lacking & set(mains), mains, metrics, probes)


def _lacks(needs: Iterable[tuple[str, tuple[str, ...]]], reported: Collection[str]) -> tuple[Lack, ...]:
    found = ((name, tuple(part for part in parts if part not in reported)) for name, parts in needs)
    return tuple(Lack(name, parts) for name, parts in found if parts)
