"""p values of many tests: published and hand-worked examples."""

from __future__ import annotations

import pytest

from liftbay.scoring.corrections import holm


def test_the_textbook_example() -> None:
    """Four tests at 5 %: 0.005 and 0.01 stand, 0.03 and 0.04 do not (the step-down of Holm 1979)."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_as_p_adjust_of_r_gives_it() -> None:
    """p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") in R."""
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])


def test_none_exceeds_one_and_one_alone_stays() -> None:
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([0.03]) == [0.03]
    assert holm([]) == []
