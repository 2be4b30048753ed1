"""The five lines of JMultiWOZ-TC as a table."""

from __future__ import annotations

from collections.abc import Sequence

from liftbay.language import language
from liftbay.report.table import table
from liftbay.scoring.jmultiwoz_tc import MEASURES, ScoreLine


def score_lines_table(lines: Sequence[ScoreLine]) -> str:
    """The five lines; percentages with two decimals."""
    names = ("評価項目", "総データ数", "評価対象数", "正解数", "不正解数", "出力ミスのデータ数", "全体の正答率(%)")
    rows = [
        (
            measure_name(line.measure),
            str(line.total),
            str(line.evaluated),
            str(line.correct),
            str(line.incorrect),
            str(line.errors),
            f"{line.percent:.2f}",
        )
        for line in lines
    ]
    return table(names, rows)


def measure_name(name: str) -> str:
    """The benchmark's own name, with its meaning for those who do not read Japanese."""
    if language() == "ja":
        return name
    return next(f"{name} ({measure.meaning})" for measure in MEASURES if measure.name == name)
