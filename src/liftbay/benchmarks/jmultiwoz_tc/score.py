"""Results of the benchmark beside their right answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from liftbay.datasets.jmultiwoz_tc_records import GoldRecord, ResultRecord
from liftbay.scoring.jmultiwoz_tc import Decision, decision_of


class Scored(NamedTuple):
    """A result beside its right answer; `decision` is None where the result is an error record."""

    gold: GoldRecord
    result: ResultRecord
    decision: Decision | None


class Scoring(NamedTuple):
    """All results that the right answers know, and the ids that stand on one side only."""

    scored: list[Scored]
    unknown: list[str]  # in the results, not among the right answers
    missing: list[str]  # among the right answers, not in the results


def decide(gold: GoldRecord, result: ResultRecord) -> Decision | None:
    """What the answer comes to, or None where there is none."""
    if result.failed:
        return None
    return decision_of(gold.ground_truth, result.tool_calls)


def score(gold: Mapping[str, GoldRecord], results: Mapping[str, ResultRecord]) -> Scoring:
    """Set each result beside its right answer, in the order of the results."""
    scored = [Scored(gold[id_], result, decide(gold[id_], result)) for id_, result in results.items() if id_ in gold]
    unknown = [id_ for id_ in results if id_ not in gold]
    missing = [id_ for id_ in gold if id_ not in results]
    return Scoring(scored, unknown, missing)
