"""Matchers of arguments."""

from __future__ import annotations

from typing import Any

import pytest

from liftbay.domain.case import ArgumentMatcher, ExpectedTool
from liftbay.scoring.arguments import ArgumentFault
from liftbay.scoring.matchers import argument_results


def results(matcher: ArgumentMatcher, made: dict[str, Any], **arguments: Any) -> dict[str, ArgumentFault | None]:
    return argument_results(ExpectedTool("f", arguments, {"x": matcher}), made)


@pytest.mark.parametrize(("made", "right"), [(1, True), ("b", True), ("1", False), (1.0, False), (None, False)])
def test_one_of(made: Any, right: bool) -> None:
    found = results(ArgumentMatcher(one_of=[1, "b"]), {"x": made})
    assert found == {"x": None if right else ArgumentFault.WRONG_VALUE}


@pytest.mark.parametrize(("made", "right"), [("a1", True), ("a1b", False), ("xa1", False), (1, False)])
def test_regex_matches_the_whole_text(made: Any, right: bool) -> None:
    found = results(ArgumentMatcher(regex="a[0-9]"), {"x": made})
    assert found == {"x": None if right else ArgumentFault.WRONG_VALUE}


@pytest.mark.parametrize(
    ("made", "right"), [(10, True), (10.5, True), (9.5, True), (10.6, False), ("10", False), (True, False)]
)
def test_tolerance_around_the_expected_number(made: Any, right: bool) -> None:
    found = results(ArgumentMatcher(tolerance=0.5), {"x": made}, x=10)
    assert found == {"x": None if right else ArgumentFault.WRONG_VALUE}


def test_tolerance_without_an_expected_number_never_matches() -> None:
    assert results(ArgumentMatcher(tolerance=1.0), {"x": 1}) == {"x": ArgumentFault.WRONG_VALUE}


@pytest.mark.parametrize("made", [{}, {"x": 1}, {"x": "anything"}])
def test_ignored_arguments_are_left_out(made: dict[str, Any]) -> None:
    assert results(ArgumentMatcher(ignore=True), made, x=0) == {}


@pytest.mark.parametrize(
    "matcher", [ArgumentMatcher(one_of=[1]), ArgumentMatcher(regex=".*"), ArgumentMatcher(tolerance=1.0)]
)
def test_an_absent_argument_is_missing(matcher: ArgumentMatcher) -> None:
    assert results(matcher, {}) == {"x": ArgumentFault.MISSING}


def test_an_empty_matcher_is_equality() -> None:
    assert results(ArgumentMatcher(), {"x": 1}, x=1) == {"x": None}
    assert results(ArgumentMatcher(), {"x": 2}, x=1) == {"x": ArgumentFault.WRONG_VALUE}


def test_arguments_without_a_matcher_are_compared_exactly() -> None:
    found = results(ArgumentMatcher(ignore=True), {"a": "1", "c": 1}, a=1, b=2)
    assert found == {
        "a": ArgumentFault.WRONG_TYPE,
        "b": ArgumentFault.MISSING,
        "c": ArgumentFault.SUPERFLUOUS,
    }
