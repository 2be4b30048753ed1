"""Which parts of a trace were reported, by name: `planning.route`, `tool_calls`, …"""

from __future__ import annotations

import msgspec

from liftbay.domain.trace import EvalTrace

_OF_ITEMS = {"tool_calls": ("arguments", "success", "latency_ms"), "retrievals": ("chunks", "latency_ms")}


def reported_parts(trace: EvalTrace) -> set[str]:
    """The names of the parts that are not None; of a part with fields, or of its items, `part.field` too."""
    found = set()
    for name in trace.__struct_fields__:
        part = getattr(trace, name)
        if part is None:
            continue
        found.add(name)
        for field in _OF_ITEMS.get(name, ()):
            if any(getattr(item, field) is not None for item in part):
                found.add(f"{name}.{field}")
        if isinstance(part, msgspec.Struct):
            found |= {f"{name}.{field}" for field in part.__struct_fields__ if getattr(part, field) is not None}
    if "perception.skill_hit" in found:
        found.add("perception.skill")  # which Skill was hit, or that none was
    return found
