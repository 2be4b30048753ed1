"""Which conditional rates a fault moves, with prerequisites and without."""

from __future__ import annotations

import msgspec

from diagnosis_parts.figures import Move, Moves, protected
from liftbay_demo.faults.kinds import Kind

RATE = 0.3  # of the messages: enough that rates could move, and cases are left that the fault does not strike


class _Row(msgspec.Struct, frozen=True):
    kind: Kind
    on: Moves
    off: Moves


class Isolation:
    """The rates of each fault set against those of the agent without faults, over all cases that each run decides."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []

    def add(self, kind: Kind, on: Moves, off: Moves) -> None:
        """Take in a run with a fault."""
        self._rows.append(_Row(kind, on, off))

    @property
    def largest(self) -> float | None:
        """The largest move, in points, of a protected rate whose interval leaves out 0; 0.0 where there is none."""
        found = [row.on[metric] for row in self._rows for metric in protected(row.kind.module) if metric in row.on]
        return round(max((abs(one.value) * 100 for one in found if one.beyond), default=0.0), 2) if found else None

    def show(self) -> None:
        """One line a fault and protected rate; `*` marks a move whose interval leaves out 0."""
        print(f"  {'':22} {'':28} {'with prerequisites':34} without")
        for row in self._rows:
            for metric in protected(row.kind.module):
                if metric in row.off:
                    on, off = _said(row.on.get(metric)), _said(row.off[metric])
                    print(f"  {row.kind.name:22} {metric:28} {on:34} {off}")


def _said(move: Move | None) -> str:
    if move is None:
        return "no case left"
    mark = "*" if move.beyond else ""
    points = f"{move.value * 100:+.1f} ({move.low * 100:+.1f} to {move.high * 100:+.1f}){mark}"
    return f"{points}, {move.before} → {move.after} cases"
