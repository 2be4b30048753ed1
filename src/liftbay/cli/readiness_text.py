"""What traces can feed and what they lack, as text."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec

from liftbay.catalog.readiness import ScopeReadiness, readiness
from liftbay.domain.trace import EvalTrace
from liftbay.language import tr
from liftbay.report.table import table
from liftbay.scoring.reported_parts import reported_parts
from liftbay.telemetry.attributes import carried_by


class Checked(msgspec.Struct, frozen=True, rename="camel"):
    """What some traces hold together: how many report each part, and what each scope has of it."""

    traces: int
    without: int  # turns that have no trace at all
    parts: dict[str, int]  # by part: how many traces report it
    scopes: list[ScopeReadiness]
    carriers: dict[str, dict[str, str]]  # of each part that is missing: what carries it, by dialect


def checked(traces: Sequence[EvalTrace | None]) -> Checked:
    """What the traces hold."""
    present = [trace for trace in traces if trace is not None]
    parts = Counter(part for trace in present for part in reported_parts(trace))
    scopes = readiness(parts)
    missing = {part: carried_by(part) for scope in scopes for part in _parts_lacking(scope)}
    carriers = {part: {"genai": one.genai, "openinference": one.openinference} for part, one in missing.items()}
    return Checked(len(present), len(traces) - len(present), dict(sorted(parts.items())), scopes, carriers)


def checked_text(found: Checked) -> str:
    """The scopes, what is missing for them, and what would carry it."""
    lines = [tr("Traces: {count}", count=found.traces)]
    if found.without:
        lines.append(tr("Turns without a trace: {count}", count=found.without))
    ready = sum(scope.ready for scope in found.scopes)
    lines += [
        tr("Scopes that these traces can feed: {ready} of {all}", ready=ready, all=len(found.scopes)),
        _scopes(found),
    ]
    if found.carriers:
        lines += ["", tr("Missing, and what carries it:"), _missing(found)]
    if partly := {part: count for part, count in found.parts.items() if count < found.traces}:
        lines += ["", tr("Reported by some traces only:"), _partly(partly, found.traces)]
    return "\n".join(lines)


def _scopes(found: Checked) -> str:
    names = (tr("scope"), tr("ready"), tr("metrics that lack something"), tr("probes that lack something"))
    rows = [
        (
            scope.scope,
            tr("yes") if scope.ready else tr("no"),
            str(len(scope.lacking_metrics)),
            str(len(scope.lacking_probes)),
        )
        for scope in found.scopes
    ]
    return table(names, rows, text_columns=2)


def _missing(found: Checked) -> str:
    needed: dict[str, dict[str, None]] = defaultdict(dict)
    for scope in found.scopes:
        for lack in (*scope.lacking_metrics, *scope.lacking_probes):
            for part in lack.parts:
                needed[part][lack.id] = None
    lines = []
    for part, names in sorted(needed.items()):
        lines.append(f"  {part}  ({tr('for {names}', names=', '.join(names))})")
        carriers = found.carriers[part]
        if carriers["genai"] == carriers["openinference"]:
            lines.append(f"      {carriers['genai']}")
        else:
            lines += [f"      GenAI: {carriers['genai']}", f"      OpenInference: {carriers['openinference']}"]
    return "\n".join(lines)


def _partly(parts: dict[str, int], traces: int) -> str:
    return "\n".join(f"  {part}: {count}/{traces}" for part, count in parts.items())


def _parts_lacking(scope: ScopeReadiness) -> list[str]:
    return [part for lack in (*scope.lacking_metrics, *scope.lacking_probes) for part in lack.parts]


def trace_text(trace: EvalTrace) -> str:
    """One trace, a line a part."""
    values: dict[str, Any] = msgspec.to_builtins(trace)
    return "\n".join(f"  {name}: {_short(value)}" for name, value in values.items())


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


_SHOWN = 300
