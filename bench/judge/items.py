"""The labelled items: evidence with the verdict that a reader gave, so that a judge can be held against it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from liftbay.catalog.metrics import METRICS
from liftbay.domain.case import Case
from liftbay.domain.episode import Episode, Evidence, Turn
from liftbay.domain.metric import Metric
from liftbay.domain.trace import EvalTrace
from liftbay.llm.prompts import prompt_of

HERE = Path(__file__).resolve().parent
ITEMS = HERE / "items.jsonl"


class ItemTurn(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One exchange of an item."""

    user_input: str
    answer: str
    trace: EvalTrace | None = None


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One case and one trial of it, with what a reader says; `expected` is a list where the metric decides parts."""

    id: str
    metric: str
    case: dict[str, Any]
    turns: list[ItemTurn]
    expected: str | list[str]
    why: str

    @property
    def rule(self) -> Metric:
        """The metric that is judged."""
        return METRICS[self.metric]

    @property
    def labels(self) -> list[str]:
        """The reader's words, one for each decision."""
        return [self.expected] if isinstance(self.expected, str) else self.expected

    @property
    def evidence(self) -> Evidence:
        """What the judge sees of it."""
        case = msgspec.convert({"datasetType": self.rule.dataset_types[0], **self.case, "id": self.id}, Case)
        turns = [
            Turn(round=number, user_input=turn.user_input, answer=turn.answer, trace=turn.trace)
            for number, turn in enumerate(self.turns, 1)
        ]
        return Evidence(case, Episode(session_id=self.id, turns=turns))


def read_items(path: Path = ITEMS) -> list[Item]:
    """All items in their order. Raises `ValueError` where a label is no word of its metric's prompt."""
    items = [msgspec.json.decode(line, type=Item) for line in path.read_bytes().splitlines()]
    if len({item.id for item in items}) != len(items):
        raise ValueError("two items have the same id")
    for item in items:
        check_labels(item, item.labels)
    return items


def check_labels(item: Item, labels: Sequence[str]) -> None:
    """Raise `ValueError` where a label is no word of the prompt, or where their number is wrong."""
    words = prompt_of(item.metric, "en").words.all
    if len(labels) != len(item.labels) or not set(labels) <= set(words):
        raise ValueError(f"{item.id}: expected {len(item.labels)} of {words}, not {labels}")
