"""Which faults an agent has: `kind:rate:seed`, several with commas between them."""

from __future__ import annotations

import hashlib

import msgspec

VARIABLE = "DEMO_FAULTS"


class FaultError(ValueError):
    """A text that sets no fault."""


class Fault(msgspec.Struct, frozen=True):
    """A kind of fault, the share of the messages that it strikes, and the seed that chooses them."""

    kind: str
    rate: float = 1.0
    seed: int = 0

    def strikes(self, message: str) -> bool:
        """Whether it strikes this message: the same message meets the same fate in every run."""
        drawn = hashlib.sha256(f"{self.kind}\0{self.seed}\0{message}".encode()).digest()[:8]
        return int.from_bytes(drawn) < self.rate * 2**64


def faults_in(text: str, known: frozenset[str]) -> tuple[Fault, ...]:
    """The faults that a text sets. Raises `FaultError` for a kind that is not known, and for a rate beyond 0 to 1."""
    return tuple(_fault(part.strip(), known) for part in text.split(",") if part.strip())


def _fault(text: str, known: frozenset[str]) -> Fault:
    kind, _, rest = text.partition(":")
    rate, _, seed = rest.partition(":")
    if kind not in known:
        raise FaultError(f"there is no fault {kind}; there are: {', '.join(sorted(known))}")
    try:
        fault = Fault(kind, float(rate or 1), int(seed or 0))
    except ValueError:
        raise FaultError(f"not of the form kind:rate:seed: {text}") from None
    if not 0 <= fault.rate <= 1:
        raise FaultError(f"a rate is between 0 and 1: {text}")
    return fault
