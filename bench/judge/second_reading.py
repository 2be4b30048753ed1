"""A second reading of the labelled items, blind, and how far it agrees with the first.

`python bench/judge/second_reading.py show [--seed N]` prints the items without their labels, in random order.
`python bench/judge/second_reading.py compare` holds second_reader.jsonl against the labels.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import msgspec

from judge.items import HERE, Item, check_labels, read_items
from liftbay.llm.prompts import prompt_of
from liftbay.llm.question import Nothing, question_of
from liftbay.scoring.rates import clustered_rate

READING = HERE / "second_reader.jsonl"
NO_NONCE = "…"
EVERYTHING = 1_000_000  # characters


class Reading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the second reader says of one item; `note` says why where it was hard."""

    id: str
    labels: list[str]
    note: str = ""


def shown(item: Item) -> str:
    """The item as the judge sees it, without the reader's label."""
    question = question_of(item.rule, item.evidence, "ja")
    if isinstance(question, Nothing):
        raise ValueError(f"{item.id}: {question.reason}")
    words = ", ".join(prompt_of(item.metric, "ja").words.all)
    return f"=== {item.id} · {item.metric} · {words}\n{question.text(NO_NONCE, EVERYTHING)}\n"


def compare() -> None:
    """Print the agreement of both readings, metric by metric, and every decision on which they differ."""
    items = {item.id: item for item in read_items()}
    readings = [msgspec.json.decode(line, type=Reading) for line in READING.read_bytes().splitlines()]
    if {reading.id for reading in readings} != set(items):
        raise SystemExit("the second reading does not hold every item once")
    agreed: dict[str, list[tuple[int, int]]] = {}
    for reading in readings:
        item = items[reading.id]
        check_labels(item, reading.labels)
        same = [first == second for first, second in zip(item.labels, reading.labels, strict=True)]
        agreed.setdefault(item.metric, []).append((sum(same), len(same)))
        if not all(same):
            print(json.dumps({"id": item.id, "first": item.labels, "second": reading.labels, "note": reading.note}))
    for metric, clusters in [*agreed.items(), ("all", [pair for pairs in agreed.values() for pair in pairs])]:
        rate = clustered_rate(clusters)
        print(f"{metric}: {sum(n for n, _ in clusters)} of {rate.n}")


def main() -> None:
    """Show the items blind, or compare the readings."""
    parser = argparse.ArgumentParser(description="A second, blind reading of the labelled items.")
    parser.add_argument("what", choices=("show", "compare"))
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.what == "compare":
        compare()
        return
    items = read_items()
    random.Random(arguments.seed).shuffle(items)
    print("\n".join(map(shown, items)))


if __name__ == "__main__":
    main()
