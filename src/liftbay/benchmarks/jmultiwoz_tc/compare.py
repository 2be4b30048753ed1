"""Two result files side by side, on the records that both answered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from liftbay.benchmarks.jmultiwoz_tc.files import model_of_result
from liftbay.benchmarks.jmultiwoz_tc.score import decide
from liftbay.datasets.data_file import DataFile
from liftbay.datasets.jmultiwoz_tc_records import GoldRecord, ResultRecord, read_by_id
from liftbay.errors import InputError
from liftbay.scoring.jmultiwoz_tc import MEASURES, OVERALL, Decision, Measure
from liftbay.scoring.paired import Difference, clustered_difference, mcnemar_exact

ALPHA = 0.05


class MeasureComparison(msgspec.Struct, frozen=True, rename="camel"):
    """One of the five lines, B against A; rates and differences in 0..1 and -1..1."""

    a: float | None
    b: float | None
    difference: Difference  # b - a, clustered by dialogue
    only_a: int  # pairs that only A got right
    only_b: int
    p_value: float  # exact McNemar test, which takes pairs as independent
    distinguishable: bool


class Comparison(msgspec.Struct, frozen=True, rename="camel"):
    """What `compare` found."""

    a: str
    b: str
    shared: int  # ids in both files and among the right answers
    compared: int  # of these, the ones that both answered
    errors_a: int
    errors_b: int
    only_in_a: int
    only_in_b: int
    measures: dict[str, MeasureComparison]
    only_a_correct: list[str]  # ids that flipped on 全体: right in A, wrong in B
    only_b_correct: list[str]


class _Pair(NamedTuple):
    gold: GoldRecord
    a: Decision
    b: Decision


def compare(a: Path, b: Path, ground: DataFile) -> Comparison:
    """Compare two result files on the ids they share. Raises `InputError` for bad files or no shared id."""
    gold = read_by_id(ground, GoldRecord)
    results_a = read_by_id(DataFile(a), ResultRecord)
    results_b = read_by_id(DataFile(b), ResultRecord)
    shared = [id_ for id_ in results_a if id_ in results_b and id_ in gold]
    if not shared:
        raise InputError(
            "the two result files share no data_id of the right answers",
            place=f"{a}, {b}",
            remedy="compare results of the same dataset, and name it with --data or --ground",
        )
    decided = [(gold[id_], decide(gold[id_], results_a[id_]), decide(gold[id_], results_b[id_])) for id_ in shared]
    pairs = [_Pair(right, one, other) for right, one, other in decided if one is not None and other is not None]
    return Comparison(
        a=model_of_result(a),
        b=model_of_result(b),
        shared=len(shared),
        compared=len(pairs),
        errors_a=sum(one is None for _, one, _ in decided),
        errors_b=sum(other is None for _, _, other in decided),
        only_in_a=sum(id_ not in results_b for id_ in results_a),
        only_in_b=sum(id_ not in results_a for id_ in results_b),
        measures={measure.name: _compare(measure, pairs) for measure in MEASURES},
        only_a_correct=[p.gold.data_id for p in pairs if OVERALL.correct(p.a) and not OVERALL.correct(p.b)],
        only_b_correct=[p.gold.data_id for p in pairs if OVERALL.correct(p.b) and not OVERALL.correct(p.a)],
    )


def _compare(measure: Measure, pairs: Sequence[_Pair]) -> MeasureComparison:
    clusters: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    right_a = right_b = only_a = only_b = count = 0
    for pair in pairs:
        if not measure.over(pair.a):
            continue
        one, other = measure.correct(pair.a), measure.correct(pair.b)
        count += 1
        right_a += one
        right_b += other
        only_a += one and not other
        only_b += other and not one
        total, size = clusters[pair.gold.dialogue_id]
        clusters[pair.gold.dialogue_id] = (total + other - one, size + 1)
    difference = clustered_difference(clusters.values())
    p_value = mcnemar_exact(only_a, only_b)
    return MeasureComparison(
        a=right_a / count if count else None,
        b=right_b / count if count else None,
        difference=difference,
        only_a=only_a,
        only_b=only_b,
        p_value=p_value,
        distinguishable=p_value < ALPHA and _excludes_zero(difference),
    )


def _excludes_zero(difference: Difference) -> bool:
    low, high = difference.low, difference.high
    return low is not None and high is not None and (low > 0 or high < 0)
